import { type ErrorCode, errorCatalogue } from '../../domain/common/error-catalogue.js';
import { envelope } from '../answer.js';
import type { Call } from '../call.js';

const REQUEST_ID = 'req_5f0c6f2e-6b0b-4a55-9b0e-2d8f6f5d7c11';

export const EXAMPLE_ID = 'nfse_0190a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b';

export const issueExamples = {
  simples: {
    summary: 'Nota sem cliente, na atividade principal',
    value: { amount_in_cents: 125_050, description: 'Desenvolvimento de software em {{mes_extenso}} de {{ano}}' },
  },
  cliente: {
    summary: 'Nota com cliente e reference',
    value: {
      amount_in_cents: 80_000,
      description: 'Consultoria',
      customer: { document: '98765432000198', name: 'Cliente Exemplo Ltda' },
      reference: 'pedido-1042',
    },
  },
  exportacao: {
    summary: 'Exportação de serviço',
    value: {
      amount_in_cents: 125_050,
      description: 'Software development',
      customer: {
        type: 'foreign',
        name: 'Acme Inc',
        tax_id: '12-3456789',
        address: {
          street: 'Main Street',
          number: '1',
          district: 'Center',
          city: 'Springfield',
          state: 'Oregon',
          postal_code: '97477',
          country: 'US',
        },
      },
      foreign_amount: { currency: 'USD', amount_in_cents: 25_000 },
    },
  },
};

export const cancelExamples = {
  vazio: { summary: 'Motivo other e justificativa padrão', value: {} },
  motivo: {
    summary: 'Com motivo e justificativa',
    value: { reason: 'service_not_provided', description: 'O cliente desistiu antes do início' },
  },
};

export const queuedExample = {
  object: 'nfse',
  id: EXAMPLE_ID,
  livemode: false,
  status: 'queued',
  amount_in_cents: 125_050,
  description: 'Desenvolvimento de software em novembro de 2026',
  competence: '2026-11-21',
  service_code: '010101',
  cnae: '6201501',
  failed_attempts: 0,
  created_at: '2026-11-21T12:00:00.000Z',
};

const linkExample = (baseUrl: string, extension: string): string =>
  `${baseUrl}/v1/nfse/${EXAMPLE_ID}/${extension}?t=<token>`;

/** `baseUrl`: without a trailing slash, as in the links of real answers. */
export const issuedExample = (baseUrl: string): object => ({
  ...queuedExample,
  status: 'issued',
  access_key: '33'.repeat(25),
  failed_attempts: 0,
  issued_at: '2026-11-21T12:00:04.000Z',
  cancelable_until: '2026-12-01T02:59:59.000Z',
  links: { pdf: linkExample(baseUrl, 'pdf'), xml: linkExample(baseUrl, 'xml') },
});

export const pendingCancellationExample = (baseUrl: string): object => {
  const { links, cancelable_until: _closed, ...issued } = issuedExample(baseUrl) as Record<string, unknown>;
  const cancellation = { status: 'pending', requested_at: '2026-11-21T12:30:00.000Z', reason: 'other' };
  return { ...issued, cancellation, links };
};

export const activityExample = {
  cnae: '6201501',
  service_code: '010101',
  description: '6201-5/01 Desenvolvimento de programas de computador sob encomenda',
  is_main: true,
  is_default: true,
};

/** The error envelope as a client with a test key sees it (docs/contract.md, "Errors"). */
export const errorExample = (code: ErrorCode): object => {
  const { status, message } = errorCatalogue[code];
  const isKeyKnown = status !== 503 && code !== 'route_not_found';
  const call: Call = { requestId: REQUEST_ID, ...(isKeyKnown ? { mode: 'test' } : {}) };
  return envelope(call, { code, ...(code === 'invalid_request' ? { causes: [{ param: '', message }] } : {}) });
};

import { otherBody, referenceInUse, suspectedDuplicate } from '../../app/accept/reserve.js';
import { type ErrorCode, errorCatalogue, type Refusal } from '../../domain/common/error-catalogue.js';
import { present } from '../../domain/common/present.js';
import { customerOf, type IssueRequest } from '../../domain/company/eligibility.js';
import { envelope } from '../answer.js';
import { issueRequestOf } from '../body/issue-request.js';
import type { JsonBody } from '../body/read-json-object.js';
import { badReference } from '../routes/find.js';
import { EXAMPLE_ADDRESS, EXAMPLE_ID } from './invoice-examples.js';

const REQUEST_ID = 'req_5f0c6f2e-6b0b-4a55-9b0e-2d8f6f5d7c11';

export const issueExamples = {
  simples: {
    summary: 'Nota sem cliente, na atividade principal',
    value: { amount_in_cents: 125_050, description: 'Desenvolvimento de software em {{mes_extenso}} de {{ano}}' },
  },
  cliente: {
    summary: 'Nota com cliente, reference e a linha do serviço',
    value: {
      amount_in_cents: 80_000,
      description: 'Desenvolvimento de software',
      cnae: '6201501',
      service_code: '010101',
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
        address: EXAMPLE_ADDRESS,
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

export const EXAMPLE_KEY = 'pedido-1042-1';

/** The body of each kind of request in code samples. */
export const requestExamples = { issue: issueExamples.cliente.value, cancel: cancelExamples.motivo.value };

export const activityExample = {
  object: 'activity',
  cnae: '6201501',
  service_code: '010101',
  description: '6201-5/01 Desenvolvimento de programas de computador sob encomenda',
  is_main: true,
  is_default: true,
};

/** A body with the classic mistake of `invalid_request`, and one in which the document alone is wrong. */
const mistaken = { amount: 125_050, description: 'Consultoria' };
const wrongDocument = { amount_in_cents: 125_050, description: 'Consultoria', customer: { document: '123' } };

const EXAMPLE_INVOICE = EXAMPLE_ID.replace('nfse_', '');

const RECEIVED_AT = '2026-11-21T12:00:00.000Z';

const bodyRefusalOf = (body: JsonBody): Refusal | undefined => {
  const checked = issueRequestOf(body, RECEIVED_AT);
  return 'refused' in checked ? checked.refused : undefined;
};

/** An export of which only the type is there, and a `br` customer with an address abroad: their messages name the fields. */
const customerRefusal = (customer: IssueRequest['customer']): Refusal | undefined => {
  const facts = { isCountry: () => true, isCurrency: () => true, currencies: [] };
  const checked = customerOf(present({ amountInCents: 125_050, description: 'Consultoria', customer }), facts, false);
  return 'refused' in checked ? checked.refused : undefined;
};

/** An export whose currency code has small letters. The list in the example is cut short, and shows that. */
const currencyRefusal = (): Refusal | undefined => {
  const { value } = issueExamples.exportacao;
  const body = { ...value, foreign_amount: { ...value.foreign_amount, currency: 'usd' } };
  const checked = issueRequestOf(body, RECEIVED_AT);
  if ('refused' in checked) return checked.refused;
  const currencies = ['AUD', 'CAD', 'EUR', 'GBP', 'USD', '…'];
  const refused = customerOf(checked.request, { isCountry: () => true, isCurrency: () => false, currencies }, false);
  return 'refused' in refused ? refused.refused : undefined;
};

/** Refusals whose message depends on the request, as the handlers make them. */
const preciseRefusal = (code: ErrorCode): Refusal | undefined => {
  switch (code) {
    case 'invalid_request':
      return bodyRefusalOf(mistaken);
    case 'nfse.customer_document_invalid':
      return bodyRefusalOf(wrongDocument);
    case 'nfse.reference_in_use':
      return referenceInUse(EXAMPLE_INVOICE, 'test');
    case 'duplicate_suspected':
      return suspectedDuplicate(EXAMPLE_INVOICE);
    case 'idempotency_key_reuse':
      return otherBody(EXAMPLE_INVOICE);
    case 'nfse.currency_unsupported':
      return currencyRefusal();
    case 'nfse.export_incomplete':
      return customerRefusal({ type: 'foreign' });
    case 'nfse.customer_type_conflict':
      return customerRefusal({ name: 'Acme Inc', address: { country: 'US' } });
    default:
      return undefined;
  }
};

/** The error envelope as a client with a test key sees it (docs/contract.md, "Errors"). `hasBody`: the request has one. */
export const errorExample = (code: ErrorCode, hasBody = true): object => {
  const { status } = errorCatalogue[code];
  const isKeyKnown = status !== 503 && code !== 'route_not_found';
  const call = { requestId: REQUEST_ID, ...(isKeyKnown ? { mode: 'test' as const } : {}) };
  const refusal = code === 'invalid_request' && !hasBody ? badReference : preciseRefusal(code);
  return envelope(call, refusal ?? { code });
};

import * as v from 'valibot';
import { errorCatalogue } from '../../domain/common/error-catalogue.js';
import { CUSTOMER_DOCUMENT } from '../body/issue-schema.js';

/** The bodies that the API answers with, field by field in the order of docs/contract.md; absent fields are never null. */

const instant = (description: string) =>
  v.pipe(
    v.string(),
    v.regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/),
    v.description(description),
    v.metadata({ format: 'date-time' }),
  );

const cents = (description: string) => v.pipe(v.number(), v.description(description), v.metadata({ integer: true }));
const digits = (pattern: RegExp, description: string) =>
  v.pipe(v.string(), v.regex(pattern), v.description(description));
const text = (description: string) => v.pipe(v.string(), v.description(description));

const address = v.strictObject({
  street: v.optional(v.string()),
  number: v.optional(v.string()),
  district: v.optional(v.string()),
  city: v.optional(v.string()),
  state: v.optional(v.string()),
  postal_code: v.optional(v.string()),
  country: v.optional(digits(/^[A-Z]{2}$/, 'ISO 3166-1 alpha-2.')),
});

const customer = v.strictObject({
  document: v.optional(digits(CUSTOMER_DOCUMENT, 'CPF ou CNPJ, só dígitos.')),
  name: v.optional(text('Nome como registrado; o de um CNPJ vem do cadastro da Receita.')),
  type: v.optional(v.picklist(['br', 'foreign'])),
  tax_id: v.optional(text('Identificação fiscal no exterior (NIF).')),
  tax_id_absence_reason: v.optional(v.picklist(['exempt', 'not_required'])),
  address: v.optional(address),
});

const foreignAmount = v.strictObject({
  currency: digits(/^[A-Z]{3}$/, 'Código ISO de três letras.'),
  amount_in_cents: cents('Centavos da moeda estrangeira.'),
});

const cancellation = v.strictObject({
  status: v.picklist(['pending', 'succeeded', 'failed']),
  requested_at: instant('Quando o cancelamento foi pedido.'),
  reason: v.optional(v.picklist(['issuance_error', 'service_not_provided', 'other'])),
  error: v.optional(v.strictObject({ code: v.literal('nfse.cancel_failed'), message: v.string() })),
});

const invoiceError = v.strictObject({
  code: v.picklist(['issue_failed', 'nfse.not_processed', 'nfse.issue_interrupted']),
  message: text('Texto em português para o usuário final.'),
});

const link = (what: string) => text(`URL absoluta do ${what}, com token válido por 15 minutos e só para esta nota.`);

/** Docs: docs/contract.md, "Invoice". */
export const invoiceResponse = v.strictObject({
  object: v.literal('nfse'),
  id: digits(/^nfse_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'nfse_<uuid>.'),
  livemode: v.pipe(v.boolean(), v.description('true em produção, false em teste; decidido pela chave.')),
  status: v.pipe(
    v.picklist(['queued', 'processing', 'issued', 'failed', 'indeterminate', 'canceled']),
    v.description('Um status desconhecido deve ser tratado como indeterminate: nunca emita de novo.'),
  ),
  amount_in_cents: cents('Total em centavos de real.'),
  description: v.optional(text('Discriminação do serviço, como registrada.')),
  competence: v.optional(digits(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, 'Data do recebimento, no horário de Brasília.')),
  customer: v.optional(customer),
  foreign_amount: v.optional(foreignAmount),
  reference: v.optional(text('Identificador do chamador, sem mudança.')),
  service_code: v.optional(digits(/^[0-9]{6}$/, 'Código de tributação nacional da linha usada.')),
  cnae: v.optional(digits(/^[0-9]{7}$/, 'CNAE da linha usada.')),
  access_key: v.optional(
    digits(
      /^[0-9]{9}[0-9A-Z]{14}[0-9]{27}$/,
      'Chave de acesso, 50 caracteres: dígitos, e as letras de um CNPJ alfanumérico. Existe só depois da autorização.',
    ),
  ),
  failed_attempts: v.pipe(
    v.number(),
    v.description('Tentativas que falharam. 0 não quer dizer que nada foi enviado.'),
    v.metadata({ integer: true, minimum: 0 }),
  ),
  created_at: v.optional(instant('Quando a API aceitou a nota.')),
  issued_at: v.optional(instant('Quando foi autorizada.')),
  cancelable_until: v.optional(instant('Presente só enquanto um cancelamento seria aceito.')),
  cancellation: v.optional(cancellation),
  failed_at: v.optional(instant('Quando a falha foi constatada.')),
  error: v.optional(invoiceError),
  links: v.optional(
    v.pipe(
      v.strictObject({ pdf: link('PDF'), xml: link('XML autorizado') }),
      v.description('Ausente para uma chave sem o escopo nfse:read.'),
    ),
  ),
});

/** The invoice as the API shows it. */
export type InvoiceBody = v.InferOutput<typeof invoiceResponse>;

/** Docs: docs/contract.md, "List"; this list carries `livemode` too (LIST-object). */
export const invoiceListResponse = v.strictObject({
  object: v.literal('list'),
  livemode: v.boolean(),
  has_more: v.literal(false),
  data: v.pipe(v.array(invoiceResponse), v.maxLength(1)),
});

const activity = v.strictObject({
  object: v.literal('activity'),
  cnae: digits(/^[0-9]{7}$/, 'Como o campo cnae da emissão o aceita.'),
  service_code: digits(/^[0-9]{6}$/, 'Necessário só quando is_default é false.'),
  description: text('Texto para pessoas; não é campo de entrada.'),
  is_main: v.pipe(v.boolean(), v.description('Se o CNAE é a atividade principal da empresa.')),
  is_default: v.pipe(v.boolean(), v.description('Se a linha é a padrão do seu CNAE.')),
});

/** Docs: docs/contract.md, "Activity". */
export const activityListResponse = v.strictObject({
  object: v.literal('list'),
  has_more: v.literal(false),
  data: v.array(activity),
});

const types = [...new Set(Object.values(errorCatalogue).map(({ type }) => type))];

/** Docs: docs/contract.md, "Errors". */
export const errorResponse = v.strictObject({
  error: v.strictObject({
    type: v.picklist(types),
    code: text('Decida por este campo. O conjunto é aberto: um código novo segue o caminho do seu type.'),
    message: v.pipe(v.string(), v.minLength(1), v.description('Texto em português; não o analise.')),
    param: v.optional(text('Campo em falta ou errado, por exemplo customer.document.')),
    retryable: v.pipe(v.boolean(), v.description('Se repetir o mesmo pedido pode dar outro resultado.')),
    livemode: v.optional(v.pipe(v.boolean(), v.description('Ausente enquanto nenhuma chave era conhecida.'))),
    provider_code: v.optional(text('Código do autorizador, só para depuração.')),
    request_id: text('Igual ao cabeçalho Request-Id.'),
    errors: v.optional(
      v.array(
        v.strictObject({
          code: v.literal('invalid_request'),
          message: v.string(),
        }),
      ),
    ),
  }),
});

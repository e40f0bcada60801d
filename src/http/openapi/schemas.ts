import * as v from 'valibot';
import { type ErrorCode, errorCatalogue } from '../../domain/common/error-catalogue.js';
import { CANCEL_REASONS } from '../body/cancel-schema.js';
import { ABSENCE_REASONS, CUSTOMER_DOCUMENT, CUSTOMER_TYPES } from '../body/issue-schema.js';

/* The bodies that the API answers with, field by field in the order of docs/contract.md; absent fields are never null. */

const text = (description: string) => v.pipe(v.string(), v.description(description));

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
const flag = (description: string) => v.pipe(v.boolean(), v.description(description));

/** One of these values, each with its meaning. `open`: values may be added, and clients must expect others. */
const oneOf = <const M extends Readonly<Record<string, string>>>(
  description: string,
  meanings: M,
  { open = false }: { open?: boolean } = {},
) =>
  v.pipe(
    v.picklist(Object.keys(meanings) as readonly (keyof M & string)[]),
    v.description(description),
    v.metadata({ meanings, open }),
  );

/** The name of a kind of object. */
const kind = <const K extends string>(name: K) => v.pipe(v.literal(name), v.description(`Sempre ${name}.`));

/** Docs: docs/contract.md, "Customer in answers". */
export const addressResponse = v.object({
  street: v.optional(text('Logradouro no exterior.')),
  number: v.optional(text('Número.')),
  district: v.optional(text('Bairro ou distrito.')),
  city: v.optional(text('Cidade.')),
  state: v.optional(text('Estado, província ou região, em texto livre.')),
  postal_code: v.optional(text('Código postal, em formato livre.')),
  country: v.optional(digits(/^[A-Z]{2}$/, 'País, código ISO 3166-1 alpha-2.')),
});

export const customerResponse = v.object({
  document: v.optional(digits(CUSTOMER_DOCUMENT, 'CPF ou CNPJ, só dígitos. Ausente no cliente do exterior.')),
  name: v.optional(text('Nome como registrado; o de um CNPJ vem do cadastro da Receita.')),
  type: v.optional(oneOf('Tipo do cliente.', CUSTOMER_TYPES)),
  tax_id: v.optional(text('Identificação fiscal no exterior (NIF). Só no cliente do exterior.')),
  tax_id_absence_reason: v.optional(oneOf('Motivo de não haver tax_id.', ABSENCE_REASONS)),
  address: v.optional(addressResponse),
});

/** Docs: docs/contract.md, "Foreign amount in answers". */
export const foreignAmountResponse = v.object({
  currency: digits(/^[A-Z]{3}$/, 'Moeda, código ISO 4217 de três letras.'),
  amount_in_cents: cents('Valor em centavos da moeda estrangeira.'),
});

export const cancellationErrorResponse = v.object({
  code: v.pipe(v.literal('nfse.cancel_failed'), v.description('O único código deste objeto.')),
  message: text('Texto em português. Só no modo de teste traz o motivo do sistema nacional; não o analise.'),
});

/** Docs: docs/contract.md, "Cancellation". */
export const cancellationResponse = v.object({
  status: oneOf('Estado do pedido de cancelamento, separado do status da nota.', {
    pending: 'Pedido, ainda sem resultado. A nota continua issued: consulte-a de novo.',
    succeeded:
      'Confirmado. O status da nota é canceled. Se ela foi substituída fora daqui, a nota que a substituiu vale, e o carimbo do PDF diz SUBSTITUÍDA.',
    failed:
      'Não confirmado. A nota continua issued. Não emita outra: em produção fale com o suporte, no modo de teste peça de novo.',
  }),
  requested_at: instant('Quando o cancelamento foi pedido.'),
  reason: v.optional(oneOf('Motivo do pedido; other quando nenhum foi enviado.', CANCEL_REASONS)),
  error: v.optional(cancellationErrorResponse),
});

/** Docs: docs/contract.md, "Error of an invoice". */
export const invoiceErrorResponse = v.object({
  code: oneOf(
    'Causa, numa lista própria de códigos: não é a dos erros da API. Com um código desconhecido, decida pelo status da nota.',
    {
      issue_failed: 'Nada foi emitido. Corrija a causa e emita de novo.',
      'nfse.not_processed':
        'Nenhuma tentativa foi feita: a empresa não está habilitada, ou houve uma interrupção. Nada foi emitido: fale com o suporte.',
      'nfse.issue_interrupted': 'O resultado não foi confirmado e a nota pode existir. Nunca emita de novo.',
    },
    { open: true },
  ),
  message: text('Texto em português para o usuário final; não o analise.'),
});

const link = (what: string) =>
  v.pipe(
    v.string(),
    v.description(`URL absoluta do ${what}, com um token válido por 15 minutos e só para esta nota. Abre sem chave.`),
    v.metadata({ format: 'uri' }),
  );

/** Docs: docs/contract.md, "Links". */
export const linksResponse = v.object({ pdf: link('PDF'), xml: link('XML autorizado') });

/** Docs: docs/contract.md, "Invoice". */
export const invoiceResponse = v.object({
  object: kind('nfse'),
  id: digits(/^nfse_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'Id da nota: nfse_{uuid}.'),
  livemode: flag('true em produção, false em teste; decidido pela chave.'),
  status: oneOf(
    'Estado da nota. Trate um valor desconhecido como indeterminate: nunca emita de novo.',
    {
      queued: 'Aceita, ainda não enviada. Consulte de novo.',
      processing: 'Em envio. Consulte de novo.',
      issued: 'Autorizada. access_key e links existem.',
      failed: 'Recusada. Nenhum documento fiscal existe, e é seguro emitir de novo.',
      indeterminate: 'Sem resultado confirmado. A nota pode existir: nunca emita de novo, fale com o suporte.',
      canceled:
        'Cancelada, aqui ou fora daqui; ou substituída fora daqui: a nota que a substituiu vale. Se você não pediu o cancelamento, ou em dúvida, veja o carimbo do PDF ou fale com o suporte antes de emitir outra.',
    },
    { open: true },
  ),
  amount_in_cents: cents('Valor bruto em centavos de real, como enviado.'),
  description: v.optional(text('Discriminação do serviço, como registrada, com os marcadores já trocados.')),
  competence: v.optional(
    digits(
      /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/,
      'Data do recebimento, no horário de Brasília: o mês da nota é o dela, não o de issued_at.',
    ),
  ),
  customer: v.optional(customerResponse),
  foreign_amount: v.optional(foreignAmountResponse),
  reference: v.optional(text('Número da venda no seu sistema, como enviado. Ausente quando nenhum foi enviado.')),
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
    v.description('Tentativas que falharam. 0 não quer dizer que nada foi enviado: decida pelo status.'),
    v.metadata({ integer: true, minimum: 0 }),
  ),
  created_at: v.optional(instant('Quando a API aceitou a nota.')),
  issued_at: v.optional(instant('Quando foi autorizada. Em issued e canceled.')),
  cancelable_until: v.optional(instant('Presente só enquanto um cancelamento seria aceito.')),
  cancellation: v.optional(cancellationResponse),
  failed_at: v.optional(instant('Quando a falha foi constatada. Só em failed e indeterminate.')),
  error: v.optional(invoiceErrorResponse),
  links: v.optional(linksResponse),
});

/** The invoice as the API shows it. */
export type InvoiceBody = v.InferOutput<typeof invoiceResponse>;

const hasMore = v.pipe(
  v.boolean(),
  v.description('Sempre false: ainda não há páginas. Existe para que um cliente não mude quando elas vierem.'),
);

/** Docs: docs/contract.md, "List"; this list carries `livemode` too (LIST-object). */
export const invoiceListResponse = v.object({
  object: kind('list'),
  livemode: flag('true em produção, false em teste; decidido pela chave.'),
  has_more: hasMore,
  data: v.pipe(v.array(invoiceResponse), v.maxLength(1), v.description('Nenhuma ou uma nota.')),
});

/** Docs: docs/contract.md, "Activity". */
export const activityResponse = v.object({
  object: kind('activity'),
  cnae: digits(/^[0-9]{7}$/, 'CNAE, como o campo cnae da emissão o aceita.'),
  service_code: digits(/^[0-9]{6}$/, 'Código de tributação nacional. Necessário só quando is_default é false.'),
  description: text('Texto para pessoas; não é campo de entrada.'),
  is_main: flag('Se o CNAE é a atividade principal da empresa.'),
  is_default: flag('Se a linha é a padrão do seu CNAE. Outra linha precisa de cnae e service_code juntos.'),
});

export const activityListResponse = v.object({
  object: kind('list'),
  has_more: hasMore,
  data: v.pipe(v.array(activityResponse), v.description('As linhas que podem ser emitidas.')),
});

const errorTypes = {
  invalid_request:
    'A requisição foi recusada. Com retryable false, a resposta é a mesma enquanto a causa existir; com retryable true, repita a mesma requisição depois.',
  authentication_error: 'A chave falta ou não é válida (401).',
  permission_error: 'A chave não tem este direito (403).',
  rate_limit_error: 'Requisições demais por minuto (429). Espere Retry-After.',
  api_error: 'Falha do serviço (500, 503). Repita com a mesma Idempotency-Key.',
} as const;

/** The message of the catalogue says of each code what it means. */
const codeMeanings = Object.fromEntries(
  (Object.keys(errorCatalogue) as readonly ErrorCode[]).map((code) => [code, errorCatalogue[code].message]),
);

export const errorCauseResponse = v.object({
  code: v.pipe(v.literal('invalid_request'), v.description('Sempre invalid_request.')),
  message: text('Uma causa, com o nome do campo.'),
});

export const errorDetailsResponse = v.object({
  type: oneOf('Família do erro, um conjunto fechado.', errorTypes),
  code: oneOf('Decida por este campo. Um código desconhecido segue o caminho do seu type.', codeMeanings, {
    open: true,
  }),
  message: v.pipe(v.string(), v.minLength(1), v.description('Texto em português; não o analise.')),
  param: v.optional(text('Campo em falta ou errado, por exemplo customer.document.')),
  retryable: flag('Se repetir a mesma requisição pode dar outro resultado.'),
  livemode: v.optional(flag('Modo da operação recusada. Ausente enquanto nenhuma chave era conhecida.')),
  provider_code: v.optional(text('Código do sistema nacional, só para depuração.')),
  request_id: text('Igual ao cabeçalho Request-Id. Informe-o ao suporte.'),
  errors: v.optional(
    v.pipe(v.array(errorCauseResponse), v.description('Todas as causas. Só nas recusas de um corpo.')),
  ),
});

/** Docs: docs/contract.md, "Errors". */
export const errorResponse = v.object({ error: errorDetailsResponse });

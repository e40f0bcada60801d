import { type ErrorCode, errorCatalogue } from '../../domain/common/error-catalogue.js';

export type Operation = {
  method: 'get' | 'post';
  /** In OpenAPI's notation. */
  path: string;
  operationId: string;
  summary: string;
  description: string;
  body?: 'issue' | 'cancel';
  success: 'accepted' | 'pending' | 'invoice' | 'invoices' | 'activities' | 'pdf' | 'xml';
  /** Codes that this route may refuse with, besides `commonCodes`. */
  codes: readonly ErrorCode[];
};

/** A download also opens with the token of a link, and then shows no quota (PDF-2). */
export const opensWithToken = ({ success }: Operation): boolean => success === 'pdf' || success === 'xml';

/** Codes that every route may answer. */
export const commonCodes: readonly ErrorCode[] = [
  'unauthorized',
  'feature_not_enabled',
  'insufficient_scope',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

const bodyCodes: readonly ErrorCode[] = [
  'invalid_request',
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
];

const cancelCodes: readonly ErrorCode[] = [
  ...bodyCodes,
  'invalid_id',
  'not_found',
  'nfse.not_cancelable',
  'nfse.already_canceled',
  'nfse.cancel_in_progress',
  'nfse.cancel_window_closed',
];

/** A 422 code that cancel does not name belongs to the issue route. */
const eligibilityCodes = (Object.keys(errorCatalogue) as ErrorCode[]).filter(
  (code) => errorCatalogue[code].status === 422 && !cancelCodes.includes(code),
);

const download = (extension: 'pdf' | 'xml', summary: string, description: string): Operation => ({
  method: 'get',
  path: `/v1/nfse/{id}/${extension}`,
  operationId: `download_${extension}`,
  summary,
  description: `${description} Abre com a chave (escopo nfse:read) ou com o token t de links, sem redirecionar.`,
  success: extension,
  codes: ['invalid_id', 'not_found', 'nfse.not_issued'],
});

/** The seven routes of docs/contract.md. */
export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/nfse',
    operationId: 'issue_nfse',
    summary: 'Emitir',
    description:
      'Aceita a nota para emissão: 202 quer dizer aceita, não autorizada. Consulte a nota até o status final. ' +
      'Com Idempotency-Key, a mesma requisição repetida em 24 horas devolve a mesma nota.',
    body: 'issue',
    success: 'accepted',
    codes: [
      ...bodyCodes,
      'nfse.customer_document_invalid',
      'nfse.reference_in_use',
      'duplicate_suspected',
      'idempotency_key_in_use',
      'idempotency_key_reuse',
      ...eligibilityCodes,
    ],
  },
  {
    method: 'get',
    path: '/v1/nfse',
    operationId: 'find_nfse',
    summary: 'Buscar por reference',
    description: 'Lista com no máximo uma nota; sem correspondência, data vem vazia.',
    success: 'invoices',
    codes: ['invalid_request'],
  },
  {
    method: 'get',
    path: '/v1/nfse/{id}',
    operationId: 'get_nfse',
    summary: 'Consultar',
    description: 'A nota como está agora. De outra empresa, de outro modo ou inexistente: o mesmo 404.',
    success: 'invoice',
    codes: ['invalid_id', 'not_found'],
  },
  {
    method: 'post',
    path: '/v1/nfse/{id}/cancel',
    operationId: 'cancel_nfse',
    summary: 'Cancelar',
    description:
      'Pede o cancelamento de uma nota emitida no mês corrente (horário de Brasília). Consulte a nota até ' +
      'cancellation.status ser succeeded ou failed.',
    body: 'cancel',
    success: 'pending',
    codes: cancelCodes,
  },
  download('pdf', 'Baixar o PDF', 'O DANFSe da nota autorizada.'),
  download('xml', 'Baixar o XML autorizado', 'O documento fiscal, byte a byte como foi autorizado.'),
  {
    method: 'get',
    path: '/v1/activities',
    operationId: 'list_activities',
    summary: 'Listar atividades',
    description:
      'As linhas que podem ser emitidas. Sem nenhuma liberada, data vem vazia. A lista fala só das linhas: uma empresa que ainda não pode emitir (company.*, nfse.municipality_not_covered, nfse.municipal_registration_missing) também as vê.',
    success: 'activities',
    codes: [],
  },
];

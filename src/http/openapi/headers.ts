import { type Operation, opensWithToken } from './operations.js';

const integer = (description: string, required: boolean, example: number) => ({
  description,
  required,
  schema: { type: 'integer', minimum: 0 },
  example,
});

const LIMIT = 'Requisições por minuto desta chave neste grupo (leitura ou escrita).';
const REMAINING = 'Requisições que restam na janela.';
const RESET = 'Segundos até a cota inteira voltar.';
const BY_KEY = 'Ausente num acesso só com o token de um link, e numa falha antes de a chave ser conhecida.';

/** A header with one value. */
const always = (description: string, value: string) => ({
  description,
  required: true,
  schema: { type: 'string', const: value },
  example: value,
});

const NOTHING_BUT_PATH = '^/v1/nfse/nfse_[0-9a-f-]{36}$';

/** Every header of an answer, by its name in the document's components. */
export const headerComponents = {
  RequestId: {
    description: 'Identificador da requisição, igual a error.request_id. Informe-o ao suporte.',
    required: true,
    schema: { type: 'string' },
    example: 'req_5f0c6f2e-6b0b-4a55-9b0e-2d8f6f5d7c11',
  },
  RateLimitLimit: integer(LIMIT, true, 300),
  RateLimitRemaining: integer(REMAINING, true, 299),
  RateLimitReset: integer(RESET, true, 60),
  RateLimitLimitOfKey: integer(`${LIMIT} ${BY_KEY}`, false, 300),
  RateLimitRemainingOfKey: integer(`${REMAINING} ${BY_KEY}`, false, 299),
  RateLimitResetOfKey: integer(`${RESET} ${BY_KEY}`, false, 60),
  PollAfter: integer('Segundos entre duas consultas.', true, 3),
  RetryAfter: integer('Segundos até repetir a mesma requisição.', true, 5),
  RetryAfterIfRetryable: integer('Segundos até repetir, nos casos em que error.retryable é true.', false, 3),
  Location: {
    description: 'Caminho da nota.',
    required: true,
    schema: { type: 'string', pattern: NOTHING_BUT_PATH },
    example: '/v1/nfse/nfse_0190a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b',
  },
  ErrorPage: {
    description: 'Página do código do erro, com rel="help". Ausente onde o serviço não serve /docs.',
    required: false,
    schema: { type: 'string', pattern: '^</docs/errors/[a-z_.]+>; rel="help"$' },
    example: '</docs/errors/not_found>; rel="help"',
  },
  ContentDisposition: {
    description: 'attachment, com um nome derivado do id.',
    required: true,
    schema: { type: 'string', pattern: '^attachment; filename="nfse_[0-9a-f-]{36}\\.(pdf|xml)"$' },
    example: 'attachment; filename="nfse_0190a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b.pdf"',
  },
  CacheControl: always('Nenhum cache guarda a resposta.', 'no-store'),
  CacheControlOfFile: always('Nenhum cache guarda o arquivo.', 'private, no-store'),
  ContentTypeOptions: always('O conteúdo é do tipo que Content-Type diz.', 'nosniff'),
  AcceptRanges: always('O arquivo só vem inteiro: Range não vale.', 'none'),
};

type HeaderName = keyof typeof headerComponents;

const ref = (header: HeaderName): { $ref: string } => ({ $ref: `#/components/headers/${header}` });

const retryAfter: Readonly<Record<number, HeaderName>> = {
  202: 'PollAfter',
  409: 'RetryAfterIfRetryable',
  429: 'RetryAfter',
  503: 'RetryAfter',
};

/** The headers of an answer to what the server cannot read as a request: no key is known then. */
export const protocolHeaders = {
  'Request-Id': ref('RequestId'),
  'Cache-Control': ref('CacheControl'),
  'X-Content-Type-Options': ref('ContentTypeOptions'),
  Link: ref('ErrorPage'),
};

/** The headers of a status on this route (HDR-Request-Id, HDR-401-403, HDR-RateLimit-Reset, HDR-Retry-After, HDR-Link, PDF-1, PDF-2). */
export const responseHeaders = (status: number, operation: Operation): object => {
  const headers: Record<string, object> = { 'Request-Id': ref('RequestId') };
  const isDownload = opensWithToken(operation);
  if (status !== 401 && status !== 403 && status !== 503) {
    const maybe = isDownload || status === 500;
    headers['RateLimit-Limit'] = ref(maybe ? 'RateLimitLimitOfKey' : 'RateLimitLimit');
    headers['RateLimit-Remaining'] = ref(maybe ? 'RateLimitRemainingOfKey' : 'RateLimitRemaining');
    headers['RateLimit-Reset'] = ref(maybe ? 'RateLimitResetOfKey' : 'RateLimitReset');
  }
  const retry = retryAfter[status];
  if (retry !== undefined) headers['Retry-After'] = ref(retry);
  if (status === 202) headers.Location = ref('Location');
  const isFile = status === 200 && isDownload;
  if (isFile) headers['Content-Disposition'] = ref('ContentDisposition');
  if (isFile) headers['Accept-Ranges'] = ref('AcceptRanges');
  if (status === 401 || status === 403) return headers;
  headers['Cache-Control'] = ref(isFile ? 'CacheControlOfFile' : 'CacheControl');
  headers['X-Content-Type-Options'] = ref('ContentTypeOptions');
  if (status >= 400) headers.Link = ref('ErrorPage');
  return headers;
};

import type { Operation } from './operations.js';

const integer = (description: string, required: boolean) => ({
  description,
  required,
  schema: { type: 'integer', minimum: 0 },
});

const requestId = {
  description: 'Identificador do pedido, igual a error.request_id.',
  required: true,
  schema: { type: 'string' },
};

const rateHeaders = (required: boolean) => ({
  'RateLimit-Limit': integer('Pedidos por minuto desta chave neste grupo (leitura ou escrita).', required),
  'RateLimit-Remaining': integer('Pedidos que restam na janela.', required),
  'RateLimit-Reset': integer('Segundos até a cota inteira voltar.', required),
});

const location = {
  description: 'Caminho da nota.',
  required: true,
  schema: { type: 'string', pattern: '^/v1/nfse/nfse_[0-9a-f-]{36}$' },
};

const RETRY: Readonly<Record<number, { text: string; required: boolean }>> = {
  202: { text: 'Segundos entre duas consultas.', required: true },
  409: { text: 'Segundos até repetir, nos casos em que error.retryable é true.', required: false },
  429: { text: 'Segundos até a primeira vaga.', required: true },
  503: { text: 'Segundos até repetir.', required: true },
};

/** The headers that a status carries on this route (spec "Common response headers", readings 19, 20 and 55). */
export const responseHeaders = (status: number, { opensWithToken }: Operation): object => {
  const retry = RETRY[status];
  return {
    'Request-Id': requestId,
    ...(hasNoQuota(status) ? {} : rateHeaders(!opensWithToken && status !== 500)),
    ...(retry === undefined ? {} : { 'Retry-After': integer(retry.text, retry.required) }),
    ...(status === 202 ? { Location: location } : {}),
  };
};

const hasNoQuota = (status: number): boolean => status === 401 || status === 403 || status === 503;

export const requestIdHeader = { 'Request-Id': requestId };

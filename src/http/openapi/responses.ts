import { activityExample } from './examples.js';
import { invoiceExamples } from './invoice-examples.js';
import { type Operation, opensWithToken } from './operations.js';

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

/** The API answers without it where the service serves no pages (HDR-Link). */
const helpLink = {
  description: 'Página do código do erro, com rel="help". Ausente onde o serviço não serve /docs.',
  required: false,
  schema: { type: 'string', pattern: '^</docs/errors/[a-z_.]+>; rel="help"$' },
};

const RETRY: Readonly<Record<number, { text: string; required: boolean }>> = {
  202: { text: 'Segundos entre duas consultas.', required: true },
  409: { text: 'Segundos até repetir, nos casos em que error.retryable é true.', required: false },
  429: { text: 'Segundos até a primeira vaga.', required: true },
  503: { text: 'Segundos até repetir.', required: true },
};

/** The headers of a status on this route (HDR-Request-Id, HDR-401-403, HDR-RateLimit-Reset, HDR-Retry-After, HDR-Link, PDF-2). */
export const responseHeaders = (status: number, operation: Operation): object => {
  const retry = RETRY[status];
  return {
    'Request-Id': requestId,
    ...(hasNoQuota(status) ? {} : rateHeaders(!opensWithToken(operation) && status !== 500)),
    ...(retry === undefined ? {} : { 'Retry-After': integer(retry.text, retry.required) }),
    ...(status === 202 ? { Location: location } : {}),
    ...(status >= 400 && status !== 401 && status !== 403 ? { Link: helpLink } : {}),
  };
};

const hasNoQuota = (status: number): boolean => status === 401 || status === 403 || status === 503;

/** Of the 404 of unknown routes. */
export const routeNotFoundHeaders = { 'Request-Id': requestId, Link: helpLink };

/** A reference to a schema in the document's components. */
export const ref = (schema: string): { $ref: string } => ({ $ref: `#/components/schemas/${schema}` });

/** The success answer of a route, by its status. */
export const successResponse = (operation: Operation, baseUrl: string): object => {
  const { status, description, content, extraHeaders = {} } = successes(baseUrl)[operation.success];
  return { [status]: { description, headers: { ...responseHeaders(status, operation), ...extraHeaders }, content } };
};

type Success = { status: 200 | 202; description: string; content: object; extraHeaders?: object };

const successes = (baseUrl: string): Readonly<Record<Operation['success'], Success>> => {
  const examples = invoiceExamples(baseUrl);
  const { queued, issued, cancellation_pending: pending } = examples;
  const invoices = { object: 'list', livemode: false, has_more: false, data: [issued.value] };
  const activities = { object: 'list', has_more: false, data: [activityExample] };
  return {
    accepted: { status: 202, description: 'Aceita para emissão.', content: json('Invoice', { queued }) },
    pending: {
      status: 202,
      description: 'Cancelamento pedido; a nota continua issued até a confirmação.',
      content: json('Invoice', { pending }),
    },
    invoice: { status: 200, description: 'A nota.', content: json('Invoice', examples) },
    invoices: {
      status: 200,
      description: 'Nenhuma ou uma nota.',
      content: json('InvoiceList', {
        found: { summary: 'Uma nota', value: invoices },
        none: { summary: 'Nenhuma', value: { ...invoices, data: [] } },
      }),
    },
    activities: {
      status: 200,
      description: 'As linhas que podem ser emitidas.',
      content: json('ActivityList', { activities: { summary: 'Uma linha', value: activities } }),
    },
    pdf: file('pdf'),
    xml: file('xml'),
  };
};

type Examples = Readonly<Record<string, { summary: string; value: unknown }>>;

const json = (schema: string, examples: Examples): object => ({
  'application/json': { schema: ref(schema), examples },
});

const file = (extension: 'pdf' | 'xml'): Success => ({
  status: 200,
  description: 'Os bytes do arquivo.',
  content: { [`application/${extension}`]: { schema: {} } },
  extraHeaders: { 'Content-Disposition': contentDisposition },
});

const contentDisposition = {
  description: 'attachment, com um nome derivado do id.',
  required: true,
  schema: { type: 'string', pattern: '^attachment; filename="nfse_[0-9a-f-]{36}\\.(pdf|xml)"$' },
};

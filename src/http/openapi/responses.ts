import { type ErrorCode, errorCatalogue } from '../../domain/common/error-catalogue.js';
import { pageOf } from '../answer.js';
import { ref } from './components.js';
import { activityExample, errorExample } from './examples.js';
import { protocolHeaders, responseHeaders } from './headers.js';
import { invoiceExamples } from './invoice-examples.js';
import { commonCodes, type Operation, opensWithToken } from './operations.js';

/** The answers of a route by status. */
export const responsesOf = (operation: Operation, baseUrl: string): object => ({
  ...successResponse(operation, baseUrl),
  ...errorResponses(operation),
  default: protocolResponse,
});

/** What the server answers before a route sees the request (HTTP-ORDER): the codes are those of every route, the statuses HTTP's. */
const protocolResponse = {
  description:
    'Uma requisição que o servidor não pôde ler: 400, 408 (não chegou inteira no prazo), 417 (Expect desconhecido) ou 431 (endereço e cabeçalhos acima de 16 KiB), com o código [`invalid_request`](/docs/errors/invalid_request).',
  headers: protocolHeaders,
  content: { 'application/json': { schema: ref('ApiError') } },
};

const successResponse = (operation: Operation, baseUrl: string): object => {
  const { status, description, content } = successes(baseUrl)[operation.success];
  return { [status]: { description, headers: responseHeaders(status, operation), content } };
};

const errorResponses = (operation: Operation): object => {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...operation.codes, ...commonCodes]) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `[\`${code}\`](${pageOf(code)})`).join(', ') + remarkOn(status, operation),
        headers: responseHeaders(status, operation),
        content: errorContent(codes, operation),
      },
    ]),
  );
};

/** A full queue is not a fault of the service. The client can keep to the number of PDFs, but not to the time that they take. */
const remarkOn = (status: number, operation: Operation): string => {
  if (status !== 503 || !opensWithToken(operation)) return '';
  const bounds =
    operation.success === 'pdf'
      ? ': peça no máximo 32 PDFs de cada vez. Na fila, um PDF espera no máximo 10 segundos'
      : ': peça menos de cada vez';
  return `. Também quando há downloads demais ao mesmo tempo${bounds}. Essa recusa não gasta cota.`;
};

/** Each code of this route and status has an example of its name; clients must expect new codes (VER-2). */
const errorContent = (codes: readonly ErrorCode[], { body }: Pick<Operation, 'body'>): object =>
  json(
    'ApiError',
    Object.fromEntries(codes.map((code) => [code, { summary: code, value: errorExample(code, body !== undefined) }])),
  );

type Success = { status: 200 | 202; description: string; content: object };

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

const json = (schema: Parameters<typeof ref>[0], examples: Examples): object => ({
  'application/json': { schema: ref(schema), examples },
});

const file = (extension: 'pdf' | 'xml'): Success => {
  const contentType = `application/${extension}`;
  const schema = { type: 'string', format: 'binary', contentMediaType: contentType };
  return { status: 200, description: 'Os bytes do arquivo.', content: { [contentType]: { schema } } };
};

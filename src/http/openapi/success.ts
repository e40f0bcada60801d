import { unreachable } from '../../domain/shared/unreachable.js';
import { activityExample, issuedExample, pendingCancellationExample, queuedExample } from './examples.js';
import { responseHeaders } from './headers.js';
import type { Operation } from './operations.js';

/** A reference to a schema of the document's components. */
export const ref = (schema: string): { $ref: string } => ({ $ref: `#/components/schemas/${schema}` });

/** The one good answer of a route, by its status. */
export const successResponse = (operation: Operation, baseUrl: string): object => {
  const { status, description, content, extraHeaders = {} } = successOf(operation.success, baseUrl);
  return { [status]: { description, headers: { ...responseHeaders(status, operation), ...extraHeaders }, content } };
};

type Success = { status: 200 | 202; description: string; content: object; extraHeaders?: object };

const successOf = (success: Operation['success'], baseUrl: string): Success => {
  switch (success) {
    case 'accepted':
      return { status: 202, description: 'Aceita para emissão.', content: json('Invoice', queuedExample) };
    case 'pending':
      return {
        status: 202,
        description: 'Cancelamento pedido; a nota continua issued até a confirmação.',
        content: json('Invoice', pendingCancellationExample(baseUrl)),
      };
    case 'invoice':
      return { status: 200, description: 'A nota.', content: json('Invoice', issuedExample(baseUrl)) };
    case 'invoices':
      return { status: 200, description: 'Nenhuma ou uma nota.', content: json('InvoiceList', listOf(baseUrl)) };
    case 'activities':
      return {
        status: 200,
        description: 'As linhas que podem ser emitidas.',
        content: json('ActivityList', { object: 'list', has_more: false, data: [activityExample] }),
      };
    case 'pdf':
    case 'xml':
      return {
        status: 200,
        description: 'Os bytes do arquivo.',
        content: { [`application/${success}`]: { schema: {} } },
        extraHeaders: { 'Content-Disposition': contentDisposition },
      };
    default:
      return unreachable(success);
  }
};

const json = (schema: string, example: object): object => ({ 'application/json': { schema: ref(schema), example } });

const listOf = (baseUrl: string): object => ({
  object: 'list',
  livemode: false,
  has_more: false,
  data: [issuedExample(baseUrl)],
});

const contentDisposition = {
  description: 'attachment, com um nome derivado do id.',
  required: true,
  schema: { type: 'string', pattern: '^attachment; filename="nfse_[0-9a-f-]{36}\\.(pdf|xml)"$' },
};

import { publicInvoiceId } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import type { RequestSummary } from '../../http/deps.js';
import type { AppFetch } from '../../http/server.js';
import type { Span, Tracing } from '../../ports/tracing.js';

/** Makes a span of each request, in the trace of the client's `traceparent` if it sends one. */
export const tracedFetch =
  (tracing: Tracing) =>
  (fetch: AppFetch): AppFetch =>
  (request, ...rest) => {
    const parent = request.headers.get('traceparent') ?? undefined;
    return tracing.inSpan(request.method, { kind: 'server', parent }, async () => fetch(request, ...rest));
  };

/** Completes the span of a request: the route's template and never its path, ids, and the code of a refusal. */
export const describeRequest = (span: Span, summary: RequestSummary): void => {
  const { route, method, status, code, requestId, invoiceId } = summary;
  span.rename(`${method} ${route}`);
  span.add(
    present({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'nfse.request_id': requestId,
      'nfse.invoice_id': invoiceId && publicInvoiceId(invoiceId),
      'nfse.code': code,
    }),
  );
  if (status >= 500) span.fail(code ?? String(status));
};

import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import type { SpanAttributes, Traceparent, Tracing } from '../../ports/tracing.js';
import type { WorkQueue } from '../../ports/work-queue.js';

/** The trace of the work on a stream: that of its last event. Undefined without one, and when the log cannot be read. */
type TraceOfStream = (stream: StreamName) => Promise<Traceparent | undefined>;

/**
 * Makes a span of each work item that belongs to a trace when it is put, and of each delivery. An item without a trace, as the sweep puts it, continues
 * the trace of its stream.
 */
export const tracedQueue =
  (tracing: Tracing, traceOf: TraceOfStream) =>
  <Queue extends WorkQueue>(queue: Queue): Queue => ({
    ...queue,
    put: (item) => {
      const { kind, stream, traceparent } = item;
      if (traceparent === undefined) return queue.put(item);
      const options = { kind: 'producer', parent: traceparent, attributes: ofStream(stream) } as const;
      return tracing.inSpan(`put ${kind}`, options, (span) => queue.put({ ...item, traceparent: span.traceparent }));
    },
    work: ({ handle, ...options }) =>
      queue.work({
        ...options,
        handle: async (delivery) => {
          const { kind, stream, deliveries } = delivery;
          const parent = delivery.traceparent ?? (await traceOf(stream));
          const attributes = { ...ofStream(stream), 'nfse.delivery': deliveries };
          return await tracing.inSpan(`work ${kind}`, { kind: 'consumer', parent, attributes }, async (span) => {
            const result = await handle(delivery);
            span.add({ 'nfse.result': result.kind });
            return result;
          });
        },
      }),
  });

/** Ids only. */
export const ofStream = (stream: StreamName): SpanAttributes => {
  const address = parseInvoiceStream(stream);
  if (address === undefined) return {};
  const { mode, companyId, invoiceId } = address;
  return { 'nfse.mode': mode, 'nfse.company': companyId, 'nfse.invoice_id': publicInvoiceId(invoiceId) };
};

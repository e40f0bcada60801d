import type { EventStore } from '../../app/event-store/event-store.js';
import { aroundAuthorizer } from '../../app/issuing/around-authorizer.js';
import { isAuthorizerCode } from '../../domain/common/authorizer-code.js';
import {
  type CompanyId,
  type Mode,
  parseInvoiceStream,
  publicInvoiceId,
  type StreamName,
} from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import type { RequestSummary } from '../../http/deps.js';
import type { AppFetch } from '../../http/server.js';
import { createReminder, REMIND_MS } from '../../lib/reminder.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { EventLog } from '../../ports/event-log.js';
import type { Span, SpanAttributes, Traceparent, Tracing } from '../../ports/tracing.js';
import type { WorkQueue } from '../../ports/work-queue.js';
import type { Config, Role } from '../config/config.js';
import { faultFields, type Logger } from '../config/logger.js';
import { programVersion } from '../config/program-version.js';
import { tracedStore } from './traced-store.js';

/** Where the parts of a process make their spans (ADR 51). */
export type Traces = {
  store(store: EventStore): EventStore;
  authorizer(authorizer: Authorizer): Authorizer;
  /** Needs the log, to find the trace of a work item that carries none. */
  queue<Queue extends WorkQueue>(queue: Queue, log: Pick<EventLog, 'read'>): Queue;
  requests(fetch: AppFetch): AppFetch;
  /** Completes the span of the request that is being answered. Returns what its log line gets. */
  answered(summary: RequestSummary): { trace_id?: string };
  /** Says whose key the request has that is being answered. */
  caller(owner: { mode: Mode; companyId: CompanyId }): void;
  /** Runs the verdict of time on a stream in the stream's trace. */
  verdict<T>(stream: StreamName, log: Pick<EventLog, 'read'>, conclude: () => Promise<T>): Promise<T>;
  /** Exports what is left, within a bound. */
  close(): Promise<void>;
};

/** Without tracing everything is as it was, and nothing of OpenTelemetry is loaded. */
const NO_TRACES: Traces = {
  store: (store) => store,
  authorizer: (authorizer) => authorizer,
  queue: (queue) => queue,
  requests: (fetch) => fetch,
  answered: () => ({}),
  caller: () => undefined,
  verdict: (_stream, _log, conclude) => conclude(),
  close: async () => undefined,
};

/** Opens tracing if an address for it is configured. */
export const openTraces = async (config: Config, roles: readonly Role[], logger: Logger): Promise<Traces> => {
  if (config.tracing === undefined) return NO_TRACES;
  // Imported on use: the SDK takes time and memory that a process without tracing must not pay.
  const { openTelemetryTracing } = await import('../../adapters/tracing-opentelemetry/tracing.js');
  const tracing = openTelemetryTracing({
    ...config.tracing,
    resource: { 'service.name': 'nfse', 'service.version': programVersion(), 'nfse.roles': roles.join(',') },
    onExport: exportLog(logger),
  });
  return { ...tracesOf(tracing), close: tracing.close };
};

/** The traces of a process by a tracing that is open. */
export const tracesOf = (tracing: Tracing): Omit<Traces, 'close'> => {
  const traceOf = (log: Pick<EventLog, 'read'>) => async (stream: StreamName) => {
    const [last] = await log.read(stream, { direction: 'backwards', limit: 1 }).catch(() => []);
    return last?.metadata.traceparent;
  };
  return {
    store: tracedStore(tracing),
    authorizer: tracedAuthorizer(tracing),
    queue: (queue, log) => tracedQueue(tracing, traceOf(log))(queue),
    requests: tracedFetch(tracing),
    answered: (summary) => {
      const span = tracing.current();
      if (span === undefined) return {};
      describeRequest(span, summary);
      const [, traceId = ''] = span.traceparent.split('-');
      return { trace_id: traceId };
    },
    caller: ({ mode, companyId }) => tracing.current()?.add({ 'nfse.mode': mode, 'nfse.company': companyId }),
    verdict: async (stream, log, conclude) => {
      const parent = await traceOf(log)(stream);
      const options = { kind: 'internal', parent, attributes: ofStream(stream) } as const;
      return parent === undefined ? await conclude() : await tracing.inSpan('verdict of time', options, conclude);
    },
  };
};

/** Logs the first failed export, every ten minutes that exports go on failing, and the first that succeeds again. */
export const exportLog = (
  logger: Pick<Logger, 'info' | 'warn'>,
  nowMs = (): number => performance.now(),
): ((error: Error | undefined, cause?: { status?: number; code?: string }) => void) => {
  const reminder = createReminder(REMIND_MS, nowMs);
  let isFailing = false;
  return (error, cause = {}) => {
    if (error === undefined) {
      if (isFailing) logger.info({ msg: 'traces are exported again' });
      reminder.reset();
    } else if (reminder.isDue('failing'))
      logger.warn({ msg: 'traces could not be exported; requests are not concerned', ...faultFields(error), ...cause });
    isFailing = error !== undefined;
  };
};

const FAILED: ReadonlySet<string> = new Set(['not_sent', 'unknown', 'inconclusive']);

/** Makes a span of each call inside a trace. The authorizer learns nothing of the trace. */
const tracedAuthorizer =
  (tracing: Tracing) =>
  (authorizer: Authorizer): Authorizer =>
    aroundAuthorizer(authorizer, (operation, caller, call) => {
      if (tracing.current() === undefined) return call();
      const attributes = { 'nfse.mode': caller.mode, 'nfse.company': caller.companyId };
      return tracing.inSpan(`authorizer ${operation}`, { kind: 'client', attributes }, async (span) => {
        const result = await call();
        const codes = ('codes' in result ? result.codes : []).filter(isAuthorizerCode);
        span.add({ 'nfse.outcome': result.kind, ...(codes.length === 0 ? {} : { 'nfse.codes': codes }) });
        if (FAILED.has(result.kind)) span.fail(result.kind);
        return result;
      });
    });

/** The trace of the work on a stream: that of its last event. Undefined without one, and when the log cannot be read. */
type TraceOfStream = (stream: StreamName) => Promise<Traceparent | undefined>;

/** Makes spans of a work item when it is put and of each delivery. An item without a trace, as of the sweep, continues that of its stream. */
const tracedQueue =
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
const ofStream = (stream: StreamName): SpanAttributes => {
  const address = parseInvoiceStream(stream);
  if (address === undefined) return {};
  const { mode, companyId, invoiceId } = address;
  return { 'nfse.mode': mode, 'nfse.company': companyId, 'nfse.invoice_id': publicInvoiceId(invoiceId) };
};

/** Makes a span of each request, in the trace of the client's `traceparent` if it sends one. */
const tracedFetch =
  (tracing: Tracing) =>
  (fetch: AppFetch): AppFetch =>
  (request, ...rest) => {
    const parent = request.headers.get('traceparent') ?? undefined;
    return tracing.inSpan(request.method, { kind: 'server', parent }, async () => fetch(request, ...rest));
  };

/** Completes the span of a request: the route's template and never its path, ids, and the code of a refusal. */
const describeRequest = (span: Span, summary: RequestSummary): void => {
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

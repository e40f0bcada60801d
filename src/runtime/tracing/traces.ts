import type { EventStore } from '../../app/event-store/event-store.js';
import type { CompanyId, Mode, StreamName } from '../../domain/common/ids.js';
import type { RequestSummary } from '../../http/deps.js';
import type { AppFetch } from '../../http/server.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { EventLog } from '../../ports/event-log.js';
import type { Tracing } from '../../ports/tracing.js';
import type { WorkQueue } from '../../ports/work-queue.js';
import type { Config, Role } from '../config/config.js';
import { faultFields, type Logger } from '../config/logger.js';
import { programVersion } from '../config/program-version.js';
import { tracedAuthorizer } from './traced-authorizer.js';
import { ofStream, tracedQueue } from './traced-queue.js';
import { describeRequest, tracedFetch } from './traced-requests.js';
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

/** A collector that stays away must not fill the log. */
const REMIND_MS = 600_000;

/** Logs the first failed export, every ten minutes that exports go on failing, and the first that succeeds again. */
export const exportLog = (
  logger: Pick<Logger, 'info' | 'warn'>,
  nowMs = (): number => performance.now(),
): ((error: Error | undefined) => void) => {
  let failing = false;
  let loggedAt = 0;
  return (error) => {
    if (error === undefined) {
      if (failing) logger.info({ msg: 'traces are exported again' });
      failing = false;
    } else if (!failing || nowMs() - loggedAt >= REMIND_MS) {
      logger.warn({ msg: 'traces could not be exported; requests are not concerned', ...faultFields(error) });
      failing = true;
      loggedAt = nowMs();
    }
  };
};

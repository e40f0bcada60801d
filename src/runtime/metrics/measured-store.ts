import { LRUCache } from 'lru-cache';
import type { StreamEvent } from '../../app/event-store/codec.js';
import type { EventStore, LoadOptions, Stored } from '../../app/event-store/event-store.js';
import type { DomainEvent } from '../../app/event-store/event-types.js';
import { parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import type { Instant } from '../../domain/common/time.js';
import { recordedEvents } from './recorded-events.js';
import type { Series } from './series.js';

const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** More than the invoices that are worked on at once; an outcome is recorded shortly after its stream was loaded. */
const ACCEPTANCES_KEPT = 10_000;

/** Measures appends and counts the appended events; results stay unchanged. */
export const measuredStore = (series: Series): ((store: EventStore) => EventStore) => {
  const count = recordedEvents(series);
  const duration = series.durations(
    'nfse_event_log_append_duration_seconds',
    'An append as its caller waits for it: sealing, the log, and a look at what was stored when that was not said.',
    APPEND_SECONDS,
    ['result'],
  );
  for (const result of ['ok', 'conflict', 'error']) duration.zero({ result });
  return (store) => {
    const acceptances = new LRUCache<StreamName, Instant>({ max: ACCEPTANCES_KEPT });
    const remember = (stream: StreamName, first: DomainEvent | StreamEvent | undefined): void => {
      if (first?.type === 'InvoiceAccepted') acceptances.set(stream, first.data.acceptedAt);
    };
    const countEvents = (stream: StreamName, events: readonly DomainEvent[]): void => {
      const address = parseInvoiceStream(stream);
      if (address === undefined) return;
      remember(stream, events[0]);
      for (const event of events) count(event, address.mode, acceptances.get(stream));
    };
    const measured = async <T extends Stored>(
      append: () => Promise<T>,
      stream: StreamName,
      events: readonly DomainEvent[],
    ): Promise<T> => {
      const startedAt = performance.now();
      const observe = (result: 'ok' | 'conflict' | 'error'): void =>
        duration.observe({ result }, (performance.now() - startedAt) / 1000);
      const appended = await append().catch((error: unknown) => {
        observe('error');
        throw error;
      });
      observe(appended.ok ? 'ok' : 'conflict');
      if (appended.ok) countEvents(stream, events);
      return appended;
    };
    const { appendGuarded } = store;
    return {
      load: async <E extends DomainEvent>(stream: StreamName, options?: LoadOptions) => {
        const loaded = await store.load<E>(stream, options);
        remember(stream, loaded.events[0]);
        return loaded;
      },
      ...present({ lastReadsAtOnce: store.lastReadsAtOnce }),
      append: (stream, version, events, context) =>
        measured(() => store.append(stream, version, events, context), stream, events),
      ...(appendGuarded && {
        appendGuarded: (stream, event, ...rest) =>
          measured(() => appendGuarded(stream, event, ...rest), stream, [event]),
      }),
    };
  };
};

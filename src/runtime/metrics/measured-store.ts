import { Histogram, type Registry } from 'prom-client';
import type { EventStore } from '../../app/event-store/event-store.js';
import type { DomainEvent } from '../../app/event-store/event-types.js';
import { lru } from '../../app/lru.js';
import { parseInvoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { RecordedEvents } from './recorded-events.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** More than are in work at once; whoever records an outcome has loaded the stream a moment before. */
const ACCEPTANCES_KEPT = 10_000;

/** Measures appends and tells what was appended; changes nothing of what the store does. */
export const measuredStore = (registry: Registry, recorded: RecordedEvents): ((store: EventStore) => EventStore) => {
  const duration = new Histogram({
    name: 'nfse_event_log_append_duration_seconds',
    help: 'An append as its caller waits for it: sealing, the log, and a look at what was stored when that was not said.',
    labelNames: ['result'],
    buckets: SECONDS,
    registers: [registry],
  });
  for (const result of ['ok', 'conflict', 'error']) duration.zero({ result });
  return (store) => {
    const acceptances = lru<StreamName, Instant>(ACCEPTANCES_KEPT);
    const remember = (stream: StreamName, first: DomainEvent | undefined): void => {
      if (first?.type === 'InvoiceAccepted') acceptances.set(stream, first.data.acceptedAt);
    };
    const told = (stream: StreamName, events: readonly DomainEvent[]): void => {
      const address = parseInvoiceStream(stream);
      if (address === undefined) return;
      remember(stream, events[0]);
      for (const event of events) recorded.count(event, address.mode, acceptances.get(stream));
    };
    return {
      load: async (stream, options) => {
        const loaded = await store.load(stream, options);
        remember(stream, loaded.events[0] as DomainEvent | undefined);
        return loaded as Awaited<ReturnType<typeof store.load<never>>>;
      },
      append: async (stream, version, events, context) => {
        const startedAt = performance.now();
        const ended = (result: 'ok' | 'conflict' | 'error'): void =>
          duration.observe({ result }, (performance.now() - startedAt) / 1000);
        const appended = await store.append(stream, version, events, context).catch((error: unknown) => {
          ended('error');
          throw error;
        });
        ended(appended.ok ? 'ok' : 'conflict');
        if (appended.ok) told(stream, events);
        return appended;
      },
    };
  };
};

import { LRUCache } from 'lru-cache';
import type { EventStore, Stored } from '../../app/event-store/event-store.js';
import type { DomainEvent } from '../../app/event-store/event-types.js';
import { cancelingEvents } from '../../domain/common/access-key.js';
import { type Mode, modes, parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import { areaReasons } from '../../domain/invoice/messages/areas.js';
import { differenceKinds } from '../../domain/invoice/reconciliation.js';
import type { Series } from './series.js';

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];

const works = ['issue', 'cancel'] as const;

/** The status that the client sees for each event that ends issuing. */
const outcomes = {
  Authorized: 'issued',
  IssuanceRejected: 'failed',
  IssuanceFailed: 'failed',
  NotProcessed: 'failed',
  IssuanceInterrupted: 'indeterminate',
} as const;

const isOutcome = (type: string): type is keyof typeof outcomes => Object.hasOwn(outcomes, type);

/** Counts one event that this process appended. `acceptedAt` is the acceptance of its invoice, if known. */
type CountEvent = (event: DomainEvent, mode: Mode, acceptedAt: Instant | undefined) => void;

/** The label of a refusal whose code neither an annex nor an answer seen in use has. A label must not take what an answer holds. */
const UNKNOWN_CODE = 'other';

/**
 * Counts events where they are appended, so that each is counted once, by the process that appended it. Every series starts at 0, except those of the
 * authorizer's codes, which are too many.
 */
const recordedEvents = ({ counter, durations }: Series): CountEvent => {
  const accepted = counter('nfse_invoices_accepted_total', 'Invoices accepted.', ['mode']);
  const ended = counter('nfse_invoice_outcomes_total', 'Invoices that got an outcome, and the event that gave it.', [
    'mode',
    'outcome',
    'event',
  ]);
  const refusals = counter(
    'nfse_invoice_refusals_total',
    "Invoices that the authorizer refused, by each of its codes; 'other' is any code that is in no catalogue.",
    ['mode', 'code'],
  );
  const issue = durations(
    'nfse_issue_duration_seconds',
    'From acceptance to outcome, by the times of the events.',
    SECONDS,
    ['mode', 'outcome'],
  );
  const cancellations = counter('nfse_cancellations_requested_total', 'Cancellations accepted.', ['mode']);
  const cancelEnded = counter(
    'nfse_cancellation_outcomes_total',
    'Cancellations that were confirmed, refused or timed out. Events of others and settlements have counters of their own.',
    ['mode', 'outcome'],
  );
  const perWork = (name: string, help: string) => counter(name, help, ['mode', 'work']);
  const attempts = perWork('nfse_attempts_total', 'Attempts recorded: a send may follow, once.');
  const notSent = perWork('nfse_attempts_not_sent_total', 'Attempts of which no byte reached the authorizer.');
  const unknown = perWork('nfse_unknown_outcomes_total', 'Sends whose outcome is unknown: look-ups follow.');
  const absent = perWork('nfse_proven_absences_total', 'Sends that look-ups proved to have left nothing.');
  const settled = counter('nfse_settlements_total', 'Invoices and cancellations that support settled, and as what.', [
    'mode',
    'as',
  ]);
  const conflicts = counter('nfse_number_conflicts_total', 'Foreign notes found under one of our DPS ids.', ['mode']);

  const elsewhere = counter(
    'nfse_canceled_elsewhere_total',
    'Notes that an event of another party canceled or replaced, by the type of the event.',
    ['mode', 'event'],
  );
  const differences = counter(
    'nfse_reconciliation_differences_total',
    'Differences found between our outcomes and what the authorizer holds.',
    ['mode', 'kind'],
  );

  for (const mode of modes) {
    for (const event of cancelingEvents) elsewhere.inc({ mode, event }, 0);
    for (const kind of differenceKinds) differences.inc({ mode, kind }, 0);
    for (const one of [accepted, cancellations, conflicts]) one.inc({ mode }, 0);
    refusals.inc({ mode, code: UNKNOWN_CODE }, 0);
    for (const [event, outcome] of Object.entries(outcomes)) ended.inc({ mode, outcome, event }, 0);
    for (const as of ['issued', 'failed', 'canceled', 'valid']) settled.inc({ mode, as }, 0);
    for (const outcome of ['succeeded', 'refused', 'timeout', 'document_invalid'])
      cancelEnded.inc({ mode, outcome }, 0);
    for (const work of works) for (const one of [attempts, notSent, unknown, absent]) one.inc({ mode, work }, 0);
  }

  /** Events of one kind of work; other events have separate counters. */
  const ofWork: Partial<Record<DomainEvent['type'], { of: ReturnType<typeof perWork>; work: (typeof works)[number] }>> =
    {
      IssuanceAttempted: { of: attempts, work: 'issue' },
      IssuanceNotSent: { of: notSent, work: 'issue' },
      IssuanceOutcomeUnknown: { of: unknown, work: 'issue' },
      IssuanceProvenAbsent: { of: absent, work: 'issue' },
      CancellationAttempted: { of: attempts, work: 'cancel' },
      CancellationNotSent: { of: notSent, work: 'cancel' },
      CancellationOutcomeUnknown: { of: unknown, work: 'cancel' },
      CancellationProvenAbsent: { of: absent, work: 'cancel' },
    };
  return (event, mode, acceptedAt) => {
    const sent = ofWork[event.type];
    if (sent !== undefined) sent.of.inc({ mode, work: sent.work });
    if (event.type === 'InvoiceAccepted') accepted.inc({ mode });
    if (event.type === 'NumberConflictFound') conflicts.inc({ mode });
    if (event.type === 'IndeterminateResolved') settled.inc({ mode, as: event.data.as });
    if (event.type === 'CancellationSettledBySupport') settled.inc({ mode, as: 'canceled' });
    if (event.type === 'CancellationClosedBySupport') settled.inc({ mode, as: 'valid' });
    if (event.type === 'ReconciliationDifferenceFound') differences.inc({ mode, kind: event.data.kind });
    if (event.type === 'IssuanceRejected')
      for (const code of new Set(event.data.codes.map(labelOf))) refusals.inc({ mode, code });
    if (event.type === 'CancellationRequested') cancellations.inc({ mode });
    if (event.type === 'CancellationConfirmed') cancelEnded.inc({ mode, outcome: 'succeeded' });
    if (event.type === 'NoteCanceledElsewhere') elsewhere.inc({ mode, event: event.data.eventType });
    if (event.type === 'CancellationNotConfirmed') cancelEnded.inc({ mode, outcome: event.data.reason });
    if (!isOutcome(event.type) || !('at' in event.data)) return;
    const outcome = outcomes[event.type];
    ended.inc({ mode, outcome, event: event.type });
    if (acceptedAt === undefined) return;
    issue.observe({ mode, outcome }, Math.max(0, epochMs(event.data.at) - epochMs(acceptedAt)) / 1000);
  };
};

const labelOf = (code: string): string => (areaReasons.has(code) ? code : UNKNOWN_CODE);

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
    const remember = (stream: StreamName, first: DomainEvent | undefined): void => {
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
      const ended = (result: 'ok' | 'conflict' | 'error'): void =>
        duration.observe({ result }, (performance.now() - startedAt) / 1000);
      const appended = await append().catch((error: unknown) => {
        ended('error');
        throw error;
      });
      ended(appended.ok ? 'ok' : 'conflict');
      if (appended.ok) countEvents(stream, events);
      return appended;
    };
    const { appendGuarded } = store;
    return {
      load: async (stream, options) => {
        const loaded = await store.load(stream, options);
        remember(stream, loaded.events[0] as DomainEvent | undefined);
        return loaded as Awaited<ReturnType<typeof store.load<never>>>;
      },
      append: (stream, version, events, context) =>
        measured(() => store.append(stream, version, events, context), stream, events),
      ...(appendGuarded && {
        appendGuarded: (stream, event, ...rest) =>
          measured(() => appendGuarded(stream, event, ...rest), stream, [event]),
      }),
    };
  };
};

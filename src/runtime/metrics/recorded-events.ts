import type { DomainEvent } from '../../app/event-store/event-types.js';
import { cancelingEvents } from '../../domain/common/access-key.js';
import { type Mode, modes } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import type { UnsendableReason } from '../../domain/invoice/events.js';
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

const UNSENDABLE: Record<UnsendableReason, true> = { customer_name_missing: true, document_invalid: true };

const isOutcome = (type: string): type is keyof typeof outcomes => Object.hasOwn(outcomes, type);

/** Counts one event that this process appended. `acceptedAt` is the acceptance of its invoice, if known. */
type CountEvent = (event: DomainEvent, mode: Mode, acceptedAt: Instant | undefined) => void;

/** The label of a refusal whose code neither an annex nor an answer seen in use has. A label must not take what an answer holds. */
const LABEL_OF_OTHERS = 'other';

/** Counts each event once, in the process that appends it. Every series starts at 0, except those of the authorizer's codes: they are too many. */
export const recordedEvents = ({ counter, durations }: Series): CountEvent => {
  const accepted = counter('nfse_invoices_accepted_total', 'Invoices accepted.', ['mode']);
  const issueEnded = counter(
    'nfse_invoice_outcomes_total',
    'Invoices that got an outcome, and the event that gave it; with a reason those of which no document could be written.',
    ['mode', 'outcome', 'event', 'reason'],
  );
  const refusals = counter(
    'nfse_invoice_refusals_total',
    "Invoices that the authorizer refused, by each of its codes; 'other' is any code that is in no catalogue.",
    ['mode', 'code'],
  );
  const issueDuration = durations(
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
    refusals.inc({ mode, code: LABEL_OF_OTHERS }, 0);
    for (const [event, outcome] of Object.entries(outcomes)) issueEnded.inc({ mode, outcome, event }, 0);
    for (const reason of Object.keys(UNSENDABLE))
      issueEnded.inc({ mode, outcome: outcomes.IssuanceFailed, event: 'IssuanceFailed', reason }, 0);
    for (const as of ['issued', 'failed', 'canceled', 'valid']) settled.inc({ mode, as }, 0);
    for (const outcome of ['succeeded', 'refused', 'timeout', 'document_invalid'])
      cancelEnded.inc({ mode, outcome }, 0);
    for (const work of works) for (const one of [attempts, notSent, unknown, absent]) one.inc({ mode, work }, 0);
  }

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
    const reason = event.type === 'IssuanceFailed' ? event.data.reason : undefined;
    issueEnded.inc(present({ mode, outcome, event: event.type, reason }));
    if (acceptedAt === undefined) return;
    issueDuration.observe({ mode, outcome }, Math.max(0, epochMs(event.data.at) - epochMs(acceptedAt)) / 1000);
  };
};

const labelOf = (code: string): string => (areaReasons.has(code) ? code : LABEL_OF_OTHERS);

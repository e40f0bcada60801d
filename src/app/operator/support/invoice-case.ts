import {
  type InvoiceAddress,
  parseInvoiceStream,
  publicInvoiceId,
  type StreamName,
} from '../../../domain/common/ids.js';
import type { Instant } from '../../../domain/common/time.js';
import type { InvoiceEvent, OtherSale, ReadInvoiceEvent } from '../../../domain/invoice/events.js';
import { evolve } from '../../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../../domain/invoice/state.js';
import { visible } from '../../../domain/invoice/status.js';
import type { Clock } from '../../../ports/clock.js';
import type { EventLog, RecordedEvent } from '../../../ports/event-log.js';
import type { LookupProgressStore, StoredLookupProgress } from '../../../ports/work-progress.js';
import { type DecodedEvent, decodeSealed } from '../../event-store/codec.js';
import type { EventStore } from '../../event-store/event-store.js';
import { cancelLookupKey } from '../../issuing/cancellation.js';
import { issueLookupKey } from '../../issuing/note.js';
import { settleLookupKey } from '../settlement/no-note-proofs.js';

/** Everything that support sees of an invoice without opening what is sealed. */
export type InvoiceCase = {
  stream: StreamName;
  address: InvoiceAddress;
  state: InvoiceState;
  timeline: readonly TimelineEntry[];
  /** Progress of the look-ups that have not decided yet, for each attempt that was looked up. */
  lookups: readonly NamedLookups[];
};

/** `work` names the send that was looked up, as the store has it. */
export type NamedLookups = StoredLookupProgress & { work: string };

type CaseDeps = {
  log: Pick<EventLog, 'read'>;
  lookups: Pick<LookupProgressStore, 'get'>;
  clock: Clock;
  testRetentionSeconds: number;
};

/** Undefined for a stream without events, and for an expired test invoice that the sweep has not deleted yet. */
export const loadCase = async (stream: StreamName, deps: CaseDeps): Promise<InvoiceCase | undefined> => {
  const address = parseInvoiceStream(stream);
  const recorded = await deps.log.read(stream);
  if (address === undefined || recorded.length === 0) return undefined;
  const events = recorded.map((one) => decodeSealed(one) as DecodedEvent<InvoiceEvent>);
  const state = events.reduce<InvoiceState>(evolve, initialInvoice);
  const isOver = visible(state, deps.clock.now(), deps.testRetentionSeconds).kind === 'absent';
  if (state.kind === 'invoice' && isOver) return undefined;
  return { stream, address, state, timeline: timelineEntries(recorded), lookups: await lookupsOf(stream, state, deps) };
};

const lookupsOf = async (stream: StreamName, state: InvoiceState, { lookups }: CaseDeps) => {
  if (state.kind !== 'invoice') return [];
  const { request, sends } = state.cancellation ?? { request: 0, sends: [] };
  const works = [
    ...state.attempts.map(issueLookupKey),
    ...sends.map(({ attempt }) => cancelLookupKey({ request, attempt })),
    ...new Set(state.attempts.map(({ dpsId }) => settleLookupKey(dpsId))),
  ];
  return await storedLookups(stream, works, lookups);
};

/** Look-ups of these sends, in their order; a send that was not looked up is missing. */
export const storedLookups = async (
  stream: StreamName,
  works: readonly string[],
  lookups: Pick<LookupProgressStore, 'get'>,
): Promise<readonly NamedLookups[]> => {
  const all = await Promise.all(works.map(async (work) => ({ work, progress: await lookups.get(stream, work) })));
  return all.flatMap(({ work, progress }) => (progress === undefined ? [] : [{ work, ...progress }]));
};

/** One line of what was sealed: `name` says what it is. */
export type PersonalLine = { name: string; value: string };

/** Customer, descriptions, texts of the authorizer, evidence of settlements. The caller must have recorded the look (`appendAudit`). */
export const personalLines = async (stream: StreamName, store: EventStore): Promise<readonly PersonalLine[]> => {
  const { events } = await store.load<InvoiceEvent>(stream);
  // A refusal that look-ups made final repeats the texts of its answer.
  const lines = new Map(events.flatMap(linesOf).map((one) => [JSON.stringify(one), one]));
  return [...lines.values()];
};

const linesOf = (event: ReadInvoiceEvent): readonly PersonalLine[] => {
  switch (event.type) {
    case 'InvoiceAccepted':
    case 'InvoiceImported':
      return [...customerLines(event.data.customer), ...line('Description', event.data.description)];
    case 'IssuanceOutcomeUnknown':
    case 'IssuanceRejected':
      return (event.data.texts ?? []).map((value) => ({ name: `Authorizer, attempt ${event.data.attempt}`, value }));
    case 'CancellationOutcomeUnknown':
    case 'CancellationNotConfirmed':
      return (event.data.texts ?? []).map((value) => ({
        name: `Authorizer, cancellation ${event.data.request}`,
        value,
      }));
    case 'CancellationRequested':
      return line(`Cancellation ${event.data.request}`, event.data.description);
    case 'IndeterminateResolved':
    case 'CancellationSettledBySupport':
    case 'CancellationClosedBySupport':
    case 'NoteCanceledElsewhere':
      return line('Evidence of support', event.data.evidence);
    default:
      return [];
  }
};

const line = (name: string, value: string | undefined): readonly PersonalLine[] =>
  value === undefined ? [] : [{ name, value }];

/** A field whose key was destroyed is missing. */
const customerLines = (customer: InvoiceCustomer): readonly PersonalLine[] => {
  if (customer === undefined) return [];
  const named = line('Customer', customer.name);
  if (customer.type === 'br') return [...named, ...line('CPF or CNPJ', customer.document)];
  const { street, number, district, city, state, postalCode, country } = customer.address;
  const address = [`${street}, ${number}`, district, city, state, postalCode, country].join(', ');
  return [
    ...named,
    ...line('Tax id', customer.taxId),
    ...line('Reason without tax id', customer.taxIdAbsenceReason),
    ...line('Address', address),
  ];
};

type InvoiceCustomer = Extract<InvoiceEvent, { type: 'InvoiceAccepted' }>['data']['customer'];

/** `request_id`: the Request-Id of the call that began the work. */
export type TimelineEntry = { at: Instant; event: string; who: string; request_id: string; evidence: string };

/** The events of one invoice as entries for support, oldest first; nothing in them is personal. */
export const timelineEntries = (recorded: readonly RecordedEvent[]): readonly TimelineEntry[] => {
  const events = recorded.map((one) => decodeSealed(one) as DecodedEvent<InvoiceEvent>);
  const sameContentAt = events.flatMap(({ type, data }) =>
    type === 'NumberConflictFound' && data.sameContent ? [data.at] : [],
  );
  return events.map((event) => ({
    at: event.metadata.recordedAt ?? '',
    event: event.type,
    who: event.metadata.actor ?? '',
    request_id: event.metadata.correlationId ?? '',
    evidence: event.type === 'IssuanceInterrupted' ? endOf(event.data, sameContentAt) : evidenceOf(event),
  }));
};

/** A note with the same content under the number ends an invoice at once: it may be ours, and no time decides that. */
const endOf = ({ failedAt }: { failedAt: Instant }, sameContentAt: readonly Instant[]): string =>
  sameContentAt.includes(failedAt)
    ? `the note under its number has the same content, found at ${failedAt}`
    : `time was over at ${failedAt}`;

/** A key's name cut to the first block of its UUID, which is enough for a reader to tell keys apart. */
export const shortActor = (who: string): string => who.replace(/^(apiKey:key_[0-9a-f]{8})-.*$/, '$1');

/** The look-ups that made a refusal final. */
const absencesOf = ({ firstAskedAt, secondAskedAt }: { firstAskedAt?: Instant; secondAskedAt?: Instant }) =>
  firstAskedAt === undefined || secondAskedAt === undefined ? [] : [`absent ${firstAskedAt} and ${secondAskedAt}`];

const otherSaleText = ({ dpsId, accessKey, by, unseen }: OtherSale): string => {
  const seen = unseen === true ? ', and the look-up did not show the note' : '';
  const whose = by === 'content' ? 'by its amount or customer' : `as the operator declared${seen}`;
  return `${dpsId} holds ${accessKey} of another sale, ${whose}`;
};

/** One short line of facts without personal fields, which are sealed here anyway. */
const evidenceOf = (event: Exclude<ReadInvoiceEvent, { type: 'IssuanceInterrupted' }>): string => {
  switch (event.type) {
    case 'InvoiceAccepted':
      return `${event.data.amountInCents} cents, line ${event.data.line.cnae}/${event.data.line.serviceCode}`;
    case 'InvoiceImported':
      return `from ${event.data.origin}, ${event.data.state}`;
    case 'IssuanceAttempted':
      return `attempt ${event.data.attempt}, ${event.data.dpsId}`;
    case 'CancellationAttempted':
      return `attempt ${event.data.attempt}, ${event.data.requestId}`;
    case 'IssuanceNotSent':
    case 'CancellationNotSent':
    case 'IssuanceOutcomeUnknown':
      return [`attempt ${event.data.attempt}: ${event.data.reason}`, ...event.data.codes].join(' ');
    case 'CancellationOutcomeUnknown': {
      const { attempt, reason, codes, namedEvent } = event.data;
      const named = namedEvent === undefined ? '' : `, which names event ${namedEvent}`;
      return `${[`attempt ${attempt}: ${reason}`, ...codes].join(' ')}${named}`;
    }
    case 'IssuanceProvenAbsent':
    case 'CancellationProvenAbsent':
      return `asked ${event.data.firstAskedAt} and ${event.data.secondAskedAt}`;
    case 'Authorized':
      return `access key ${event.data.accessKey}, by ${event.data.evidence}`;
    case 'IssuanceRejected':
      return [...event.data.codes, ...absencesOf(event.data)].join(' ');
    case 'NumberConflictFound':
      return `${event.data.dpsId} holds ${event.data.accessKey}`;
    case 'CancellationRequested':
      return `reason ${event.data.reason}`;
    case 'CancellationConfirmed':
      return `canceled ${event.data.canceledAt}, by ${event.data.evidence}`;
    case 'CancellationNotConfirmed':
      return [event.data.reason, ...event.data.codes, ...absencesOf(event.data)].join(' ');
    case 'IssuanceFailed':
      return event.data.reason ?? `time was over at ${event.data.failedAt}`;
    case 'NotProcessed':
      return `time was over at ${event.data.failedAt}`;
    case 'IndeterminateResolved':
      return event.data.as === 'issued'
        ? `settled as issued, access key ${event.data.accessKey}`
        : ['settled as failed', ...(event.data.otherSales ?? []).map(otherSaleText)].join(', ');
    case 'CancellationSettledBySupport':
      return `canceled ${event.data.canceledAt}`;
    case 'CancellationClosedBySupport':
      return 'the note stays valid';
    case 'NoteCanceledElsewhere': {
      const { eventType, canceledAt, replacedBy } = event.data;
      const by = replacedBy === undefined ? '' : `, replaced by ${replacedBy}`;
      return `event ${eventType} of another party, ${canceledAt}${by}`;
    }
    case 'ReconciliationDifferenceFound':
      return event.data.kind;
    case 'ReferenceTaken':
      return `by ${publicInvoiceId(event.data.invoiceId)}`;
    case 'TestInvoiceDeleted':
      return `chain ended at ${event.data.lastHash}`;
  }
};

import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { visible } from '../../domain/invoice/view.js';
import { type InvoiceAddress, parseInvoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog } from '../../ports/event-log.js';
import type { LookupMemo, LookupMemos } from '../../ports/guards.js';
import { type DecodedEvent, decodeSealed } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import { storyOf, type TimelineEntry } from './timeline.js';

/** Everything that support sees of an invoice without opening what is sealed. */
export type InvoiceCase = {
  stream: StreamName;
  address: InvoiceAddress;
  state: InvoiceState;
  story: readonly TimelineEntry[];
  /** What look-ups without a result have said, of each send that was looked for. */
  lookups: readonly (LookupMemo & { work: string })[];
};

export type CaseDeps = {
  log: Pick<EventLog, 'read'>;
  lookups: Pick<LookupMemos, 'get'>;
  clock: Clock;
  testRetentionSeconds: number;
};

/** Undefined for a stream without events, and for a test invoice whose life is over and that the sweep has not met yet. */
export const loadCase = async (stream: StreamName, deps: CaseDeps): Promise<InvoiceCase | undefined> => {
  const address = parseInvoiceStream(stream);
  const recorded = await deps.log.read(stream);
  if (address === undefined || recorded.length === 0) return undefined;
  const events = recorded.map((one) => decodeSealed(one) as DecodedEvent<InvoiceEvent>);
  const state = events.reduce<InvoiceState>(evolve, initialInvoice);
  const isOver = visible(state, deps.clock.now(), deps.testRetentionSeconds).kind === 'absent';
  if (state.kind === 'invoice' && isOver) return undefined;
  return { stream, address, state, story: storyOf(recorded), lookups: await lookupsOf(stream, state, deps) };
};

const lookupsOf = async (stream: StreamName, state: InvoiceState, { lookups }: CaseDeps) => {
  if (state.kind !== 'invoice') return [];
  const works = [
    ...state.attempts.map(({ attempt }) => `issue/${attempt}`),
    ...(state.cancellation?.sends ?? []).map(({ attempt }) => `cancel/${state.cancellation?.request}/${attempt}`),
    ...new Set(state.attempts.map(({ dpsId }) => `settle/${dpsId}`)),
  ];
  const memos = await Promise.all(works.map(async (work) => ({ work, memo: await lookups.get(stream, work) })));
  return memos.flatMap(({ work, memo }) => (memo === undefined ? [] : [{ work, ...memo }]));
};

/** One line of what was sealed: `name` says what it is. */
export type PersonalLine = { name: string; value: string };

/** Customer, descriptions, the authorizer's own words, evidence of settlements. Whoever calls has put the look on record. */
export const personalLines = async (stream: StreamName, store: EventStore): Promise<readonly PersonalLine[]> => {
  const { events } = await store.load<InvoiceEvent>(stream);
  return events.flatMap(linesOf);
};

const linesOf = (event: InvoiceEvent): readonly PersonalLine[] => {
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
      return line('Evidence of support', event.data.evidence);
    default:
      return [];
  }
};

const line = (name: string, value: string | undefined): readonly PersonalLine[] =>
  value === undefined ? [] : [{ name, value }];

/** A field whose key was destroyed is not there any more. */
const customerLines = (customer: InvoiceCustomer): readonly PersonalLine[] => {
  if (customer === undefined) return [];
  const named = line('Customer', customer.name);
  if (customer.type === 'br') return [...named, ...line('CPF or CNPJ', customer.document)];
  const { street, number, district, city, state, postalCode, country } = customer.address;
  const address = [`${street}, ${number}`, district, city, state, postalCode, country].join(', ');
  return [...named, ...line('Tax id', customer.taxId ?? customer.taxIdAbsenceReason), ...line('Address', address)];
};

type InvoiceCustomer = Extract<InvoiceEvent, { type: 'InvoiceAccepted' }>['data']['customer'];

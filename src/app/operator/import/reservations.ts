import type { AccessKey } from '../../../domain/common/access-key.js';
import { type InvoiceId, invoiceStream, publicInvoiceId, type StreamName } from '../../../domain/common/ids.js';
import type { Instant } from '../../../domain/common/time.js';
import type { InvoiceEvent } from '../../../domain/invoice/events.js';
import { hasEndedWithout, type InvoiceState } from '../../../domain/invoice/state.js';
import type { Clock } from '../../../ports/clock.js';
import { operatorContext } from '../../event-store/command-context.js';
import type { EventStore } from '../../event-store/event-store.js';
import { invoiceIdOfAccessKey } from '../../event-store/hashes.js';
import { create } from '../../event-store/transact.js';
import { loadSealedInvoice } from '../../read/read-invoice.js';
import type { Imported, PlannedImport } from './import-line.js';

/** What the log already holds of a plan, or of one reservation of it: nothing, the same, or something else. */
export type Check = { kind: 'open' } | { kind: 'already_so' } | Refused;

export type Refused = { kind: 'refused'; problem: string };

/** What of a plan a reservation needs. */
type Reserving = Pick<PlannedImport, 'reservation' | 'liveKey'> & {
  data: Pick<Imported, 'mode' | 'companyId' | 'invoiceId'>;
};

type AppendDeps = { store: EventStore; clock: Clock; actor: `support:${string}` };

/** The reservation of the reference first, when the plan needs both. */
export const checkReservations = async (plan: PlannedImport, store: EventStore): Promise<readonly Check[]> => {
  const checks: Check[] = [];
  for (const reservation of await reservationsOf(plan, store)) checks.push(await check(reservation, plan.data, store));
  return checks;
};

/** Appends the reservations that the plan lacks. Only one of several writers can get each, so the others are refused. */
export const reserve = async (plan: Reserving, takenAt: Instant, deps: AppendDeps): Promise<Refused | undefined> => {
  const taken: InvoiceEvent = { type: 'ReferenceTaken', data: { invoiceId: plan.data.invoiceId, takenAt } };
  for (const { of, stream } of await reservationsOf(plan, deps.store)) {
    if (await appendFirst(stream, taken, plan, deps)) continue;
    const { state } = await loadSealedInvoice(stream, deps.store);
    const checked = await check({ of, stream, state }, plan.data, deps.store);
    if (checked.kind === 'refused') return checked;
  }
  return undefined;
};

/** Appends the first event of a stream of this import; false when the stream has an event. */
export const appendFirst = (
  stream: StreamName,
  event: InvoiceEvent,
  { data: { mode, companyId } }: Reserving,
  { store, clock, actor }: AppendDeps,
): Promise<boolean> => {
  const context = operatorContext('import_invoice', { actor, mode, companyId });
  return create(stream, event, context(clock.now()), { store });
};

type Reservation = { of: 'reference' | 'access_key'; stream: StreamName; state: InvoiceState };

const reservationsOf = async (
  { data, reservation: stream, liveKey }: Reserving,
  store: EventStore,
): Promise<readonly Reservation[]> => {
  const reservations: Reservation[] = [];
  if (stream !== undefined) {
    const { state } = await loadSealedInvoice(stream, store);
    reservations.push({ of: 'reference', stream, state });
  }
  if (liveKey !== undefined) reservations.push(await reservationOfKey(liveKey, data, store));
  return reservations;
};

/**
 * The stream that decides which invoice may have the note: the first whose invoice may still get the note, or has it. An issuer may send an accepted
 * invoice between the reservation and its note. An invoice that has failed, or is issued with another note, never gets this one, so no two imports
 * disagree about the streams that are passed over.
 */
const reservationOfKey = async (
  accessKey: AccessKey,
  { mode, companyId }: Pick<Imported, 'mode' | 'companyId'>,
  store: EventStore,
): Promise<Reservation> => {
  for (let use = 0; ; use++) {
    const stream = invoiceStream(mode, companyId, invoiceIdOfAccessKey(mode, companyId, accessKey, use));
    const { state } = await loadSealedInvoice(stream, store);
    if (state.kind !== 'reference_taken') return { of: 'access_key', stream, state };
    const holder = await loadSealedInvoice(invoiceStream(mode, companyId, state.invoiceId), store);
    if (!hasEndedWithout(accessKey, holder.state)) return { of: 'access_key', stream, state };
  }
};

/**
 * The invoice for which an import has reserved a live note, where that invoice is not on record: the import ended early, is at work, or its end is lost
 * with the end of the log. No other invoice gets the note before that import is completed.
 */
export const missingKeeper = async (
  accessKey: AccessKey,
  data: Pick<Imported, 'mode' | 'companyId'>,
  store: EventStore,
): Promise<InvoiceId | undefined> => {
  const { state } = await reservationOfKey(accessKey, data, store);
  if (state.kind !== 'reference_taken') return undefined;
  const { invoiceId } = state;
  const holder = await loadSealedInvoice(invoiceStream(data.mode, data.companyId, invoiceId), store);
  return holder.state.kind === 'none' ? invoiceId : undefined;
};

const check = async (
  { of, state }: Reservation,
  { mode, companyId, invoiceId }: Reserving['data'],
  store: EventStore,
): Promise<Check> => {
  if (state.kind === 'none') return { kind: 'open' };
  if (state.kind !== 'reference_taken') return { kind: 'refused', problem: `${of} is held by another invoice` };
  if (state.invoiceId === invoiceId) return { kind: 'already_so' };
  const held = await loadSealedInvoice(invoiceStream(mode, companyId, state.invoiceId), store);
  const id = publicInvoiceId(state.invoiceId);
  return { kind: 'refused', problem: `${of} is held by ${id}${of === 'access_key' ? adviceOn(held.state, id) : ''}` };
};

/** The id of a line that names none follows from its fields, so a line that was edited after an import had died leads to another invoice. */
const adviceOn = (state: InvoiceState, id: string): string => {
  if (state.kind === 'none')
    return `, which is not on record, because an import ended early or is at work: give the line with "id": "${id}"`;
  return state.kind === 'invoice' && state.outcome.status !== 'issued'
    ? ', which has no final outcome: where the line is of the same sale, give it with that id, else again when that invoice has an outcome'
    : '';
};

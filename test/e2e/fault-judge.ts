import { MAX_SENDS } from '../../src/domain/invoice/limits.js';
import type { Invoice } from '../../src/domain/invoice/state.js';
import { UNCATALOGUED_CODE } from '../support/fixture/uncatalogued-code.js';
import type { FaultHarness, LedgerEntry } from './fault-harness.js';
import { nameOf } from './fault-kinds.js';
import { invoiceOf, type Played } from './fault-play.js';

/** The outcome of an invoice, and the statements about it that are not true. Without the log and the simulator that it was played on. */
export type Judged = Pick<Played, 'plan' | 'calls' | 'deaths'> & { ends: string; complaints: readonly string[] };

/**
 * In the hour after a send: after 30, 60, 120, 300 s and then every 600 s are 9 look-ups, one is at its deadline when the
 * process died, and one comes before the verdict.
 */
const LOOK_UPS_PER_SEND = 11;

/** Compares with the ledger after all calls have ended. */
export const judgeAll = async (harness: FaultHarness, all: readonly Played[]): Promise<readonly Judged[]> => {
  const notes = new Map<number, LedgerEntry[]>();
  for (const note of await harness.ledger())
    notes.set(note.amount_in_cents, [...(notes.get(note.amount_in_cents) ?? []), note]);
  return await Promise.all(
    all.map(async (played) => {
      const invoice = await invoiceOf(harness, played);
      const own = notes.get(played.amountInCents) ?? [];
      const complaints = [...issuing(invoice, own, played), ...canceling(invoice, own, played), ...bounds(played)];
      const story = played.plan.faults.map(nameOf).join(' + ');
      const { plan, calls, deaths } = played;
      const ends = endOf(invoice);
      return { plan, calls, deaths, ends, complaints: complaints.map((complaint) => `${story}: ${complaint}`) };
    }),
  );
};

const endOf = ({ outcome, cancellation }: Invoice): string => {
  if (cancellation === undefined) return outcome.status;
  if (cancellation.status !== 'failed') return `cancel ${cancellation.status}`;
  return cancellation.codes.length > 0 ? 'cancel refused' : 'cancel timed out';
};

const issuing = (
  { outcome, attempts }: Invoice,
  notes: readonly LedgerEntry[],
  { plan }: Played,
): readonly string[] => {
  const complaints: string[] = [];
  if (notes.length > 1) complaints.push(`${notes.length} notes`);
  if (new Set(attempts.map(({ dpsId }) => dpsId)).size > 1) complaints.push('two DPS ids');
  switch (outcome.status) {
    case 'open':
      return [...complaints, 'has no outcome'];
    case 'issued':
      return notes[0]?.access_key === outcome.accessKey
        ? complaints
        : [...complaints, 'issued, but not with this note'];
    case 'failed':
      return notes.length === 0 || isRefusedOverHidden(plan) ? complaints : [...complaints, 'failed over a note'];
    case 'indeterminate':
      return mayStayUnknown(plan) ? complaints : [...complaints, 'indeterminate for no reason'];
  }
};

/**
 * Two plans may end indeterminate: look-ups hide the note for the invoice's hour, though the authorizer says that the DPS exists; or a refusal
 * follows a send that may have arrived, and proves nothing about that send (docs/architecture.md#never-twice).
 */
const mayStayUnknown = (plan: Played['plan']): boolean =>
  isHidden(plan, 'issue') ||
  plan.faults.some(
    ({ on, kind, code }, index) =>
      on === 'issue' && (kind === 'reject' || code === UNCATALOGUED_CODE) && (index > 0 || isOfRealTime(plan)),
  );

/**
 * The one lie that no rule prevents: the authorizer refuses the document with an uncatalogued code, makes a note of it all the same, and look-ups say
 * for hours that it does not exist (ADR 41).
 */
const isRefusedOverHidden = (plan: Played['plan']): boolean =>
  isHidden(plan, 'issue') && isRefusedAndDone(plan, 'issue');

/** Look-ups that hide a note hide its events too. So the same lie about a cancellation ends as refused over a canceled note (ADR 8). */
const isCancelRefusedOverHidden = (plan: Played['plan']): boolean =>
  isHidden(plan, 'event') || (isHidden(plan, 'issue') && isRefusedAndDone(plan, 'event'));

const isRefusedAndDone = ({ faults }: Played['plan'], what: 'issue' | 'event'): boolean =>
  faults.some(({ on, kind, code }) => on === what && code === UNCATALOGUED_CODE && kind !== 'reject');

/** True for faults that last until the client's own timeout, a second or two of real time. */
const isOfRealTime = ({ faults }: Played['plan']): boolean => faults.some(({ kind }) => kind === 'slow');

/** True when look-ups do not show a note for longer than the hour. The simulator hides the note of a held-back answer until after the answer. */
const isHidden = ({ faults }: Played['plan'], what: 'issue' | 'event'): boolean => {
  const stale = faults.filter(({ on, kind }) => on === what && kind === 'stale');
  const isHeldBack = faults.some(({ on, kind }) => on === what && kind === 'slow');
  return stale.some(({ delaySeconds = 0 }) => isHeldBack || delaySeconds > HOUR_SECONDS);
};

const HOUR_SECONDS = 3_600;

const canceling = (
  { cancellation }: Invoice,
  [note]: readonly LedgerEntry[],
  { work, plan }: Played,
): readonly string[] => {
  if (work === 'issue') return [];
  const isCanceled = note?.canceled_at !== undefined;
  switch (cancellation?.status) {
    case 'succeeded':
      return isCanceled ? [] : ['canceled without an event'];
    case 'failed':
      // A time-out says nothing about the note; a refusal does, but for an event that is hidden beyond both proofs (ADR 8).
      return cancellation.codes.length > 0 && isCanceled && !isCancelRefusedOverHidden(plan)
        ? ['refused although it is canceled']
        : [];
    default:
      return ['the cancellation has no end'];
  }
};

const bounds = ({ calls, plan, deaths }: Played): readonly string[] => {
  const complaints: string[] = [];
  const { sends, lookUps, eventSends, eventLookUps } = calls;
  // Only a fault can cause one more send; but a busy machine may also be slow without a fault.
  const most = isOfRealTime(plan) ? MAX_SENDS : Math.min(MAX_SENDS, 1 + plan.faults.length);
  if (sends > most || eventSends > most) complaints.push(`${sends} and ${eventSends} sends`);
  if (lookUps > LOOK_UPS_PER_SEND * sends || eventLookUps > LOOK_UPS_PER_SEND * eventSends)
    complaints.push(`${lookUps} and ${eventLookUps} look-ups`);
  if (deaths > 1) complaints.push(`${deaths} deaths`);
  return complaints;
};

import type { AccessKey, DpsId } from '../common/access-key.js';
import type { StreamName } from '../common/ids.js';
import { present } from '../common/present.js';
import { type Instant, isBefore } from '../common/time.js';
import { compareSent, type FoundDocument, isDoubtful } from './sent-document.js';
import type { Invoice, InvoiceState } from './state.js';
import { isCanceled, isCanceledOrReplaced, retentionEnds } from './status.js';

/** How our outcome and the authorizer's documents may differ; the `kind` of `ReconciliationDifferenceFound`. */
export const differenceKinds = [
  /** We hold a note that the authorizer does not know. */
  'issued_but_absent',
  'failed_but_found',
  'indeterminate_but_found',
  /** A note under one of our DPS ids embeds a document that is not ours. */
  'foreign_note',
  /** The authorizer's note has another key (this kind) or another document (the next) than the note that we hold. */
  'access_key_differs',
  'digest_differs',
  /** Beside the note that we hold there is another one, under an earlier DPS id of the same invoice. */
  'second_note',
  'canceled_here_only',
  /** The authorizer has our own event, or one whose owner is unknown. Another party's event cancels the note here too, and is no difference. */
  'canceled_there_only',
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

export type Difference = { kind: DifferenceKind; accessKey?: AccessKey };

/** A look-up that reconciliation makes for an invoice. */
export type ReconciliationLookup = { about: 'note'; dpsId: DpsId } | { about: 'cancellation'; accessKey: AccessKey };

/** Result of a look-up. `absent` is a proven absence: two absent look-ups, far enough apart. */
export type LookupFinding =
  | { about: 'note'; dpsId: DpsId; held: 'absent' | ({ accessKey: AccessKey } & FoundDocument) }
  | { about: 'cancellation'; accessKey: AccessKey; held: 'absent' | 'event' };

/**
 * True for our own settled invoices, and for imported ones that are neither canceled nor replaced: these have no DPS of ours, and only an event of
 * their note is asked for (TRANS-9). Open issuing or cancelling belongs to the send protocol. A test invoice counts until its retention ends.
 */
export const isReconcilable = (state: InvoiceState, testRetentionSeconds: number, now: Instant): state is Invoice => {
  if (state.kind !== 'invoice' || (state.origin.kind === 'imported' && isCanceledOrReplaced(state))) return false;
  const ends = retentionEnds(state, testRetentionSeconds);
  if (ends !== undefined && !isBefore(now, ends)) return false;
  return state.outcome.status !== 'open' && state.cancellation?.status !== 'pending';
};

/** The look-ups of an invoice: each DPS id signed for it, sent or not, except ids known to be foreign; and its cancellation. */
export const reconciliationLookups = ({ attempts, outcome }: Invoice): readonly ReconciliationLookup[] => {
  const ours = attempts.filter(({ resolution }) => resolution !== 'foreign').map(({ dpsId }) => dpsId);
  const notes = [...new Set(ours)].map((dpsId) => ({ about: 'note' as const, dpsId }));
  if (outcome.status !== 'issued' || outcome.accessKey === undefined) return notes;
  return [...notes, { about: 'cancellation', accessKey: outcome.accessKey }];
};

/** The difference that one look-up shows; undefined without a difference. `attemptLost`: see `isOfLostAttempt`. */
export const differenceOf = (invoice: Invoice, held: LookupFinding, attemptLost: boolean): Difference | undefined =>
  held.about === 'note' ? noteDifference(invoice, held, attemptLost) : cancellationDifference(invoice, held);

const noteDifference = (
  invoice: Invoice,
  { dpsId, held }: LookupFinding & { about: 'note' },
  attemptLost: boolean,
): Difference | undefined => {
  const { outcome, attempts } = invoice;
  const sent = attempts.filter((attempt) => attempt.dpsId === dpsId);
  if (sent.length === 0) return undefined;
  const owner = held === 'absent' ? undefined : compareSent(sent, held);
  // An unverifiable document shows no difference: its access key may have been altered too.
  if (held !== 'absent' && owner === 'unknown' && isDoubtful(held)) return undefined;
  if (outcome.status === 'issued') {
    const isIssuedDps = dpsId === issuedDpsId(invoice, attemptLost);
    if (held === 'absent')
      return isIssuedDps ? present({ kind: 'issued_but_absent' as const, accessKey: outcome.accessKey }) : undefined;
    // The log, which had lost its end, gave the number of the note once more, to an attempt that came to nothing.
    if (attemptLost && held.accessKey === outcome.accessKey) return undefined;
    // The attempts that the log has kept were made under other numbers, which another party may have used.
    if (!isIssuedDps) {
      const kind = attemptLost && owner === 'other' ? 'foreign_note' : 'second_note';
      return { kind, accessKey: held.accessKey };
    }
    if (held.accessKey !== outcome.accessKey) return { kind: 'access_key_differs', accessKey: held.accessKey };
    return owner === 'other' ? { kind: 'digest_differs', accessKey: held.accessKey } : undefined;
  }
  if (held === 'absent') return undefined;
  // A document that can no longer be compared has an id that only we assign: it counts as found.
  if (owner === 'other') return { kind: 'foreign_note', accessKey: held.accessKey };
  const kind = outcome.status === 'failed' ? 'failed_but_found' : 'indeterminate_but_found';
  return { kind, accessKey: held.accessKey };
};

const cancellationDifference = (
  invoice: Invoice,
  { accessKey, held }: LookupFinding & { about: 'cancellation' },
): Difference | undefined => {
  const { outcome } = invoice;
  if (outcome.status !== 'issued' || outcome.accessKey !== accessKey) return undefined;
  if (held === 'absent') return isCanceled(invoice) ? { kind: 'canceled_here_only', accessKey } : undefined;
  return isCanceled(invoice) ? undefined : { kind: 'canceled_there_only', accessKey };
};

/**
 * DPS id of the attempt that became the note; of the last attempt for an invoice that support settled, where none is marked. Undefined where the log
 * has lost that attempt.
 */
const issuedDpsId = ({ attempts }: Invoice, attemptLost: boolean): string | undefined => {
  const marked = attempts.find(({ resolution }) => resolution === 'authorized');
  return (marked ?? (attemptLost ? undefined : attempts.at(-1)))?.dpsId;
};

/**
 * Whether a round compares this invoice. A round takes `percent` in a hundred of the sampled invoices, and each round takes different ones. An
 * invoice that is not sampled is compared in every round, because a note or cancellation may exist that this service does not know.
 */
export const isInRound = (isSampled: boolean, stream: StreamName, round: number, percent: number): boolean =>
  !isSampled || hash(`${round}/${stream}`) % 100 < percent;

/** FNV-1a, 32 bits: a restart gives the same sample. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return value;
};

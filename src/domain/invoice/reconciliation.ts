import { addSeconds, type Instant, isBefore } from '../shared/time.js';
import { compareSent, type FoundDocument, isDoubtful } from './sent-document.js';
import { type Invoice, type InvoiceState, lastOf } from './state.js';

/** How our outcome and what the authorizer holds may differ; the `kind` of `ReconciliationDifferenceFound`. */
export type DifferenceKind =
  /** We hold a note that it does not know. */
  | 'issued_but_absent'
  | 'failed_but_found'
  | 'indeterminate_but_found'
  /** A note under one of our DPS ids that embeds another document than ours. */
  | 'foreign_note'
  /** The note that we hold has another key there, or another document. */
  | 'access_key_differs'
  | 'digest_differs'
  /** Beside the note that we hold, one under an earlier DPS id of the same invoice. */
  | 'second_note'
  | 'canceled_here_only'
  | 'canceled_there_only';

export type Difference = { kind: DifferenceKind; accessKey?: string };

export const differenceKinds = [
  'issued_but_absent',
  'failed_but_found',
  'indeterminate_but_found',
  'foreign_note',
  'access_key_differs',
  'digest_differs',
  'second_note',
  'canceled_here_only',
  'canceled_there_only',
] as const satisfies readonly DifferenceKind[];

/** What the authorizer is asked of one invoice. */
export type ReconciliationQuestion = { about: 'note'; dpsId: string } | { about: 'cancellation'; accessKey: string };

/** What it answered; `absent` is proven: heard twice, apart, as the protocol demands. */
export type Held =
  | { about: 'note'; dpsId: string; held: 'absent' | ({ accessKey: string } & FoundDocument) }
  | { about: 'cancellation'; accessKey: string; held: 'absent' | 'event' };

/**
 * Our own settled invoices; what is open or being canceled is the protocol's, and an imported one has no DPS of ours. A test
 * invoice is asked for only while it lives.
 */
export const isReconcilable = (state: InvoiceState, testRetentionSeconds: number, now: Instant): state is Invoice => {
  if (state.kind !== 'invoice' || state.origin.kind !== 'api') return false;
  const { mode, createdAt } = state.facts;
  if (mode === 'test' && (createdAt === undefined || !isBefore(now, addSeconds(createdAt, testRetentionSeconds)))) {
    return false;
  }
  return state.outcome.status !== 'open' && state.cancellation?.status !== 'pending';
};

/** One for each DPS id that was ever signed for it, sent or not; none for an id that is known to be somebody else's. */
export const reconciliationQuestions = ({ attempts, outcome }: Invoice): readonly ReconciliationQuestion[] => {
  const ours = attempts.filter(({ resolution }) => resolution !== 'foreign').map(({ dpsId }) => dpsId);
  const notes = [...new Set(ours)].map((dpsId) => ({ about: 'note' as const, dpsId }));
  if (outcome.status !== 'issued' || outcome.accessKey === undefined) return notes;
  return [...notes, { about: 'cancellation', accessKey: outcome.accessKey }];
};

/** The difference that one answer shows, if any. */
export const differenceOf = (invoice: Invoice, held: Held): Difference | undefined =>
  held.about === 'note' ? noteDifference(invoice, held) : cancellationDifference(invoice, held);

const noteDifference = (invoice: Invoice, { dpsId, held }: Held & { about: 'note' }): Difference | undefined => {
  const { outcome, attempts } = invoice;
  const sent = attempts.filter((attempt) => attempt.dpsId === dpsId);
  if (sent.length === 0) return undefined;
  const owner = held === 'absent' ? undefined : compareSent(sent, held);
  // A document that nobody vouches for shows no difference: whoever altered it may have altered its access key too.
  if (held !== 'absent' && owner === 'unknown' && isDoubtful(held)) return undefined;
  if (outcome.status === 'issued') {
    const isIts = dpsId === issuedDpsId(invoice);
    if (held === 'absent') return isIts ? { kind: 'issued_but_absent', ...keyOf(outcome.accessKey) } : undefined;
    if (!isIts) return { kind: 'second_note', accessKey: held.accessKey };
    if (held.accessKey !== outcome.accessKey) return { kind: 'access_key_differs', accessKey: held.accessKey };
    return owner === 'other' ? { kind: 'digest_differs', accessKey: held.accessKey } : undefined;
  }
  if (held === 'absent') return undefined;
  // One that cannot be compared any more stands under an id that only we give out: it counts as found.
  if (owner === 'other') return { kind: 'foreign_note', accessKey: held.accessKey };
  const kind = outcome.status === 'failed' ? 'failed_but_found' : 'indeterminate_but_found';
  return { kind, accessKey: held.accessKey };
};

const cancellationDifference = (
  { outcome, cancellation }: Invoice,
  { accessKey, held }: Held & { about: 'cancellation' },
): Difference | undefined => {
  if (outcome.status !== 'issued' || outcome.accessKey !== accessKey) return undefined;
  const isCanceled = cancellation?.status === 'succeeded';
  if (held === 'absent') return isCanceled ? { kind: 'canceled_here_only', accessKey } : undefined;
  return isCanceled ? undefined : { kind: 'canceled_there_only', accessKey };
};

/** Of the send that became the note; an invoice that support settled has none marked, and then it is the last. */
const issuedDpsId = ({ attempts }: Invoice): string | undefined =>
  (attempts.find(({ resolution }) => resolution === 'authorized') ?? lastOf(attempts))?.dpsId;

const keyOf = (accessKey: string | undefined): { accessKey?: string } => (accessKey === undefined ? {} : { accessKey });

/**
 * Whether a round looks at this invoice: all whose outcome says that no note may exist, and of the others so many of a hundred,
 * others in each round.
 */
export const isInSample = (isIssued: boolean, stream: string, round: number, percent: number): boolean =>
  !isIssued || hash(`${round}/${stream}`) % 100 < percent;

/** FNV-1a, 32 bits: the same sample again after a restart. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return value;
};

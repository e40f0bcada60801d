import { type Instant, isBefore } from '../../domain/common/time.js';
import { saidTo } from '../../domain/invoice/send-decisions.js';
import {
  isLookedUp,
  type LookupKind,
  type LookupProgress,
  progressAfter,
  progressOfSend,
  provesAbsence,
  UNSENT,
} from '../../domain/invoice/send-steps.js';
import { isDoubtful } from '../../domain/invoice/sent-document.js';
import { isCertificateReason, type LookupResult } from '../../ports/authorizer.js';
import { decideAndAppend } from './decide-and-append.js';
import { noticesOf, sendNotice } from './deps.js';
import type { Job, LookedUp, OpenWork, Seen, Sending } from './send-definition.js';

/** The result of a look-up: a document was recorded, or what was seen was not. */
export type Shown = { isRecorded: true } | { isRecorded: false; seen: Seen };

const RECORDED: Shown = { isRecorded: true };
export const NOTHING_SEEN: Shown = { isRecorded: false, seen: undefined };

type Answer<K extends Sending> = { askedAt: Instant; result: LookupResult<K['found']> };

export const lookUp = async <K extends Sending>(
  { definition, deps }: Job<K>,
  work: K['work'],
  of: LookedUp<K>,
  until?: Instant,
): Promise<Answer<K>> => {
  const askedAt = deps.clock.now();
  return { askedAt, result: await definition.find(definition.callerOf(work), work, of, deps, until) };
};

/** Whether the authorizer named a document by its key and did not give the document: a late commit may have come, so no absence counts. */
export const existsUnread = (result: LookupResult<unknown>): boolean =>
  result.kind === 'inconclusive' && result.exists === true;

/** Records what a look-up has shown: a document, a proven absence, or progress. */
export const recordLookUp = async <K extends Sending>(
  job: Job<K>,
  open: OpenWork<K>,
  of: LookedUp<K>,
  { askedAt, result }: Answer<K>,
): Promise<Shown> => {
  const { definition, stream, deps } = job;
  const { work } = open;
  if (result.kind === 'inconclusive') {
    sendNotice(deps, { kind: 'lookup_inconclusive', stream, detail: result.reason });
  }
  if (result.kind !== 'found') {
    const kind = kindOf(result);
    await recordNotFound(job, open, of, { askedAt, kind });
    return kind === 'found' ? { isRecorded: false, seen: 'unknown' } : NOTHING_SEEN;
  }
  const { found } = result;
  const owner = definition.ownerOf(work, found);
  for (const notice of noticesOf(stream, found, owner)) sendNotice(deps, notice);
  if (owner === 'ours') {
    // Where the log has no send of this request, the document is that of an earlier request of ours, and no attempt is named.
    const key = definition.keyOf(work, isSend<K>(of) ? of.attempt : 0);
    const at = deps.clock.now();
    await decideAndAppend(stream, definition.sites.lookup, deps, (state) =>
      definition.decideFound(state, key, found, at),
    );
    return RECORDED;
  }
  if (owner === 'other') {
    await definition.recordOther(open, of, found, deps);
    return RECORDED;
  }
  // A resend beside a document of an unknown owner could make a second note, so a later look-up or time decides.
  if (owner === 'unknown' && !isDoubtful(found)) {
    sendNotice(deps, { kind: 'lookup_inconclusive', stream, detail: NOT_COMPARABLE });
  }
  await recordNotFound(job, open, of, { askedAt, kind: 'found' });
  return { isRecorded: false, seen: owner };
};

const kindOf = (result: Exclude<LookupResult<unknown>, { kind: 'found' }>): LookupKind => {
  if (result.kind === 'absent') return 'absent';
  if (existsUnread(result)) return 'found';
  return isCertificateReason(result.reason) ? 'not_asked' : 'inconclusive';
};

/** Without its key nothing tells whether the document is ours. It is not recorded and nothing is sent again, so time ends the work. */
const NOT_COMPARABLE = 'a document stands under its id, and the key of what was sent is gone';

const isSend = <K extends Sending>(of: LookedUp<K>): of is K['send'] => of !== UNSENT;

/**
 * Records an answer without our document; nothing where the log has no send that the answer could settle. Two absences prove the absence of a send;
 * after an E0840 one may settle a cancellation (ADR 8).
 */
const recordNotFound = async <K extends Sending>(
  job: Job<K>,
  open: OpenWork<K>,
  send: LookedUp<K>,
  answer: { askedAt: Instant; kind: LookupKind },
): Promise<void> => {
  if (!isSend<K>(send)) return;
  const { definition, stream, deps } = job;
  const { work } = open;
  const key = definition.keyOf(work, send.attempt);
  const progress = await storedProgress(job, send, key);
  const { askedAt, kind } = answer;
  const absence = kind === 'absent' ? definition.absenceOf(work, send) : 'proves nothing';
  const counts = absence !== 'proves nothing' && !isBefore(askedAt, send.deadlineAt);
  const isProven = counts && provesAbsence(send, progress.firstAbsentAt, askedAt, deps.limits);
  if (isProven || absence === 'one may settle it') {
    const firstAbsentAt = progress.firstAbsentAt ?? askedAt;
    const proof = { ...key, firstAbsentAt, now: askedAt, answer: saidTo(open.loaded.events, key) };
    const isDecided = await decideAndAppend(stream, definition.sites.lookup, deps, (state) =>
      definition.decideAbsence(state, proof, deps.limits),
    );
    if (isDecided) return;
  }
  await deps.lookups.put(stream, definition.lookupKey(key), progressAfter(progress, answer, counts));
};

export const progressOf = async <K extends Sending>(job: Job<K>, work: K['work']): Promise<LookupProgress> => {
  const last = job.definition.sendsOf(work).at(-1);
  if (last === undefined || !isLookedUp(last)) return { asked: 0 };
  return await storedProgress(job, last, job.definition.keyOf(work, last.attempt));
};

const storedProgress = async <K extends Sending>(
  { definition, stream, deps }: Job<K>,
  send: K['send'],
  key: K['key'],
): Promise<LookupProgress> =>
  progressOfSend(await deps.lookups.get(stream, definition.lookupKey(key)), send, deps.clock.now());

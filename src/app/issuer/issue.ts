import { completesAbsence, type LookupProgress, nextIssueStep } from '../../domain/invoice/next-issue-step.js';
import {
  conclude,
  recordAbsence,
  recordAuthorized,
  recordConflict,
  saidToExist,
} from '../../domain/invoice/record-issuance.js';
import { isDoubtful } from '../../domain/invoice/sent-document.js';
import { type Invoice, type IssueAttempt, lastOf } from '../../domain/invoice/state.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { type Instant, isBefore } from '../../domain/shared/time.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import type { AuthorizedNote, LookupResult } from '../../ports/authorizer.js';
import { type LoadedInvoice, loadInvoice, loadSealedInvoice } from '../read/read-invoice.js';
import { blockDpsSeries } from './allocate-number.js';
import { authorizedFrom, compareNote, foundNote, sameContent } from './authorized.js';
import { done, doubtsOf, type IssuerDeps, type Next, tell } from './deps.js';
import { inLookUpPlace, lastLookUntil } from './look-up-places.js';
import { recordDecision } from './record.js';
import { sendAttempt } from './send-attempt.js';

/** Takes an accepted invoice as far as it can go now (design section 6). Safe to call at any time, by any number of workers. */
export const workOnIssue = async (stream: StreamName, deps: IssuerDeps): Promise<Next> => {
  for (;;) {
    const loaded = await loadInvoice(stream, deps.store);
    const step = nextIssueStep(loaded.state, deps.clock.now(), deps.limits, await progressOf(stream, loaded, deps));
    switch (step.do) {
      case 'nothing':
        return done;
      case 'wait':
        return { kind: 'later', at: step.until };
      case 'send':
      case 'resend': {
        const next = await sendAttempt(stream, loaded, step, deps);
        if (next !== 'look again') return next;
        break;
      }
      case 'look_up': {
        const next = await inLookUpPlace(deps, () => lookUp(stream, loaded, step.attempt, deps));
        if (next !== 'look again') return next;
        break;
      }
      case 'conclude': {
        const conclude = () => concludeIssue(stream, step, deps, lastLookUntil(deps.clock.now()));
        const next = await (step.lookUpFirst === undefined ? conclude() : inLookUpPlace(deps, conclude));
        if (next !== undefined && next !== 'look again') return next;
        break;
      }
      default:
        return unreachable(step);
    }
  }
};

/**
 * The sweeper's part: the verdict of time if it is due, and nothing else; it never starts a send. The verdict depends on the log and
 * the clock alone; the look-up before the verdict is over at `lookUntil`.
 */
export const concludeIssueIfDue = async (
  stream: StreamName,
  deps: IssuerDeps,
  lookUntil = lastLookUntil(deps.clock.now()),
): Promise<void> => {
  const { state } = await loadSealedInvoice(stream, deps.store);
  const step = nextIssueStep(state, deps.clock.now(), deps.limits, { asked: 0 });
  if (step.do === 'conclude') await concludeIssue(stream, step, deps, lookUntil);
};

const concludeIssue = async (
  stream: StreamName,
  step: Extract<ReturnType<typeof nextIssueStep>, { do: 'conclude' }>,
  deps: IssuerDeps,
  lookUntil: Instant,
): Promise<void> => {
  // Taken before the look-up: an attempt that begins after it gives the verdict another time, and wants a look-up of its own.
  const now = deps.clock.now();
  const last =
    step.lookUpFirst === undefined ? 'not found' : await lastLook(stream, step.lookUpFirst.attempt, deps, lookUntil);
  // A note that was found changes the state: whoever called looks at it again.
  if (last === 'found') return;
  await recordDecision(stream, 'conclude_issue', deps, (state) =>
    conclude(state, step.verdict, now, deps.limits, last === 'found, not recorded'),
  );
};

/** The look-up before a verdict. It has its chance, and whatever fails on its way, the verdict follows. */
const lastLook = async (
  stream: StreamName,
  number: number,
  deps: IssuerDeps,
  until: Instant,
): Promise<'found' | 'not found' | 'found, not recorded'> => {
  let isFound = false;
  try {
    const loaded = await loadInvoice(stream, deps.store);
    const attempt =
      loaded.state.kind === 'invoice' ? loaded.state.attempts.find((one) => one.attempt === number) : undefined;
    if (loaded.state.kind !== 'invoice' || attempt === undefined) return 'not found';
    const asked = await ask(loaded.state, attempt, deps, until);
    isFound = asked.result.kind === 'found';
    return await act(stream, loaded, attempt, asked, deps);
  } catch (error) {
    tell(deps, { notice: 'last_look_up_failed', stream, detail: error instanceof Error ? error.name : 'not an error' });
    return isFound ? 'found, not recorded' : 'not found';
  }
};

const lookupKey = (attempt: IssueAttempt): string => `issue/${attempt.attempt}`;

const progressOf = async (stream: StreamName, { state }: LoadedInvoice, deps: IssuerDeps): Promise<LookupProgress> => {
  const last = state.kind === 'invoice' ? lastOf(state.attempts) : undefined;
  if (last === undefined || (last.resolution !== 'open' && last.resolution !== 'unknown')) return { asked: 0 };
  return (await deps.lookups.get(stream, lookupKey(last))) ?? { asked: 0 };
};

const lookUp = async (
  stream: StreamName,
  loaded: LoadedInvoice,
  attempt: IssueAttempt,
  deps: IssuerDeps,
): Promise<void> => {
  if (loaded.state.kind === 'invoice') await act(stream, loaded, attempt, await ask(loaded.state, attempt, deps), deps);
};

type Asked = { askedAt: Instant; result: LookupResult<AuthorizedNote> };

const ask = async ({ facts }: Invoice, { dpsId }: IssueAttempt, deps: IssuerDeps, until?: Instant): Promise<Asked> => {
  const askedAt = deps.clock.now();
  return { askedAt, result: await deps.authorizer.findByDps(facts, dpsId, until) };
};

/** Records what a look-up has shown. */
const act = async (
  stream: StreamName,
  { state, events }: LoadedInvoice,
  attempt: IssueAttempt,
  { askedAt, result }: Asked,
  deps: IssuerDeps,
): Promise<'found' | 'not found'> => {
  if (state.kind !== 'invoice') return 'not found';
  if (result.kind === 'found') {
    const { found } = result;
    const owner = compareNote(state, found);
    for (const doubt of doubtsOf(stream, foundNote(found), owner)) tell(deps, doubt);
    if (owner === 'ours') {
      const data = authorizedFrom(found, attempt.attempt, 'lookup', deps.clock.now());
      await recordDecision(stream, 'record_issue_lookup', deps, (current) => recordAuthorized(current, data));
      return 'found';
    }
    if (owner === 'other') {
      const { accessKey, dpsDigest: foundDigest } = found;
      const conflict = {
        ...{ attempt: attempt.attempt, dpsId: attempt.dpsId, accessKey, foundDigest },
        sameContent: sameContent(found, events),
        at: deps.clock.now(),
      };
      await blockDpsSeries(state.facts, attempt, events[events.length - 1], deps);
      await recordDecision(stream, 'record_issue_lookup', deps, (current) => recordConflict(current, conflict));
      tell(deps, { notice: 'number_conflict', stream });
      return 'found';
    }
    // Neither ours nor somebody else's: another number could mean a second note, so only another look or time may settle it.
    if (!isDoubtful(foundNote(found))) tell(deps, { notice: 'lookup_inconclusive', stream, detail: NOT_COMPARABLE });
  }
  if (result.kind === 'inconclusive') tell(deps, { notice: 'lookup_inconclusive', stream, detail: result.reason });
  await noteAnswer(stream, state, attempt, { askedAt, absent: result.kind === 'absent' }, deps);
  return 'not found';
};

/** The note may be ours, and nobody can tell: the note is not recorded and nothing is sent again, so time ends the invoice. */
const NOT_COMPARABLE = 'a note stands under its DPS id, and the key of what was sent is gone';

/** Two absences prove; the first is kept in R until the second comes. */
const noteAnswer = async (
  stream: StreamName,
  invoice: Invoice,
  attempt: IssueAttempt,
  { askedAt, absent }: { askedAt: string; absent: boolean },
  deps: IssuerDeps,
): Promise<void> => {
  const memo: LookupProgress = (await deps.lookups.get(stream, lookupKey(attempt))) ?? { asked: 0 };
  const counts = absent && !isBefore(askedAt, attempt.deadlineAt) && !saidToExist(invoice, attempt.dpsId);
  const { firstAbsentAt } = memo;
  if (counts && firstAbsentAt !== undefined && completesAbsence(attempt, firstAbsentAt, askedAt, deps.limits)) {
    const proof = { attempt: attempt.attempt, firstAbsentAt, now: askedAt };
    await recordDecision(stream, 'record_issue_lookup', deps, (state) => recordAbsence(state, proof, deps.limits));
    return;
  }
  const first = firstAbsentAt ?? (counts ? askedAt : undefined);
  await deps.lookups.put(stream, lookupKey(attempt), {
    asked: memo.asked + 1,
    lastAskedAt: askedAt,
    ...(first === undefined ? {} : { firstAbsentAt: first }),
  });
};

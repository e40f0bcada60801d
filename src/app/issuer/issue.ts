import { completesAbsence, type LookupProgress, nextIssueStep } from '../../domain/invoice/next-issue-step.js';
import {
  conclude,
  recordAbsence,
  recordAuthorized,
  recordConflict,
  saidToExist,
} from '../../domain/invoice/record-issuance.js';
import { type Invoice, type IssueAttempt, lastOf } from '../../domain/invoice/state.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { isBefore } from '../../domain/shared/time.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import { type LoadedInvoice, loadInvoice } from '../read/read-invoice.js';
import { blockDpsSeries } from './allocate-number.js';
import { authorizedFrom, compareNote, sameContent } from './authorized.js';
import { done, type IssuerDeps, type Next } from './deps.js';
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
      case 'look_up':
        await lookUp(stream, loaded, step.attempt, deps);
        break;
      case 'conclude':
        await concludeIssue(stream, loaded, step, deps);
        break;
      default:
        return unreachable(step);
    }
  }
};

/** The sweeper's part: the verdict of time if it is due, and nothing else; it never starts a send. */
export const concludeIssueIfDue = async (stream: StreamName, deps: IssuerDeps): Promise<void> => {
  const loaded = await loadInvoice(stream, deps.store);
  const step = nextIssueStep(loaded.state, deps.clock.now(), deps.limits, { asked: 0 });
  if (step.do === 'conclude') await concludeIssue(stream, loaded, step, deps);
};

const concludeIssue = async (
  stream: StreamName,
  loaded: LoadedInvoice,
  step: Extract<ReturnType<typeof nextIssueStep>, { do: 'conclude' }>,
  deps: IssuerDeps,
): Promise<void> => {
  // Taken before the look-up: an attempt that begins after it gives the verdict another time, and wants a look-up of its own.
  const now = deps.clock.now();
  // A note that was found changes the state: whoever called looks at it again.
  if (step.lookUpFirst !== undefined && (await lookUp(stream, loaded, step.lookUpFirst, deps)) === 'found') return;
  await recordDecision(stream, 'conclude_issue', deps, (state) => conclude(state, step.verdict, now, deps.limits));
};

const lookupKey = (attempt: IssueAttempt): string => `issue/${attempt.attempt}`;

const progressOf = async (stream: StreamName, { state }: LoadedInvoice, deps: IssuerDeps): Promise<LookupProgress> => {
  const last = state.kind === 'invoice' ? lastOf(state.attempts) : undefined;
  if (last === undefined || (last.resolution !== 'open' && last.resolution !== 'unknown')) return { asked: 0 };
  return (await deps.lookups.get(stream, lookupKey(last))) ?? { asked: 0 };
};

const lookUp = async (
  stream: StreamName,
  { state, events }: LoadedInvoice,
  attempt: IssueAttempt,
  deps: IssuerDeps,
): Promise<'found' | 'not found'> => {
  if (state.kind !== 'invoice') return 'not found';
  const askedAt = deps.clock.now();
  const result = await deps.authorizer.findByDps(state.facts, attempt.dpsId);
  const verdict = result.kind === 'found' ? compareNote(state, result.found) : undefined;
  if (result.kind === 'found' && verdict === 'ours') {
    const data = authorizedFrom(result.found, attempt.attempt, 'lookup', deps.clock.now());
    await recordDecision(stream, 'record_issue_lookup', deps, (current) => recordAuthorized(current, data));
    return 'found';
  }
  if (result.kind === 'found' && verdict === 'other') {
    const { accessKey, dpsDigest: foundDigest } = result.found;
    const conflict = {
      ...{ attempt: attempt.attempt, dpsId: attempt.dpsId, accessKey, foundDigest },
      sameContent: sameContent(result.found, events),
      at: deps.clock.now(),
    };
    await blockDpsSeries(state.facts, attempt, events[events.length - 1], deps);
    await recordDecision(stream, 'record_issue_lookup', deps, (current) => recordConflict(current, conflict));
    deps.notify({ notice: 'number_conflict', stream });
    return 'found';
  }
  if (verdict === 'unknown') deps.notify({ notice: 'lookup_inconclusive', stream, detail: NOT_COMPARABLE });
  if (result.kind === 'inconclusive') deps.notify({ notice: 'lookup_inconclusive', stream, detail: result.reason });
  await noteAnswer(stream, state, attempt, { askedAt, absent: result.kind === 'absent' }, deps);
  return 'not found';
};

/** It may be ours, and nobody can tell: it is neither recorded nor sent again, and time ends the invoice. */
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

import { APPEND_GRACE_SECONDS } from '../../src/app/issuing/protocol.js';
import { existsCodes } from '../../src/domain/common/authorizer-code.js';
import { addSeconds, isBefore } from '../../src/domain/common/time.js';
import {
  decideAbsence,
  decideAuthorized,
  decideVerdict,
  isKnownToExist,
} from '../../src/domain/invoice/decide-issuance.js';
import type { Decision } from '../../src/domain/invoice/decision.js';
import { type IssueStep, nextIssueStep, verdictByTime } from '../../src/domain/invoice/next-issue-step.js';
import { decideAnswer, decideAttempt } from '../../src/domain/invoice/send-decisions.js';
import { provesAbsence } from '../../src/domain/invoice/send-steps.js';
import { authorizedData } from '../support/fixture/invoice.js';
import type { Move } from './explore.js';
import { appended, invoiceOf, limits, type Rules, SWEEP_SECONDS, type World } from './waking-world.js';

/** As `src/workers/sweeper.ts` has them. */
const QUIET = { queued: 30, started: 120 };

/** All possible next moves; there are none after the outcome. */
export const movesOf =
  (rules: Rules) =>
  (world: World): readonly Move<World>[] => {
    if (invoiceOf(world).outcome.status !== 'open') return [];
    const now = [...forgetting(world), ...handling(world), ...sweeping(rules, world), ...arriving(world)];
    const isBusy = isDue(world) || !isBefore(world.now, world.nextSweepAt);
    return isBusy ? now : [...now, passing(world)];
  };

const isDue = ({ workItem, now }: World): boolean => typeof workItem === 'object' && !isBefore(now, workItem.dueAt);

const forgetting = (world: World): readonly Move<World>[] => {
  const { workItem, budget } = world;
  if (typeof workItem !== 'object' || budget.forgotten === 0) return [];
  return [
    {
      name: 'the queue loses the work item',
      after: { ...world, workItem: 'none', budget: { ...budget, forgotten: budget.forgotten - 1 } },
    },
  ];
};

const handling = (world: World): readonly Move<World>[] => {
  if (!isDue(world)) return [];
  if (world.isPoisonous)
    return [{ name: 'the work item fails too often and is parked', after: { ...world, workItem: 'parked' } }];
  const step = nextIssueStep(world.state, world.now, limits, world.progress);
  switch (step.do) {
    case 'nothing':
      return [{ name: 'there is nothing to do', after: { ...world, workItem: 'none' } }];
    case 'wait':
      return [{ name: 'waits', after: { ...world, workItem: { dueAt: step.until } } }];
    case 'send':
    case 'resend':
      return sending(world, step);
    case 'look_up':
      return [{ name: 'looks up', after: lookedUp(world) }];
    case 'conclude':
      return [{ name: 'concludes', after: concluded(world, step) }];
  }
};

const sending = (world: World, { attempt }: Extract<IssueStep, { do: 'send' | 'resend' }>): readonly Move<World>[] => {
  const { authorizer, budget, now: at } = world;
  const deadlineAt = addSeconds(at, APPEND_GRACE_SECONDS + limits.sendSeconds);
  const document = { series: '1', number: 1, dpsId: 'DPS1', digest: 'ours', signedDpsGzip: '' };
  const data = { attempt, ...document, attemptedAt: at, deadlineAt };
  const begun = recorded(world, decideAttempt(world.state, { type: 'IssuanceAttempted', data }));
  const unknown = (answer: { reason: string; codes: readonly string[] }): Decision =>
    decideAnswer(begun.state, { type: 'IssuanceOutcomeUnknown', data: { attempt, at, ...answer } });
  const noted = { ...begun, authorizer: { hasNote: true, isUnderWay: false } };
  const exists = { reason: 'exists', codes: existsCodes.dps };
  const moves: Move<World>[] = authorizer.hasNote
    ? [{ name: 'sends, and hears that the DPS exists', after: recorded(begun, unknown(exists)) }]
    : [{ name: 'sends, and is authorized', after: recorded(noted, decideAuthorized(begun.state, noteOf(begun))) }];
  if (budget.lost > 0) {
    const after = recorded(
      { ...begun, budget: { ...budget, lost: budget.lost - 1 }, authorizer: { ...authorizer, isUnderWay: true } },
      unknown({ reason: 'timeout', codes: [] }),
    );
    moves.push({ name: 'sends, and hears nothing', after });
  }
  return moves;
};

const arriving = (world: World): readonly Move<World>[] =>
  world.authorizer.isUnderWay
    ? [{ name: 'the request becomes a note', after: { ...world, authorizer: { hasNote: true, isUnderWay: false } } }]
    : [];

const lookedUp = (world: World): World => {
  const { now, progress } = world;
  if (world.authorizer.hasNote) return recorded(world, decideAuthorized(world.state, noteOf(world)));
  const last = invoiceOf(world).attempts.at(-1);
  if (last === undefined) return world;
  const counts = !isBefore(now, last.deadlineAt) && !isKnownToExist(invoiceOf(world), last.dpsId);
  const firstAbsentAt = progress.firstAbsentAt ?? (counts ? now : undefined);
  if (firstAbsentAt !== undefined && provesAbsence(last, firstAbsentAt, now, limits)) {
    const proven = decideAbsence(world.state, { attempt: last.attempt, firstAbsentAt, now }, limits);
    if (!('refused' in proven)) return recorded(world, proven);
  }
  const asked = { asked: progress.asked + 1, lastAskedAt: now };
  return { ...world, progress: firstAbsentAt === undefined ? asked : { ...asked, firstAbsentAt } };
};

const concluded = (world: World, step: Extract<IssueStep, { do: 'conclude' }>): World => {
  const asked = step.lookUpFirst === undefined ? world : lookedUp(world);
  return recorded(asked, decideVerdict(asked.state, step.verdict, asked.now, limits, false));
};

/** The timers are in the database, not in the queue. A second put neither advances a waiting work item nor wakes a parked one. */
const sweeping = (rules: Rules, world: World): readonly Move<World>[] => {
  if (isBefore(world.now, world.nextSweepAt)) return [];
  const swept: World = { ...world, nextSweepAt: addSeconds(world.now, SWEEP_SECONDS) };
  const step = nextIssueStep(world.state, world.now, limits, { asked: 0 });
  const settled = rules.concludesWhatIsDue && step.do === 'conclude' ? concluded(swept, step) : swept;
  const quietSeconds = invoiceOf(world).attempts.length === 0 ? QUIET.queued : QUIET.started;
  const isQuiet = !isBefore(world.now, addSeconds(world.lastEventAt, quietSeconds));
  const isFromSweep = rules.reputsQuietWork && isQuiet && settled.workItem === 'none';
  return [{ name: 'sweeps', after: isFromSweep ? { ...settled, workItem: { dueAt: world.now } } : settled }];
};

const passing = (world: World): Move<World> => {
  const { workItem, nextSweepAt } = world;
  const now = typeof workItem === 'object' && isBefore(workItem.dueAt, nextSweepAt) ? workItem.dueAt : nextSweepAt;
  return { name: `time passes to ${now.slice(11, 19)}`, after: { ...world, now } };
};

const recorded = (world: World, decision: Decision): World =>
  'refused' in decision ? world : appended(world, decision.events);

const noteOf = (world: World) => ({
  ...authorizedData(invoiceOf(world).attempts.at(-1)?.attempt ?? 1, 0),
  at: world.now,
});

/** Invariants 2 and 3 of docs/architecture.md#invariants: no `failed` over a note, and an outcome at most one sweep after its time. */
export const breachOf = (world: World): string | undefined => {
  const invoice = invoiceOf(world);
  const { outcome } = invoice;
  if (outcome.status === 'failed' && world.authorizer.hasNote) return 'failed over an existing note';
  if (outcome.status !== 'open') return undefined;
  const lastSweepAt = addSeconds(verdictByTime(invoice, limits).failedAt, SWEEP_SECONDS);
  return isBefore(lastSweepAt, world.now) ? 'open for longer than its time and a sweep' : undefined;
};

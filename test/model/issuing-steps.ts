import { APPEND_GRACE_SECONDS } from '../../src/app/issuing/protocol.js';
import { existsCodes } from '../../src/domain/common/authorizer-code.js';
import { addSeconds, isBefore, laterOf } from '../../src/domain/common/time.js';
import type { Decision } from '../../src/domain/invoice/decision.js';
import { absenceGapSeconds } from '../../src/domain/invoice/limits.js';
import type { Invoice, InvoiceState } from '../../src/domain/invoice/state.js';
import { authorizedData, conflictFound, dataOf } from '../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../support/fixture/uncatalogued-code.js';
import type { Rules } from './issuing-rules.js';
import { appendTo, idle, type Worker, type World } from './issuing-world.js';

type Step = { name: string; after: World; holds: Worker };

export const stepsOf = (rules: Rules, world: World, worker: Worker): readonly Step[] => {
  switch (worker.at) {
    case 'idle':
      return look(rules, world);
    case 'decided':
      return act(rules, world, worker);
    case 'sending':
      return send(rules, world, worker);
    case 'answered':
      return [recordAnswer(rules, world, worker)];
    case 'heard':
      return [recordHeard(rules, world, worker)];
  }
};

export const progressOf = ({ memos }: World, state: InvoiceState) => {
  const last = state.kind === 'invoice' ? state.attempts.at(-1) : undefined;
  const isOpen = last?.resolution === 'open' || last?.resolution === 'unknown';
  return (isOpen ? memos[last.attempt] : undefined) ?? { asked: 0 };
};

export const look = (rules: Rules, world: World): readonly Step[] => {
  const { log, now } = world;
  const step = rules.nextIssueStep(log.state, now, rules.limits, progressOf(world, log.state));
  if (step.do === 'wait' || step.do === 'nothing') return [];
  const holds: Worker = { at: 'decided', revision: log.events.length, seen: log.state, step, decidedAt: now };
  return [{ name: `decides to ${step.do}`, after: world, holds }];
};

const act = (rules: Rules, world: World, worker: Extract<Worker, { at: 'decided' }>): readonly Step[] => {
  const { step } = worker;
  if (step.do === 'send' || step.do === 'resend') return [attempt(rules, world, worker, step)];
  const asked = step.do === 'look_up' ? step.send : step.lookUpFirst;
  if (asked === undefined || (step.do === 'conclude' && !rules.looksUpBeforeVerdict)) {
    if (step.do !== 'conclude') return [];
    return [{ name: 'concludes', after: concluded(rules, world, step, worker.decidedAt), holds: idle }];
  }
  const { ours, foreign } = world.authorizer;
  const heard = { at: 'heard' as const, seen: worker.seen, step, askedAt: worker.decidedAt };
  if (foreign.includes(asked.number))
    return [{ name: 'hears foreign', after: world, holds: { ...heard, found: 'foreign' } }];
  if (!ours.includes(asked.number))
    return [{ name: 'hears absent', after: world, holds: { ...heard, found: 'absent' } }];
  const found: Step = { name: 'hears ours', after: world, holds: { ...heard, found: 'ours' } };
  const shownFrom = addSeconds(asked.deadlineAt, absenceGapSeconds(rules.limits));
  const isShown = world.nature.isPrompt === true && !isBefore(world.now, shownFrom);
  const spent = (fault: 'hidden' | 'doubtful'): World => ({
    ...world,
    budget: { ...world.budget, [fault]: world.budget[fault] - 1 },
  });
  const steps = [found];
  if (world.budget.hidden > 0 && !isShown)
    steps.push({ name: 'hears absent of what is there', after: spent('hidden'), holds: { ...heard, found: 'absent' } });
  if (world.budget.doubtful > 0)
    steps.push({
      name: 'hears of a note whose owner is unknown',
      after: spent('doubtful'),
      holds: { ...heard, found: 'doubtful' },
    });
  return steps;
};

const attempt = (
  rules: Rules,
  world: World,
  { revision, seen }: Extract<Worker, { at: 'decided' }>,
  step: Extract<Extract<Worker, { at: 'decided' }>['step'], { do: 'send' | 'resend' }>,
): Step => {
  const number = step.do === 'resend' ? step.of.number : numbersGiven(world) + 1;
  const data = {
    attempt: step.attempt,
    series: '1',
    number,
    dpsId: `DPS${number}`,
    digest: 'ours',
    signedDpsGzip: '',
    attemptedAt: world.now,
    deadlineAt: addSeconds(world.now, APPEND_GRACE_SECONDS + rules.limits.sendSeconds),
  };
  const decision = rules.decideAttempt(seen, { type: 'IssuanceAttempted', data });
  const isLost = rules.appendsAtExactRevision && revision !== world.log.events.length;
  if ('refused' in decision || isLost) return { name: 'loses the append', after: world, holds: idle };
  const holds: Worker = { at: 'sending', attempt: step.attempt, number, attemptedAt: world.now };
  return {
    name: `records attempt ${step.attempt} with number ${number}`,
    after: { ...world, log: appendTo(world.log, decision.events) },
    holds,
  };
};

const send = (rules: Rules, world: World, worker: Extract<Worker, { at: 'sending' }>): readonly Step[] => {
  const { authorizer, budget } = world;
  const { attempt: of, number } = worker;
  const answered = (answer: Extract<Worker, { at: 'answered' }>['answer']): Worker => ({
    at: 'answered',
    attempt: of,
    number,
    answer,
  });
  const begunInTime = isBefore(world.now, addSeconds(worker.attemptedAt, APPEND_GRACE_SECONDS));
  if (!begunInTime && rules.givesUpLateSends) {
    return [{ name: 'gives a late send up', after: world, holds: answered('not sent') }];
  }
  const steps: Step[] = [];
  const isTaken = authorizer.foreign.includes(number) || authorizer.ours.includes(number);
  steps.push(
    isTaken
      ? { name: 'hears that the DPS exists', after: world, holds: answered('exists') }
      : { name: 'is authorized', after: withNote(world, number), holds: answered('done') },
  );
  if (budget.unlocked > 0 && authorizer.ours.includes(number)) {
    const after = withNote({ ...world, budget: { ...budget, unlocked: budget.unlocked - 1 } }, number);
    steps.push({ name: 'is authorized over a note that stands', after, holds: answered('done') });
  }
  if (budget.echoed > 0 && !isTaken) {
    const after = withNote({ ...world, budget: { ...budget, echoed: budget.echoed - 1 } }, number);
    steps.push({ name: 'is authorized, and told that the DPS exists', after, holds: answered('exists') });
  }
  if (budget.notSent > 0) {
    const after = { ...world, budget: { ...budget, notSent: budget.notSent - 1 } };
    steps.push({ name: 'cannot connect', after, holds: answered('not sent') });
  }
  if (budget.undecided > 0) {
    const after = { ...world, budget: { ...budget, undecided: budget.undecided - 1 } };
    steps.push({ name: 'is answered without a decision', after, holds: answered('undecided') });
    const underWay = left(after, number);
    steps.push({ name: 'is so answered while its request goes on', after: underWay, holds: answered('undecided') });
  }
  if (budget.rejected > 0) {
    const after = { ...world, budget: { ...budget, rejected: budget.rejected - 1 } };
    steps.push({ name: 'is rejected', after, holds: answered('rejected') });
  }
  if (budget.refused > 0) {
    const after = { ...world, budget: { ...budget, refused: budget.refused - 1 } };
    steps.push({ name: 'is refused with an uncatalogued code', after, holds: answered('refused') });
    const refused = isTaken ? authorizer.refused : [...authorizer.refused, number];
    const underWay: World = { ...after, authorizer: { ...authorizer, refused } };
    steps.push({ name: 'is so refused while its request goes on', after: underWay, holds: answered('refused') });
  }
  if (budget.lost > 0) {
    const after = left({ ...world, budget: { ...budget, lost: budget.lost - 1 } }, number);
    steps.push({ name: 'hears nothing', after, holds: answered('unknown') });
  }
  return steps;
};

const recordAnswer = (rules: Rules, world: World, worker: Extract<Worker, { at: 'answered' }>): Step => {
  const { attempt: of, answer, number } = worker;
  const { state } = world.log;
  const at = world.now;
  const decide = (): Decision => {
    switch (answer) {
      case 'done':
        return rules.decideAuthorized(state, noteData(of, number, at));
      case 'not sent':
        return rules.decideAnswer(state, {
          type: 'IssuanceNotSent',
          data: { attempt: of, reason: 'refused', codes: [], at },
        });
      case 'rejected':
        return rules.decideRejection(state, { attempt: of }, { codes: ['E0188'] }, at);
      case 'unknown':
        return rules.decideAnswer(state, {
          type: 'IssuanceOutcomeUnknown',
          data: { attempt: of, reason: 'timeout', codes: [], at },
        });
      case 'undecided':
        return rules.decideAnswer(state, {
          type: 'IssuanceOutcomeUnknown',
          data: { attempt: of, reason: 'transient', codes: ['RNG9999'], at },
        });
      case 'refused':
        return rules.decideAnswer(state, {
          type: 'IssuanceOutcomeUnknown',
          data: { attempt: of, reason: 'uncatalogued_refusal', refused: true, codes: [UNCATALOGUED_CODE], at },
        });
      case 'exists':
        return rules.decideAnswer(state, {
          type: 'IssuanceOutcomeUnknown',
          data: { attempt: of, reason: 'exists', codes: existsCodes.dps, at },
        });
    }
  };
  return {
    name: `records the answer "${answer}"`,
    after: recorded(answer === 'done' ? withNoteBrought(world) : world, decide()),
    holds: idle,
  };
};

const recordHeard = (rules: Rules, world: World, worker: Extract<Worker, { at: 'heard' }>): Step => {
  const { step, askedAt, found } = worker;
  const asked = step.do === 'look_up' ? step.send : step.lookUpFirst;
  if (asked === undefined) return { name: 'has nothing to record', after: world, holds: idle };
  if (found === 'ours') {
    const decision = rules.decideAuthorized(world.log.state, noteData(asked.attempt, asked.number, world.now));
    return { name: 'records the note found', after: recorded(withNoteBrought(world), decision), holds: idle };
  }
  if (found === 'foreign') {
    const conflict = { ...dataOf(conflictFound(asked.attempt, 0), 'NumberConflictFound'), at: world.now };
    const decision = rules.decideNumberConflict(world.log.state, { ...conflict, dpsId: asked.dpsId });
    return { name: 'records the conflict', after: recorded(world, decision), holds: idle };
  }
  const isDoubtful = found === 'doubtful';
  const noted = isDoubtful
    ? noteDocument(rules, world, asked, askedAt)
    : noteAbsence(rules, world, worker.seen, asked, askedAt);
  const after = step.do === 'conclude' ? concluded(rules, noted, step, askedAt, isDoubtful) : noted;
  return { name: step.do === 'conclude' ? 'concludes after a last look' : 'notes the absence', after, holds: idle };
};

const noteDocument = (rules: Rules, world: World, { attempt }: { attempt: number }, askedAt: string): World => {
  const memo = rules.progressAfter(world.memos[attempt] ?? { asked: 0 }, { askedAt, kind: 'found' }, false);
  const shownAt = laterOf(world.shownAt ?? askedAt, askedAt);
  return { ...world, shownAt, memos: { ...world.memos, [attempt]: memo } };
};

const noteAbsence = (
  rules: Rules,
  world: World,
  seen: InvoiceState,
  asked: Invoice['attempts'][number],
  askedAt: string,
): World => {
  if (seen.kind !== 'invoice') return world;
  const memo = world.memos[asked.attempt] ?? { asked: 0 };
  const counts = rules.countsAsAbsence(seen, asked, askedAt);
  const { firstAbsentAt } = memo;
  if (counts && rules.provesAbsence(asked, firstAbsentAt, askedAt, rules.limits)) {
    const proof = { attempt: asked.attempt, firstAbsentAt: firstAbsentAt ?? askedAt, now: askedAt };
    return recorded(world, rules.decideAbsence(world.log.state, proof, rules.limits));
  }
  const noted = rules.progressAfter(memo, { askedAt, kind: 'absent' }, counts);
  return { ...world, memos: { ...world.memos, [asked.attempt]: noted } };
};

const concluded = (
  rules: Rules,
  world: World,
  { verdict }: { verdict: Parameters<Rules['decideVerdict']>[1] },
  askedAt: string,
  noteSeen = false,
): World => {
  const judgedAt = rules.judgesAsOfLastLookup ? askedAt : world.now;
  return recorded(world, rules.decideVerdict(world.log.state, verdict, judgedAt, rules.limits, noteSeen));
};

/** A decision on the newest state and its append are one step: an append that loses decides again. */
const recorded = (world: World, decision: Decision): World =>
  'refused' in decision || decision.events.length === 0
    ? world
    : { ...world, log: appendTo(world.log, decision.events) };

const withNoteBrought = (world: World): World => {
  const { state } = world.log;
  const isOpen = state.kind === 'invoice' && state.outcome.status === 'open';
  return isOpen ? { ...world, isNoteBrought: true } : world;
};

const noteData = (of: number, number: number, at: string) => ({
  ...authorizedData(of, 0),
  accessKey: String(number).padStart(50, '0'),
  authorizedAt: at,
  at,
});

/** A number that was taken by the loser of an append stays unused, so the state is as if it had taken none. */
const numbersGiven = ({ log: { state } }: World): number =>
  state.kind === 'invoice' ? Math.max(0, ...state.attempts.map(({ number }) => number)) : 0;

/** Other requests under way for the number have no effect any more. */
export const withNote = (world: World, number: number): World => {
  const { ours, underWay, refused } = world.authorizer;
  const authorizer = {
    ...world.authorizer,
    ours: [...ours, number].sort(),
    underWay: underWay.filter((other) => other !== number),
    refused: refused.filter((other) => other !== number),
  };
  return { ...world, authorizer };
};

export const left = (world: World, number: number): World => {
  const { ours, foreign, underWay } = world.authorizer;
  if ([...ours, ...foreign].includes(number)) return world;
  return { ...world, authorizer: { ...world.authorizer, underWay: [...underWay, number].sort() } };
};

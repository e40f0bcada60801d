import { isKnownToExist } from '../../src/domain/invoice/decide-issuance.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { evolve } from '../../src/domain/invoice/evolve.js';
import type { Limits } from '../../src/domain/invoice/limits.js';
import type { IssueStep } from '../../src/domain/invoice/next-issue-step.js';
import type { LookupProgress } from '../../src/domain/invoice/send-steps.js';
import { firstSent, type Invoice, type InvoiceState, initialInvoice } from '../../src/domain/invoice/state.js';
import { accepted, limits as specLimits, T0 } from '../support/fixture/invoice.js';
import { createNames, type Names } from './explore.js';

/** Short, so that every kind of verdict lies within a few sends; their order is the real one's. */
export const limits: Limits = {
  ...specLimits,
  queuedSeconds: 4,
  processingSeconds: 8,
  sendSeconds: 1,
  lookupIntervalsSeconds: [6, 1],
};

/** The invoice's stream, with what was folded out of it. */
type Log = { events: readonly InvoiceEvent[]; state: InvoiceState };

/** What one process holds in its memory, and loses when it dies. `revision`: how much of the log it had read; `seen`: what it read. */
export type Worker =
  | { at: 'idle' }
  | {
      at: 'decided';
      revision: number;
      seen: InvoiceState;
      step: Exclude<IssueStep, { do: 'wait' | 'nothing' }>;
      decidedAt: string;
    }
  | { at: 'sending'; attempt: number; number: number; attemptedAt: string }
  | { at: 'answered'; attempt: number; number: number; answer: Answer }
  | {
      at: 'heard';
      seen: InvoiceState;
      step: LookingUp;
      askedAt: string;
      found: 'ours' | 'foreign' | 'absent' | 'doubtful';
    };

export type Answer = 'done' | 'not sent' | 'rejected' | 'refused' | 'unknown' | 'undecided' | 'exists';

type LookingUp = Extract<IssueStep, { do: 'look_up' | 'conclude' }>;

/** What may still go wrong; bounds the exploration. */
export type Budget = {
  crashes: number;
  lost: number;
  notSent: number;
  /** Answers that decide nothing; each may leave a request under way all the same. */
  undecided: number;
  rejected: number;
  /** Refusals with a code that is in no catalogue; each may leave a request under way all the same. */
  refused: number;
  /** Look-ups that do not show a note that is there. */
  hidden: number;
  /** Look-ups that show a note that is there without telling whose it is. */
  doubtful: number;
  /** Requests that become a note and are answered "this DPS exists", because the network delivered them twice. */
  echoed: number;
  /** Sends that become a second note under the same number: the authorizer's uniqueness fails. */
  unlocked: number;
};

export const noFaults: Budget = {
  crashes: 0,
  lost: 0,
  notSent: 0,
  undecided: 0,
  rejected: 0,
  refused: 0,
  hidden: 0,
  doubtful: 0,
  echoed: 0,
  unlocked: 0,
};

/** What holds in the whole of a story. Without either, everything may take as long as it likes. */
export type Nature = {
  /** The authorizer makes a note by the deadline or never, and shows it within the pause between two proofs. */
  isPrompt?: boolean;
  /** No process sleeps while it has something to do. */
  isAwake?: boolean;
  /** A request that was answered with a refusal may become a note at any time, not only by the deadline of its send. */
  outlivesRefusals?: boolean;
};

export type World = {
  now: string;
  log: Log;
  /** What the database holds about look-ups, by attempt. */
  memos: Readonly<Record<number, LookupProgress>>;
  workers: readonly Worker[];
  authorizer: {
    /** Numbers under which the authorizer holds a note of this invoice. */
    ours: readonly number[];
    /** Numbers under which the authorizer holds another party's note. */
    foreign: readonly number[];
    /** Requests of ours under way: each may become a note at any time. */
    underWay: readonly number[];
    /** Requests that were refused with an uncatalogued code: each may become a note by the deadline of its send. */
    refused: readonly number[];
  };
  budget: Budget;
  nature: Nature;
  /** A process that had received a note came to record it before there was an outcome. */
  isNoteBrought: boolean;
  /** When the newest recorded look-up that showed a note without its owner was asked for. */
  shownAt?: string;
};

export const appendTo = (log: Log, events: readonly InvoiceEvent[]): Log => ({
  events: [...log.events, ...events],
  state: events.reduce(evolve, log.state),
});

export const idle: Worker = { at: 'idle' };

/** All requests that may still become a note. */
export const requestsUnderWay = ({ underWay, refused }: World['authorizer']): readonly number[] => [
  ...underWay,
  ...refused,
];

export const startWorld = (
  workers: number,
  budget: Budget,
  foreign: readonly number[] = [],
  nature: Nature = {},
): World => ({
  now: T0,
  log: appendTo({ events: [], state: initialInvoice }, [accepted()]),
  memos: {},
  workers: Array.from({ length: workers }, () => idle),
  authorizer: { ours: [], foreign, underWay: [], refused: [] },
  budget,
  nature,
  isNoteBrought: false,
});

/** What the decisions can tell apart; which process holds what makes no difference. */
export const keysOf = (): ((world: World) => string) => {
  const names = createNames();
  return ({ now, log, memos, workers, authorizer, budget, isNoteBrought, shownAt = '' }) => {
    const { state } = log;
    if (state.kind !== 'invoice') return state.kind;
    const memo = memos[state.attempts.length];
    const held = workers.map((worker) => heldBy(worker, log, names)).sort();
    return [
      names.ofText(now),
      names.of(state, shownOf),
      memo === undefined ? '' : names.of(memo),
      names.of(authorizer),
      names.of(budget),
      isNoteBrought,
      shownAt === '' ? '' : names.ofText(shownAt),
      ...held,
    ].join();
  };
};

const shownOf = ({ attempts, outcome }: Invoice): string => {
  const last = attempts.length - 1;
  const sent = firstSent(attempts);
  const shown = attempts.map((attempt, index) => {
    const { number, resolution, codes, refused, final, undecided, attemptedAt, answeredAt, resolvedAt } = attempt;
    const isFirst = index === 0 || attempt === sent;
    const times = index === last ? [attemptedAt, answeredAt, resolvedAt] : isFirst ? [attemptedAt] : [];
    return [number, resolution, codes, refused, final, undecided, times];
  });
  return JSON.stringify([shown, outcome]);
};

const heldBy = (worker: Worker, log: Log, names: Names): string => {
  switch (worker.at) {
    case 'idle':
    case 'sending':
    case 'answered':
      return names.of(worker);
    case 'decided':
    case 'heard': {
      const { step } = worker;
      return step.do === 'send' || step.do === 'resend'
        ? names.ofText(`${step.do} ${worker.at === 'decided' && worker.revision === log.events.length}`)
        : names.of(worker, lookedUpBy);
    }
  }
};

const lookedUpBy = (worker: Extract<Worker, { at: 'decided' | 'heard' }>): string => {
  const { step, seen } = worker;
  if (step.do === 'send' || step.do === 'resend') return step.do;
  const asked = step.do === 'look_up' ? step.send : step.lookUpFirst;
  const exists = asked !== undefined && seen.kind === 'invoice' && isKnownToExist(seen, asked.dpsId);
  const verdict = step.do === 'conclude' ? step.verdict : undefined;
  const heard = worker.at === 'heard' ? [worker.askedAt, worker.found] : [worker.decidedAt];
  return JSON.stringify([worker.at, step.do, asked?.attempt, asked?.refused, exists, verdict, heard]);
};

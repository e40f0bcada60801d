import { EVENT_EXISTS } from '../../src/domain/common/authorizer-code.js';
import {
  decideCancelAbsence,
  decideCanceledElsewhere,
  decideCancelRejection,
  decideConfirmed,
  decideTimeout,
} from '../../src/domain/invoice/decide-cancellation.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { evolve } from '../../src/domain/invoice/evolve.js';
import type { Limits } from '../../src/domain/invoice/limits.js';
import { type CancelStep, nextCancelStep } from '../../src/domain/invoice/next-cancel-step.js';
import { decideAnswer, decideAttempt } from '../../src/domain/invoice/send-decisions.js';
import { type LookupProgress, progressAfter, provesAbsence, type Unsent } from '../../src/domain/invoice/send-steps.js';
import { type Cancellation, firstSent, type InvoiceState, initialInvoice } from '../../src/domain/invoice/state.js';
import { accepted, attempted, authorized, cancelRequested, T0 } from '../support/fixture/invoice.js';
import { createNames, type Names } from './explore.js';
import { limits as issuingLimits } from './issuing-world.js';

export const limits: Limits = { ...issuingLimits, cancellationSeconds: 8 };

/** The product's decisions as the model uses them; a test that takes one away must see the model find the harm. */
export const rules = {
  nextCancelStep,
  decideAttempt,
  decideAnswer,
  decideConfirmed,
  decideCanceledElsewhere,
  decideCancelRejection,
  decideCancelAbsence,
  decideTimeout,
  provesAbsence,
  progressAfter,
};
export type Rules = typeof rules;

type Send = Cancellation['sends'][number];

/** What one process holds in its memory, and loses when it dies. `revision`: how much of the log it had read. */
export type Worker =
  | { at: 'idle' }
  | { at: 'decided'; revision: number; step: Exclude<CancelStep, { do: 'wait' | 'nothing' }>; decidedAt: string }
  | { at: 'sending'; attempt: number; attemptedAt: string }
  | { at: 'answered'; attempt: number; answer: Answer }
  | {
      at: 'heard';
      send: Send | Unsent;
      isLast: boolean;
      existed: boolean;
      askedAt: string;
      found: 'ours' | 'elsewhere' | 'absent' | 'doubtful';
    };

export type Answer = 'done' | 'not sent' | 'undecided' | 'refused' | 'uncatalogued' | 'unknown' | 'exists' | 'canceled';

/** What may still go wrong; bounds the exploration. */
export type Budget = {
  crashes: number;
  lost: number;
  notSent: number;
  /** Answers that decide nothing; each may leave a request under way all the same. */
  undecided: number;
  refused: number;
  /** Refusals with a code that is in no catalogue; each may leave a request under way until its deadline. */
  uncatalogued: number;
  /** Look-ups that do not show an event that is there, and look-ups after which its owner is unknown. */
  hidden: number;
  doubtful: number;
  /** Events of ours that were found and could not be recorded. */
  unrecorded: number;
};

export type World = {
  now: string;
  events: readonly InvoiceEvent[];
  state: InvoiceState;
  /** What the database holds about look-ups, by attempt. */
  memos: Readonly<Record<number, LookupProgress>>;
  workers: readonly Worker[];
  /** When the newest recorded look-up that showed the event without its owner was asked for. */
  shownAt?: string;
  /** A process found our event and could not record its confirmation. */
  hasFailedToRecord?: true;
  /** The note has our event, or another event that bars ours, or a request of ours may still become an event. */
  authorizer: {
    registered: boolean;
    blocked: boolean;
    underWay: boolean;
    /** A request that was refused, or one of the same content that was sent before, may still become an event by the deadline of the last send. */
    refused: boolean;
    /** The authorizer has refused our content for good, so it refuses what it gets of the same content from then on (ADR 8). */
    refuses: boolean;
    /** The event that bars ours cancels the note. */
    elsewhere: boolean;
    /** The refusal names the event in the way. */
    names: boolean;
  };
  budget: Budget;
};

export const appended = (world: World, events: readonly InvoiceEvent[]): World => ({
  ...world,
  events: [...world.events, ...events],
  state: events.reduce(evolve, world.state),
});

export const idle: Worker = { at: 'idle' };

/** What another party put on the note before our request. */
export type Others = 'nothing' | 'an event that bars ours' | 'a cancellation' | 'a cancellation that is named';

export const startWorld = (budget: Budget, others: Others, workers = 2): World =>
  appended(
    {
      now: T0,
      events: [],
      state: initialInvoice,
      memos: {},
      budget,
      workers: Array.from({ length: workers }, () => idle),
      authorizer: {
        registered: false,
        underWay: false,
        refused: false,
        refuses: false,
        blocked: others !== 'nothing',
        elsewhere: others.startsWith('a cancellation'),
        names: others === 'a cancellation that is named',
      },
    },
    [accepted(), attempted(1, 0), authorized(1, 0), cancelRequested(0)],
  );

export const cancellationOf = ({ state }: World): Cancellation | undefined =>
  state.kind === 'invoice' ? state.cancellation : undefined;

export const isKnownToExist = (cancellation: Cancellation | undefined): boolean =>
  cancellation?.sends.some(({ codes }) => codes.includes(EVENT_EXISTS)) ?? false;

/** What the decisions can tell apart; which process holds what makes no difference. */
export const keysOf = (): ((world: World) => string) => {
  const names = createNames();
  return (world) => {
    const { now, events, state, memos, workers, authorizer, budget, shownAt = '', hasFailedToRecord } = world;
    const memo = memos[cancellationOf(world)?.sends.length ?? 0];
    const held = workers.map((worker) => heldBy(worker, events.length, names)).sort();
    return [
      names.ofText(now),
      names.of(state, shownOf),
      memo === undefined ? '' : names.of(memo),
      names.of(authorizer),
      names.of(budget),
      shownAt === '' ? '' : names.ofText(shownAt),
      hasFailedToRecord,
      ...held,
    ].join();
  };
};

const shownOf = (state: InvoiceState): string => {
  const { sends = [], status, codes: ended } = (state.kind === 'invoice' ? state.cancellation : undefined) ?? {};
  const last = sends.length - 1;
  const sent = firstSent(sends);
  const shown = sends.map((send, index) => {
    const { resolution, codes, refused, final, undecided, namedEvent, attemptedAt, answeredAt, resolvedAt } = send;
    const isFirst = index === 0 || send === sent;
    const times = index === last ? [attemptedAt, answeredAt, resolvedAt] : isFirst ? [attemptedAt] : [];
    return [resolution, codes, refused, final, undecided, namedEvent, times];
  });
  return JSON.stringify([status, ended, shown]);
};

const heldBy = (worker: Worker, revision: number, names: Names): string => {
  switch (worker.at) {
    case 'idle':
    case 'sending':
    case 'answered':
      return names.of(worker);
    case 'heard':
      return names.of(worker, heardBy);
    case 'decided': {
      const { step } = worker;
      return step.do === 'send' || step.do === 'resend'
        ? names.ofText(`${step.do} ${worker.revision === revision}`)
        : names.of(worker, lookedUpBy);
    }
  }
};

const heardBy = (worker: Extract<Worker, { at: 'heard' }>): string =>
  JSON.stringify({ ...worker, send: askedOf(worker.send) });

const lookedUpBy = ({ step, decidedAt }: Extract<Worker, { at: 'decided' }>): string => {
  if (step.do === 'send' || step.do === 'resend') return step.do;
  const asked = step.do === 'look_up' ? step.send : step.lookUpFirst;
  return JSON.stringify([step.do, askedOf(asked), decidedAt]);
};

const askedOf = (asked: Send | Unsent | undefined): unknown =>
  typeof asked === 'object' ? [asked.attempt, asked.refused, asked.final] : asked;

import { addSeconds, isBefore } from '../../src/domain/common/time.js';
import { createShared, type Shared } from '../model/accepting-ports.js';
import { T0 } from '../support/fixture/invoice.js';
import { emptyLedger, type Ledger } from './authorizer-double.js';
import { breachesOf } from './breaches.js';
import type { Choices } from './choices.js';
import { drawWishes, runClient, type Told } from './clients.js';
import { type Api, type Member, ROLES, type Surviving, startMember } from './processes.js';
import { createTimers } from './read-model.js';
import { createScheduler, settled } from './scheduler.js';
import { createWorkBag } from './work-bag.js';

export type Life = {
  /** Empty: everything was as promised. */
  breaches: readonly string[];
  /** One line for each call that a process made, and for each mishap. */
  history: readonly string[];
  /** The numbers that the life is made of. */
  choices: readonly number[];
  counts: { steps: number; crashes: number; invoices: number; notes: number; indeterminate: number };
};

/** Takes a promise away from what the product's code runs on; a breach must follow. */
export type Sabotage = (world: { shared: Shared; ledger: Ledger }) => void;

/** Steps until every fault must have begun. */
const MOST_TROUBLE = 250;
/** Above this a life does not end. */
const MOST_STEPS = 30_000;
/** No late commit comes later, and no hidden note shows later. */
const AFTERMATH_SECONDS = 1_200;

/** Of a thousand steps in troubled times. */
const CRASHES = 25;
const AGAIN = 20;
const LATE = 20;
const TIME_PASSES = 40;

/** Plays whole lives of some invoices, from the request to the outcome and its cancellation, over engines in memory. */
export const playLife = async (choices: Choices, sabotage: Sabotage = () => undefined): Promise<Life> => {
  const trouble = choices.below(MOST_TROUBLE);
  const isOneDatabase = choices.below(2) === 1;
  const keepsWork = choices.below(2) === 0;
  const wishes = drawWishes(choices);
  const scheduler = createScheduler(T0, choices);
  const shared = createShared(isOneDatabase);
  const ledger = emptyLedger();
  sabotage({ shared, ledger });
  let steps = 0;
  let crashes = 0;
  const isPeaceful = (): boolean => steps >= trouble;
  const surviving: Surviving = {
    scheduler,
    choices,
    shared,
    isPeaceful,
    ledger,
    bag: createWorkBag(scheduler),
    timers: createTimers(shared.log),
    relayed: { after: null },
  };
  const members: Member[] = ROLES.map((role, number) => startMember(role, `${role}-${number + 1}`, surviving));
  const anyApi = (): Api => {
    const apis = members.flatMap(({ api }) => api ?? []);
    const chosen = apis[choices.below(apis.length)];
    if (chosen === undefined) throw new Error('no api is left');
    return chosen;
  };
  const told: Told = { ids: new Map(), statuses: new Map() };
  let asking = 0;
  const faults: unknown[] = [];
  for (const wish of wishes)
    for (let number = 1; number <= wish.clients; number += 1) {
      asking += 1;
      void runClient(wish, scheduler.start(`client of ${wish.name}`), anyApi, told)
        .catch((error: unknown) => faults.push(error))
        .finally(() => {
          asking -= 1;
        });
    }

  const crashOne = (): void => {
    const place = choices.below(members.length);
    const victim = members[place];
    if (victim === undefined) return;
    crashes += 1;
    scheduler.crash(victim.process);
    surviving.bag.leave(victim.process, keepsWork);
    members[place] = startMember(victim.role, victim.process.name, surviving);
  };
  const storeLate = async (): Promise<void> => {
    const [append] = shared.late.splice(0, 1);
    if (append === undefined) return;
    scheduler.history.push('an append arrives late');
    await append();
  };
  const mishap = async (): Promise<void> => {
    const drawn = 999 - choices.below(1_000);
    if (drawn < CRASHES) crashOne();
    else if (drawn < CRASHES + AGAIN) surviving.bag.deliverAgain(choices.below(100));
    else if (drawn < CRASHES + AGAIN + LATE) await storeLate();
    else if (drawn < CRASHES + AGAIN + LATE + TIME_PASSES) await scheduler.passTime();
  };
  const hasOpenWork = async (): Promise<boolean> => {
    await surviving.timers.catchUp();
    return (await surviving.timers.readModel.openWork(EVERYTHING, 1)).length > 0;
  };

  await settled();
  let quietFrom: string | undefined;
  for (; steps < MOST_STEPS; steps += 1) {
    if (!isPeaceful()) await mishap();
    else while (shared.late.length > 0) await storeLate();
    if (await scheduler.step()) continue;
    if (isPeaceful()) quietFrom ??= addSeconds(scheduler.clock.now(), AFTERMATH_SECONDS);
    const isOver = quietFrom !== undefined && isBefore(quietFrom, scheduler.clock.now());
    if (isOver && asking === 0 && !(await hasOpenWork())) break;
    if (!(await scheduler.passTime())) break;
  }
  const events = await shared.log.readAll({ prefixes: ['nfse', 'dps'], after: null, limit: Number.MAX_SAFE_INTEGER });
  const breaches = [
    ...faults.map((fault) => `a client gave up: ${fault instanceof Error ? fault.message : 'why?'}`),
    ...(steps >= MOST_STEPS ? ['the life does not end'] : []),
    ...breachesOf(events, ledger, told),
  ];
  const countOf = (type: string): number => events.filter((event) => event.type === type).length;
  return {
    breaches,
    history: scheduler.history,
    choices: choices.made(),
    counts: {
      steps,
      crashes,
      invoices: countOf('InvoiceAccepted'),
      notes: ledger.notes.length,
      indeterminate: countOf('IssuanceInterrupted'),
    },
  };
};

const EVERYTHING = {
  quietSince: null,
  windows: { queuedSeconds: 900, processingSeconds: 3_600, cancellationSeconds: 3_600 },
} as const;

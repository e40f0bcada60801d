import { afterAll, describe, expect, it } from 'vitest';
import { type FaultHarness, openFaultHarness } from './fault-harness.js';
import { type Judged, judgeAll } from './fault-judge.js';
import { type Fault, faultsOn, nameOf, type Plan, planOf } from './fault-kinds.js';
import { play } from './fault-play.js';
import { tableOf } from './fault-table.js';

const isFull = process.env.CRASH_FULL === '1';
const PATIENCE_MS = isFull ? 7_200_000 : 900_000;

/** Invoices per simulator: it searches all open faults at every call, and it keeps all documents, as the log does. */
const AT_ONCE = 400;

let amount = 1_000;
const judged: Judged[] = [];
afterAll(() => {
  process.stdout.write(`${tableOf(judged)}\n`);
});

const expectTruth = async (plans: readonly Plan[]): Promise<void> => {
  for (let from = 0; from < plans.length; from += AT_ONCE) {
    const ends = await withFaultHarness((harness) => playAndJudge(harness, plans.slice(from, from + AT_ONCE)));
    judged.push(...ends);
    expect(ends.flatMap(({ complaints }) => complaints)).toEqual([]);
  }
};

const playAndJudge = async (harness: FaultHarness, plans: readonly Plan[]): Promise<readonly Judged[]> => {
  const first = amount;
  amount += plans.length;
  return await judgeAll(harness, await play(harness, plans, first));
};

const withFaultHarness = async <T>(use: (harness: FaultHarness) => Promise<T>): Promise<T> => {
  const harness = await openFaultHarness();
  try {
    return await use(harness);
  } finally {
    await harness.close();
  }
};

/**
 * Faults of different calls do not wait for each other: their order tells only at which one the issuer dies. Every second
 * issuer dies at the first fault; in the full matrix each pair is played with and without.
 */
const pairsOf = (faults: readonly Fault[]): readonly Plan[] =>
  faults.flatMap((first) =>
    faults.flatMap((second) => {
      const deaths = isFull ? [true, false] : [numberOf(first, second) % 2 === 0];
      const hasOrder = (dies: boolean): boolean => dies || first.on === second.on;
      const isWanted = (dies: boolean): boolean =>
        hasOrder(dies) ? isFull || isThisOrder(first, second) : nameOf(first) <= nameOf(second);
      return deaths.filter(isWanted).map((dies) => planOf([first, second], dies));
    }),
  );

/** Without the full matrix each pair is played in one order, half of them in either. */
const isThisOrder = (first: Fault, second: Fault): boolean =>
  first === second || nameOf(first) < nameOf(second) === ((numberOf(first, second) >> 1) % 2 === 0);

/** The same for both orders, and from the names alone, so that a further fault changes no other pair. */
const numberOf = (first: Fault, second: Fault): number =>
  [...nameOf(first), ...nameOf(second)].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

const everywhere = faultsOn('issue', 'lookup', 'fetch', 'event', 'event_lookup');

describe('whatever the authorizer does, also with a new issuer in between, there is one note at most and every outcome is true', () => {
  it(
    'each fault alone, and with an issuer that dies at it',
    () => expectTruth(everywhere.flatMap((fault) => [planOf([fault], true), planOf([fault], false)])),
    PATIENCE_MS,
  );

  it(
    `each pair of faults on sends and look-ups, in ${isFull ? 'both orders' : 'one order'}`,
    () => expectTruth(pairsOf(faultsOn('issue', 'lookup'))),
    PATIENCE_MS,
  );

  if (isFull) it('each pair of all faults, in both orders', () => expectTruth(pairsOf(everywhere)), PATIENCE_MS);
});

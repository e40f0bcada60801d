import { expect, it, onTestFinished, vi } from 'vitest';
import {
  type GuardReadiness,
  type GuardReadinessWorker,
  runGuardReadiness,
} from '../../src/workers/guard-readiness.js';
import { acceptances, recordedGuards } from '../support/fixture/recorded-guards.js';
import { gate } from '../support/gate.js';

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 2 });

const keep = (fixture: ReturnType<typeof acceptances>, changes: Partial<GuardReadinessWorker> = {}) => {
  const stop = new AbortController();
  const record = recordedGuards();
  const seen: GuardReadiness['kind'][] = [];
  const running = runGuardReadiness({
    log: fixture.log,
    record,
    clock: fixture.clock,
    operatorRowsHold: async () => true,
    positionBefore: async () => null,
    windows: { idempotencySeconds: 86_400, duplicateSeconds: 60 },
    signal: stop.signal,
    onReadiness: ({ kind }) => seen.push(kind),
    onFilled: () => undefined,
    onFault: () => undefined,
    pauseMs: { complete: 1, waiting: 1 },
    ...changes,
  });
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const looksAgain = async (): Promise<void> => {
    const before = record.looks;
    await soon(() => expect(record.looks).toBeGreaterThan(before + 3));
  };
  return { record, seen, looksAgain, complete: () => soon(() => expect(seen.at(-1)).toBe('complete')) };
};

it('the database hears from the session of the guards while the log answers a look slowly', async () => {
  const fixture = acceptances();
  await fixture.accept();
  const answer = gate();
  let isSlow = false;
  const identity = async (): Promise<string> => {
    if (isSlow) await answer.opened;
    return await fixture.log.identity();
  };
  const { record, seen, complete, looksAgain } = keep(fixture, { log: { ...fixture.log, identity }, beatMs: 1 });
  // Runs before the end of the worker, which waits for the answer.
  onTestFinished(answer.open);
  await complete();
  isSlow = true;
  await looksAgain();
  const answers = seen.length;
  // then: no look has ended, and the session is asked all the same
  await looksAgain();
  expect(seen.length).toBe(answers);
  answer.open();
  await soon(() => expect(seen.length).toBeGreaterThan(answers));
  expect([record.identities.length, new Set(seen)]).toEqual([1, new Set(['complete'])]);
});

it('a session of less than a minute proves nothing, also where the clock was set forward meanwhile', async () => {
  const fixture = acceptances();
  const { record, complete, looksAgain } = keep(fixture);
  await complete();
  fixture.clock.pass(3_600);
  await looksAgain();
  await fixture.accept();
  // then: its guard may have been lost before the session began
  await soon(() => expect(record.moves).not.toEqual([]));
  expect(record.keys).toHaveLength(1);
});

it('a session of a minute needs no more reading, also where the clock was set back meanwhile', async () => {
  const fixture = acceptances();
  let steady = 0;
  const { record, complete, looksAgain } = keep(fixture, { steadyMs: () => steady });
  await complete();
  fixture.clock.pass(-3_600);
  steady = 60_000;
  await looksAgain();
  await fixture.accept();
  await soon(() => expect(record.moves).not.toEqual([]));
  expect(record.keys).toEqual([]);
});

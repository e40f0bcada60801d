import { describe, expect, it, vi } from 'vitest';
import { createMemoryQueue } from '../../src/adapters/queue-memory/memory-queue.js';
import { createLookUpSemaphore, type LookUpSemaphore } from '../../src/app/issuing/look-up-limit.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds, epochMs, type Instant, isBefore } from '../../src/domain/common/time.js';
import type { AuthorizedNote, Authorizer, Caller, LookupResult } from '../../src/ports/authorizer.js';
import type { Timer } from '../../src/ports/read-model.js';
import { runIssuer } from '../../src/workers/issuer.js';
import { type Sweeper, sweep } from '../../src/workers/sweeper.js';
import {
  accepted,
  at,
  attempted,
  cancelAttempted,
  cancelRequested,
  cancelUnknown,
  T0,
  unknown,
} from '../support/fixture/invoice.js';
import { appendTo, movableClock } from '../support/harness/event-store.js';
import { noteFor } from '../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../support/harness/issuing.js';
import { collectingQueue, scriptedReadModel } from '../support/harness/workers.js';
import { createMemoryGuards } from '../support/memory/guards.js';

const companyId = '12345678000195';
const bound = { timeout: 60_000, interval: 5 };
const DUE = at(30 + 3_600);

type Held = { begunAt: Instant; endsAt: Instant; end(): void };

/** Look-ups that end only at their time limit, by the clock that the test moves. */
const silent = ({ clock, deps }: IssuingHarness) => {
  const held: Held[] = [];
  const ended: Held[] = [];
  const look = (until?: Instant): Promise<{ kind: 'inconclusive'; reason: string }> =>
    new Promise((resolve) => {
      const begunAt = clock.now();
      const limit = addSeconds(begunAt, deps.limits.sendSeconds);
      const end = (): void => resolve({ kind: 'inconclusive', reason: 'timeout' });
      held.push({ begunAt, endsAt: until !== undefined && isBefore(until, limit) ? until : limit, end });
    });
  const authorizer: Partial<Authorizer> = {
    findByDps: (_caller, _id, until) => look(until),
    findCancellation: (_caller, _key, until) => look(until),
  };
  /** Moves the clock to the first time limit of the look-ups under way, and ends all that are over. */
  const pass = (): void => {
    const first = held.map(({ endsAt }) => endsAt).sort()[0];
    if (first === undefined) return;
    clock.moveTo(first);
    for (const one of held.filter(({ endsAt }) => endsAt <= first)) {
      held.splice(held.indexOf(one), 1);
      ended.push(one);
      one.end();
    }
  };
  return { authorizer, held, ended, pass };
};

/** Invoices whose send had an unknown result, 30 seconds after the beginning. */
const unknownOnes = async (harness: IssuingHarness, count: number): Promise<string[]> => {
  const streams: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const invoiceId = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    const stream = invoiceStream('live', companyId, invoiceId);
    await appendTo(harness.store, stream, [accepted({ invoiceId }), attempted(1, 0), unknown(1, 30)], T0);
    streams.push(stream);
  }
  return streams;
};

const sweeperOf = (
  harness: IssuingHarness,
  authorizer: Partial<Authorizer>,
  verdictsDue: readonly Timer[],
): Sweeper => ({
  readModel: scriptedReadModel({ verdictsDue }).readModel,
  log: harness.log,
  queue: collectingQueue(),
  cuts: createMemoryGuards().cuts,
  previousGeneration: { end: async () => undefined },
  deps: { ...harness.deps, authorizer: { ...harness.authorizer, ...authorizer }, actor: 'timer:sweeper' },
  inTrace: (_stream, conclude) => conclude(),
  onFault: (_stream, error) => {
    throw error;
  },
});

const dueRow = (stream: string, kind: Timer['kind'] = 'issue'): Timer => ({
  stream,
  mode: 'live',
  companyId,
  kind,
  since: T0,
  started: true,
});

const verdictOf = async (harness: IssuingHarness, stream: string): Promise<string | undefined> =>
  (await harness.log.read(stream)).at(-1)?.type;

describe('verdicts behind look-ups that nobody answers', () => {
  it('gives 250 of them within one sweep of eleven seconds, each after a look-up of its own', async () => {
    const harness = await issuingHarness();
    const streams = await unknownOnes(harness, 250);
    const other = silent(harness);
    const sweeper = sweeperOf(
      harness,
      other.authorizer,
      streams.map((stream) => dueRow(stream)),
    );
    harness.clock.moveTo(DUE);
    const sweeping = sweep(sweeper, 1);
    while (other.ended.length < 250) {
      const wanted = Math.min(64, 250 - other.ended.length);
      await vi.waitFor(() => expect(other.held).toHaveLength(wanted), bound);
      other.pass();
    }
    await sweeping;
    expect(epochMs(harness.clock.now()) - epochMs(DUE)).toBeLessThanOrEqual(11_000);
    const given = other.ended.map(({ begunAt, endsAt }) => (epochMs(endsAt) - epochMs(begunAt)) / 1000);
    expect([Math.max(...given), Math.min(...given)]).toEqual([5, 2]);
    const verdicts = await Promise.all(streams.map((stream) => verdictOf(harness, stream)));
    expect(new Set(verdicts)).toEqual(new Set(['IssuanceInterrupted']));
  });

  it('ends a cancellation after five seconds', async () => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(10), cancelAttempted(1, 10), cancelUnknown(1, 30));
    const other = silent(harness);
    const sweeper = sweeperOf(harness, other.authorizer, [dueRow(harness.stream, 'cancel')]);
    harness.clock.moveTo(at(3_700));
    const sweeping = sweep(sweeper, 1);
    await vi.waitFor(() => expect(other.held).toHaveLength(1), bound);
    other.pass();
    await sweeping;
    expect(harness.clock.now()).toBe(at(3_705));
    expect(await verdictOf(harness, harness.stream)).toBe('CancellationNotConfirmed');
  });

  it('takes a note that is found before the time of the look-up is over, however slowly', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['late'];
    harness.authorizer.mute = true;
    await harness.issue();
    const [sent] = harness.authorizer.sends;
    if (sent === undefined) throw new Error('nothing was sent');
    const answers: ((found: LookupResult<AuthorizedNote>) => void)[] = [];
    const findByDps: Authorizer['findByDps'] = () => new Promise((resolve) => answers.push(resolve));
    const sweeper = sweeperOf(harness, { findByDps }, [dueRow(harness.stream)]);
    harness.clock.moveTo(at(3_700));
    const sweeping = sweep(sweeper, 1);
    await vi.waitFor(() => expect(answers).toHaveLength(1), bound);
    harness.clock.pass(4);
    answers[0]?.({ kind: 'found', found: noteFor(sent, 1) });
    await sweeping;
    expect(await harness.status()).toBe('issued');
  });
});

describe('the issuer beside look-ups that nobody answers', () => {
  it('keeps half of its places for sends, and looks up for the others later', async () => {
    const harness = await issuingHarness();
    const waiting = await unknownOnes(harness, 10);
    harness.clock.moveTo(at(60));
    const other = silent(harness);
    const queue = createMemoryQueue(harness.clock);
    for (const stream of waiting) await queue.put({ kind: 'issue', stream, messageId: stream });
    await queue.put({ kind: 'issue', stream: harness.stream, messageId: 'new' });
    const stop = new AbortController();
    const deps = { ...harness.deps, authorizer: { ...harness.authorizer, ...other.authorizer } };
    const working = runIssuer({
      queue,
      deps,
      concurrency: 4,
      signal: stop.signal,
      inTurn: (_company, task) => task(),
      isEngineFault: () => false,
      onFault: () => undefined,
    });
    await vi.waitFor(async () => expect(await harness.status()).toBe('issued'), bound);
    expect(other.held).toHaveLength(2);
    other.pass();
    await vi.waitFor(() => expect(other.held).toHaveLength(2), bound);
    expect(other.ended).toHaveLength(2);
    stop.abort();
    await vi.waitFor(() => {
      other.pass();
      expect(other.held).toHaveLength(0);
    }, bound);
    await working;
  });

  const flooding: Caller = { mode: 'live', companyId };
  const inTest: Caller = { mode: 'test', companyId };
  const other: Caller = { mode: 'live', companyId: '98765432000198' };
  type Asked = ReturnType<LookUpSemaphore['acquire']>;
  const releaseOf = (asked: Asked | undefined): (() => void) => {
    if (asked === undefined || 'at' in asked) throw new Error('no permit');
    return asked.release;
  };
  const given = (asked: readonly Asked[]): readonly Asked[] => asked.filter((one) => 'release' in one);
  const askTimes = (semaphore: LookUpSemaphore, times: number, by: Caller): readonly Asked[] =>
    Array.from({ length: times }, () => semaphore.acquire(by));

  it('gives test mode three quarters of the permits, so that a live look-up finds one', () => {
    const semaphore = createLookUpSemaphore(16, movableClock(T0));
    expect(given(askTimes(semaphore, 100, inTest))).toHaveLength(12);
    expect(given(askTimes(semaphore, 100, other))).toHaveLength(4);
  });

  it('keeps the next permit for a company that waits and has fewer', () => {
    const clock = movableClock(T0);
    const semaphore = createLookUpSemaphore(4, clock);
    const [first, second] = askTimes(semaphore, 3_000, flooding);
    expect(semaphore.acquire(other)).toEqual({ at: at(1) });
    releaseOf(first)();
    expect(given(askTimes(semaphore, 100, flooding))).toEqual([]);
    clock.moveTo(at(1));
    expect(semaphore.acquire(other)).toHaveProperty('release');
    releaseOf(second)();
    expect(semaphore.acquire(flooding)).toHaveProperty('release');
  });

  it('calls the waiting company back each second until a permit ends, and keeps none for work that does not come back', () => {
    const clock = movableClock(T0);
    const semaphore = createLookUpSemaphore(4, clock);
    const [first] = askTimes(semaphore, 3_000, flooding);
    for (let second = 0; second < 5; second += 1) {
      clock.moveTo(at(second));
      expect(semaphore.acquire(other)).toEqual({ at: at(second + 1) });
    }
    releaseOf(first)();
    clock.moveTo(at(14));
    expect(semaphore.acquire(flooding)).toHaveProperty('at');
    clock.moveTo(at(16));
    expect(semaphore.acquire(flooding)).toHaveProperty('release');
  });

  it('lets test mode wait for the next permit only while live look-ups of one company take all', () => {
    const clock = movableClock(T0);
    const semaphore = createLookUpSemaphore(4, clock);
    const [first] = askTimes(semaphore, 100, flooding);
    expect(semaphore.acquire(inTest)).toEqual({ at: at(1) });
    releaseOf(first)();
    expect(semaphore.acquire(flooding)).toHaveProperty('at');
    expect(semaphore.acquire(inTest)).toHaveProperty('release');
  });

  it('calls as many companies back in a second as of one company, however many wait', () => {
    const clock = movableClock(T0);
    const semaphore = createLookUpSemaphore(8, clock);
    const callers = Array.from(
      { length: 600 },
      (_, index): Caller => ({ mode: 'live', companyId: `company ${index}` }),
    );
    let due = callers.map((caller) => ({ caller, at: at(0) }));
    for (let second = 0; second < 60; second += 1) {
      clock.moveTo(at(second));
      const coming = due.filter((one) => !isBefore(at(second), one.at));
      if (second > 0) expect(coming.length).toBeLessThanOrEqual(60);
      const waiting = coming.flatMap(({ caller }) => {
        const asked = semaphore.acquire(caller);
        return 'at' in asked ? [{ caller, at: asked.at }] : [];
      });
      due = [...due.filter((one) => !coming.includes(one)), ...waiting];
    }
    expect(due).toHaveLength(592);
  });

  it('calls those without a place back in turns, fifty a second and none after half a minute', () => {
    const clock = movableClock(T0);
    const semaphore = createLookUpSemaphore(1, clock);
    const first = semaphore.acquire(flooding);
    const turns = Array.from({ length: 3_000 }, () => semaphore.acquire(flooding)).map((turn) =>
      'at' in turn ? turn.at : 'a place',
    );
    const expected = Array.from({ length: 1_500 }, (_, index) => at(Math.floor(index / 50) + 1));
    expect(turns[0]).toBe(at(1));
    expect(turns.slice(1, 1_501)).toEqual(expected);
    expect(turns.filter((turn) => isBefore(at(31), turn))).toEqual([]);
    if ('release' in first) first.release();
    expect(semaphore.acquire(flooding)).toHaveProperty('release');
  });

  it('calls at most fifty back within a second, also when each of them asks at another time', () => {
    const clock = movableClock(T0);
    const semaphore = createLookUpSemaphore(1, clock);
    semaphore.acquire(flooding);
    semaphore.acquire(flooding);
    const turns = Array.from({ length: 1_000 }, (_, index) => {
      clock.moveTo(addSeconds(T0, index / 1_000));
      const turn = semaphore.acquire(flooding);
      return 'at' in turn ? turn.at : 'a place';
    });
    for (const turn of turns) {
      const within = turns.filter((other) => !isBefore(other, turn) && isBefore(other, addSeconds(turn, 1)));
      expect(within.length).toBeLessThanOrEqual(50);
    }
  });
});

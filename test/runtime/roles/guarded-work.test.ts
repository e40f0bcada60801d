import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LostEnd } from '../../../src/ports/event-log.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import {
  createGuardReadiness,
  type GuardReadinessSource,
  startGuardReadiness,
} from '../../../src/runtime/roles/guarded-work.js';

const incomplete = { kind: 'log incomplete', head: null, furthest: null, isOther: false } as const;

/** Work that ends when the test says so, and is counted. */
const watched = () => {
  const seen = { began: 0, ended: 0 };
  const work = async (signal: AbortSignal): Promise<void> => {
    seen.began += 1;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
    });
    seen.ended += 1;
  };
  return { seen, work };
};

/** Resolves when all work that may begin has begun. */
const turnsPass = async (): Promise<void> => {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
};

const noFault = (error: unknown): void => {
  throw error;
};

describe('work that appends to the log', () => {
  it('begins when the log is known to be complete, pauses while it is incomplete, and ends with its signal', async () => {
    const source = createGuardReadiness(noFault);
    const stop = new AbortController();
    const { seen, work } = watched();
    const ended = source.whileAppendsAllowed(stop.signal, work);
    const becomes = async (began: number, endedTimes: number): Promise<void> => {
      await turnsPass();
      expect(seen).toEqual({ began, ended: endedTimes });
    };
    source.set({ kind: 'unknown' });
    await becomes(0, 0);
    source.set(incomplete);
    await becomes(0, 0);
    source.set({ kind: 'rebuilding', position: null, upTo: 1n as never, waitsFor: 'guards' });
    await becomes(1, 0);
    source.set({ kind: 'unknown' });
    source.set({ kind: 'complete' });
    await becomes(1, 0);
    source.set(incomplete);
    await becomes(1, 1);
    source.set({ kind: 'unknown' });
    await becomes(1, 1);
    source.set({ kind: 'complete' });
    await becomes(2, 1);
    stop.abort();
    await ended;
    expect(seen).toEqual({ began: 2, ended: 2 });
  });

  it('that ends by itself, because it has nothing to do, begins again only after a pause', async () => {
    const source = createGuardReadiness(noFault);
    const stop = new AbortController();
    let began = 0;
    const work = async (): Promise<void> => {
      began += 1;
      // Otherwise a fault would occupy this thread for ever.
      if (began > 10) stop.abort();
    };
    const ended = source.whileAppendsAllowed(stop.signal, work);
    source.set({ kind: 'complete' });
    await turnsPass();
    expect(began).toBe(1);
    source.set(incomplete);
    await turnsPass();
    expect(began).toBe(1);
    source.set({ kind: 'complete' });
    await turnsPass();
    expect(began).toBe(2);
    stop.abort();
    await ended;
  });

  it.each(['whileAppendsAllowed', 'whileLogCoversCheckpoint'] as const)(
    'that fails is reported, ends no other work and begins again in the same period: %s',
    async (run) => {
      const faults: unknown[] = [];
      const source = createGuardReadiness((error) => faults.push(error));
      const stop = new AbortController();
      const { seen, work } = watched();
      const tries = [new Error('the database takes no connection'), new Error('once more')];
      const failing = async (signal: AbortSignal): Promise<void> => {
        const fault = tries.shift();
        if (fault !== undefined) throw fault;
        await work(signal);
      };
      const ended = source[run](stop.signal, failing);
      source.set({ kind: 'complete' });
      await expect.poll(() => seen).toEqual({ began: 1, ended: 0 });
      expect(faults).toEqual([new Error('the database takes no connection'), new Error('once more')]);
      stop.abort();
      await ended;
      expect(seen).toEqual({ began: 1, ended: 1 });
    },
  );

  it('that fails at the end of a period begins again only in the next one', async () => {
    const faults: unknown[] = [];
    const source = createGuardReadiness((error) => faults.push(error));
    const stop = new AbortController();
    const { seen, work } = watched();
    const ended = source.whileAppendsAllowed(stop.signal, async (signal) => {
      await work(signal);
      throw new Error('the connection was lost');
    });
    source.set({ kind: 'complete' });
    await turnsPass();
    source.set(incomplete);
    await turnsPass();
    expect(faults).toHaveLength(1);
    expect(seen).toEqual({ began: 1, ended: 1 });
    source.set({ kind: 'complete' });
    await turnsPass();
    expect(seen).toEqual({ began: 2, ended: 1 });
    stop.abort();
    await ended;
  });

  it('never begins when it is stopped before anything is known', async () => {
    const source = createGuardReadiness(noFault);
    const stop = new AbortController();
    const { seen, work } = watched();
    const ended = source.whileAppendsAllowed(stop.signal, work);
    stop.abort();
    await ended;
    expect(seen.began).toBe(0);
  });

  it('learns whether the log was incomplete before', async () => {
    const beganAfterPause = async (...kinds: Parameters<ReturnType<typeof createGuardReadiness>['set']>[0][]) => {
      const source = createGuardReadiness(noFault);
      const stop = new AbortController();
      const seen: boolean[] = [];
      const ended = source.whileLogCoversCheckpoint(stop.signal, async (signal, wasPaused) => {
        seen.push(wasPaused);
        if (!signal.aborted) await once(signal, 'abort');
      });
      for (const kind of kinds) {
        source.set(kind);
        await turnsPass();
      }
      stop.abort();
      await ended;
      return seen;
    };
    expect(await beganAfterPause({ kind: 'unknown' }, { kind: 'complete' })).toEqual([false]);
    expect(await beganAfterPause({ kind: 'unknown' }, incomplete, { kind: 'complete' })).toEqual([true]);
    expect(await beganAfterPause({ kind: 'complete' }, incomplete, { kind: 'complete' })).toEqual([false, true]);
  });

  it('says whether the kind is another than before', () => {
    const source = createGuardReadiness(noFault);
    expect([source.set({ kind: 'complete' }), source.set({ kind: 'complete' }), source.set(incomplete)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

type Parts = Parameters<typeof startGuardReadiness>[0];

/** A database that also keeps the log; `paused` is whether it has the row of a pause, which began at `head`. */
const oneDatabase = (paused: boolean, config: { natsUrl?: string; stopDelayMs?: number } = {}) => {
  const row = {
    paused,
    head: 7n as bigint | string | null,
    answers: true,
    takesPauses: true,
    refusals: 0,
    server: 'one',
  };
  const lines: object[] = [];
  const runner = createRunner(() => undefined);
  const query = async (text: string) => {
    if (!row.answers) throw new Error('no answer');
    if (text.startsWith('insert into log_set_back')) {
      if (!row.takesPauses) {
        row.refusals += 1;
        throw new Error('no writes');
      }
      end.beforeRecord();
      row.paused = true;
      row.head = String(end.head);
    }
    const seenAt = row.paused ? systemClock.now() : null;
    return { rows: [{ server: row.server, head: row.head, seen_at: seenAt, end: String(end.head) }] };
  };
  const nothing = (): void => undefined;
  const connect = async () => ({ query, release: nothing });
  const end = { isLost: false, head: 7n, notice: nothing, beforeRecord: nothing, accepted: [] as string[] };
  const say = (line: object) => void lines.push(line);
  let source: GuardReadinessSource | undefined;
  const lostEnd: LostEnd = {
    isLost: async () => end.isLost,
    onLost: (listener) => {
      end.notice = () => {
        end.isLost = true;
        listener();
      };
    },
    accept: () => {
      end.isLost = false;
      end.accepted.push(source?.current().kind ?? 'at the start');
    },
  };
  const parts = {
    config: { eventStoreUrl: undefined, stopDelayMs: 0, ...config },
    clock: systemClock,
    engines: { log: { identity: async () => 'one', lostEnd }, lookPool: { connect, query } },
    logger: { fatal: say, error: say, warn: say, info: say },
    runner,
  };
  const start = async () => {
    source = await startGuardReadiness(parts as unknown as Parts);
    return source;
  };
  /** As log recovery does. */
  const recover = (): void => {
    end.head += 1n;
    row.paused = false;
  };
  onTestFinished(() => runner.stop());
  return { row, end, lines, runner, start, recover };
};

/** What is logged while issuing waits for a database that was away, and then. */
const linesOfWait = (error: string): readonly unknown[] => {
  const msg = 'issuing waits until the database has answered for five seconds';
  return [expect.objectContaining({ msg, error }), expect.objectContaining({ msg: 'a fault is over', of: msg })];
};

describe('a pause in the database that also keeps the log', () => {
  const line = {
    msg: 'the log, which ends at 7, was restored or has lost its end, and is not yet compared with the authorizer: issuing is paused',
    cure: 'read docs/operations/lost-database.md, then nfse doctor --reconcile',
    head: '7',
  };

  it('is logged with the end of the log, and with no further position that nobody looked for', async () => {
    const { lines, runner, start } = oneDatabase(true);
    await start();
    await runner.stop();
    expect(lines).toEqual([line]);
  });

  it('that begins while the process runs stops its work and its requests, and they go on when it ends', async () => {
    const { row, lines, runner, start, recover } = oneDatabase(false);
    const source = await start();
    const { seen, work } = watched();
    const ended = source.whileAppendsAllowed(runner.stopping, work);
    await turnsPass();
    expect([source.current().kind, seen, lines]).toEqual(['complete', { began: 1, ended: 0 }, []]);
    row.paused = true;
    await expect.poll(() => [source.current().kind, seen.ended]).toEqual(['log incomplete', 1]);
    expect(lines).toEqual([line]);
    recover();
    await expect.poll(() => [source.current().kind, seen.began]).toEqual(['complete', 2]);
    await runner.stop();
    await ended;
  });

  it('is recorded when the log has lost its end, before the log takes appends again', async () => {
    const { row, end, lines, runner, start, recover } = oneDatabase(false);
    const source = await start();
    const { seen, work } = watched();
    const ended = source.whileAppendsAllowed(runner.stopping, work);
    await turnsPass();
    expect(end.accepted).toEqual([]);
    end.notice();
    await expect.poll(() => end.accepted).toEqual(['log incomplete']);
    expect([row.paused, source.current().kind, seen.ended]).toEqual([true, 'log incomplete', 1]);
    expect(lines).toEqual([{ msg: 'the event log has lost events that this process has read or appended' }, line]);
    recover();
    await expect.poll(() => [source.current().kind, seen.began]).toEqual(['complete', 2]);
    await runner.stop();
    await ended;
  });

  it('goes on while the database does not answer', async () => {
    const { row, runner, start } = oneDatabase(true);
    const source = await start();
    let looks = 0;
    const unanswered = (): boolean => {
      looks += 1;
      return false;
    };
    Object.defineProperty(row, 'answers', { get: unanswered });
    await expect.poll(() => looks).toBeGreaterThan(1);
    expect(source.current().kind).toBe('log incomplete');
    await runner.stop();
  });

  it('is looked for once more where the first look of a start gets no answer', async () => {
    const { row, start } = oneDatabase(true);
    const answers = [false, true];
    Object.defineProperty(row, 'answers', { get: () => answers.shift() ?? true });
    expect((await start()).current().kind).toBe('log incomplete');
  });

  it('may come from another process for a moment after the database was away', async () => {
    const { row, lines, start } = oneDatabase(false);
    const source = await start();
    expect(source.wasAway?.()).toBe(false);
    row.answers = false;
    await expect.poll(() => source.wasAway?.()).toBe(true);
    row.answers = true;
    await expect.poll(() => source.wasAway?.()).toBe(false);
    expect(source.current().kind).toBe('complete');
    await expect.poll(() => lines).toEqual(linesOfWait('Error'));
  });

  it('may come from another process for a moment after another server has answered, without a look that failed', async () => {
    const { row, lines, start } = oneDatabase(false);
    const source = await start();
    expect(source.wasAway?.()).toBe(false);
    row.server = 'other';
    await expect.poll(() => source.wasAway?.()).toBe(true);
    await expect.poll(() => source.wasAway?.()).toBe(false);
    expect(source.current().kind).toBe('complete');
    await expect.poll(() => lines).toEqual(linesOfWait('OtherServer'));
  });

  it('may come from another process for a moment after the start of a process that gets its work over NATS', async () => {
    const { lines, start } = oneDatabase(false, { natsUrl: 'nats://127.0.0.1:4222' });
    const source = await start();
    expect([source.current().kind, source.wasAway?.()]).toEqual(['complete', true]);
    await expect.poll(() => source.wasAway?.()).toBe(false);
    expect(lines).toEqual([]);
  });

  it.each([
    ['with nothing else', false],
    ['and another process has appended between the read of the head and the record', true],
  ])('is recorded again when another failover has lost it %s', async (_what, appends) => {
    const { row, end, lines, start, recover } = oneDatabase(false);
    end.beforeRecord = () => {
      if (appends) end.head += 1n;
      end.beforeRecord = () => undefined;
    };
    const source = await start();
    end.notice();
    await expect.poll(() => end.accepted).toHaveLength(1);
    row.paused = false;
    const again = { msg: 'the database had lost the pause of issuing, which is recorded again' };
    await expect.poll(() => lines.at(-1)).toEqual(again);
    expect([row.paused, source.current().kind]).toEqual([true, 'log incomplete']);
    recover();
    await expect.poll(() => source.current().kind).toBe('complete');
  });

  it('is over for a process that begins while log recovery ends, also when nothing is appended any more', async () => {
    // given: recovery has appended its events and not yet removed the row
    const { row, end, lines, start } = oneDatabase(true);
    end.head += 1n;
    const source = await start();
    row.paused = false;
    await expect.poll(() => source.current().kind).toBe('complete');
    expect([row.paused, lines.length]).toEqual([false, 2]);
  });

  it('is recorded by a process that stops, when the answer to its last send shows the loss', async () => {
    const { row, end, runner, start } = oneDatabase(false);
    await start();
    runner.onStop('issuing', () => end.notice());
    await runner.stop();
    expect([row.paused, end.accepted]).toEqual([true, ['log incomplete']]);
  });

  it('lets a process stop only when it is recorded', async () => {
    const { row, end, lines, runner, start } = oneDatabase(false);
    await start();
    row.takesPauses = false;
    end.notice();
    const stopped = runner.stop();
    // More than fit into the time of a last look.
    await expect.poll(() => row.refusals).toBeGreaterThan(6);
    row.takesPauses = true;
    await stopped;
    expect([row.paused, end.accepted]).toEqual([true, ['log incomplete']]);
    expect(lines).not.toContainEqual(expect.objectContaining({ msg: expect.stringContaining('restore --mark') }));
  });

  it('that cannot be recorded is told to operators, again at the end of a stop after 45 s', async () => {
    const { row, end, lines, runner, start } = oneDatabase(false);
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    await start();
    row.takesPauses = false;
    now += 60_000;
    end.notice();
    const why = expect.objectContaining({ msg: expect.stringContaining('no pause of issuing can be recorded') });
    await expect.poll(() => lines).toContainEqual(why);
    const count = () => lines.filter((line) => 'msg' in line && String(line.msg).startsWith('no pause')).length;
    runner.onStop('issuing', () => {
      now += 60_000;
    });
    await runner.stop();
    expect(count()).toBeLessThan(4);
    expect(lines.at(-1)).toMatchObject({ msg: expect.stringContaining('run nfse restore --mark') });
  });

  it('that cannot be recorded is told within the 55 s of a stop, of which the delay for balancers takes a part', async () => {
    const { row, end, lines, runner, start } = oneDatabase(false, { stopDelayMs: 15_000 });
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    await start();
    row.takesPauses = false;
    end.notice();
    runner.onStop('issuing', () => {
      now += 30_000;
      row.refusals = 0;
    });
    await runner.stop();
    expect(lines.at(-1)).toMatchObject({ msg: expect.stringContaining('run nfse restore --mark') });
    // Those of the last look alone: 15 s more would hold some sixty.
    expect(row.refusals).toBeLessThan(20);
  });
});

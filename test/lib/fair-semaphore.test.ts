import { describe, expect, it, vi } from 'vitest';
import { createFairSemaphore, type FairSemaphoreOptions, TooManyWaiting } from '../../src/lib/fair-semaphore.js';

const usual: FairSemaphoreOptions = { what: 'tests', atOnce: 2, perOwner: 1, waitingPerOwner: 3 };

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A queue by company whose tasks end when the test says so. */
const createHarness = (options: Partial<FairSemaphoreOptions> = {}) => {
  const gate = createFairSemaphore({ ...usual, ...options });
  const begun: string[] = [];
  const running: (() => void)[] = [];
  const run = (owner: string, name: string): Promise<string> =>
    gate(owner, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => running.push(resolve));
      return name;
    });
  const endOne = async (): Promise<void> => {
    running.shift()?.();
    await turn();
  };
  return { gate, run, begun, endOne };
};

describe('a fair gate', () => {
  it('lets only so many in, of one owner and of all, the others in turns by owner', async () => {
    const { run, begun, endOne } = createHarness();
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => run(name.slice(0, 1), name));
    expect(begun).toEqual(['a1', 'b1']);
    await endOne();
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    await endOne();
    expect(begun).toEqual(['a1', 'b1', 'a2', 'b2']);
    for (let left = 0; left < 4; left += 1) await endOne();
    expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'c1', 'a3']);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
  });

  it('walks the waiting owners at no arrival while no place is free', () => {
    const { run, begun } = createHarness({ atOnce: 1 });
    void run('a', 'a1');
    const walks = vi.spyOn(Map.prototype, Symbol.iterator);
    for (let owner = 0; owner < 100; owner += 1) void run(`owner ${owner}`, `task ${owner}`);
    const walked = walks.mock.calls.length;
    walks.mockRestore();
    expect(begun).toEqual(['a1']);
    expect(walked).toBe(0);
  });

  it('refuses what is too much of one owner before it begins, and takes that of others', async () => {
    const { run, begun, endOne } = createHarness();
    const kept = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
    await expect(run('a', 'a5')).rejects.toBeInstanceOf(TooManyWaiting);
    const other = run('b', 'b1');
    expect(begun).toEqual(['a1', 'b1']);
    for (let left = 0; left < 5; left += 1) await endOne();
    await Promise.all([...kept, other]);
    expect(begun).toEqual(['a1', 'b1', 'a2', 'a3', 'a4']);
    const later = run('a', 'a6');
    await endOne();
    expect(await later).toBe('a6');
  });

  it('gives the place on when a task fails', async () => {
    const { gate, run, endOne } = createHarness({ atOnce: 1 });
    const failing = gate('a', () => Promise.reject(new Error('failed')));
    const behind = run('b', 'b1');
    await expect(failing).rejects.toThrow('failed');
    await endOne();
    expect(await behind).toBe('b1');
  });

  it('leaves an owner that is alone more room, and takes it back from the first moment of another', async () => {
    let now = 0;
    const { run, begun, endOne } = createHarness({ atOnce: 4, perOwner: 1, perOwnerAlone: 3, nowMs: () => now });
    const first = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    const other = run('b', 'b1');
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1']);
    await endOne();
    await endOne();
    // One of a is still under way, and b was here a moment ago.
    expect(begun).toHaveLength(4);
    await endOne();
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4']);
    await endOne();
    await endOne();
    await Promise.all([...first, other]);
    now = 40_000;
    const later = ['a5', 'a6', 'a7'].map((name) => run('a', name));
    expect(begun).toHaveLength(8);
    for (const _task of later) await endOne();
    await Promise.all(later);
  });

  it('lets in who waited longest when an owner is alone again, before those who come then', async () => {
    let now = 0;
    const { run, begun, endOne } = createHarness({ atOnce: 8, perOwner: 1, perOwnerAlone: 3, nowMs: () => now });
    const other = run('b', 'b1');
    const first = ['a1', 'a2', 'a3'].map((name) => run('a', name));
    expect(begun).toEqual(['b1', 'a1']);
    await endOne();
    await other;
    now = 40_000;
    const late = run('a', 'a4');
    await turn();
    expect(begun).toEqual(['b1', 'a1', 'a2', 'a3']);
    for (let left = 0; left < 4; left += 1) await endOne();
    await Promise.all([...first, late]);
    expect(begun).toEqual(['b1', 'a1', 'a2', 'a3', 'a4']);
  });

  describe('with a longest wait', () => {
    const create = () => {
      const timers = new Map<number, () => void>();
      const harness = createHarness({
        longestWaitMs: 20_000,
        after: (milliseconds, callBack) => {
          expect(milliseconds).toBe(20_000);
          const id = timers.size;
          timers.set(id, callBack);
          return () => void timers.delete(id);
        },
      });
      return { ...harness, timers };
    };

    it('refuses a task that waits longer, which never begins, and keeps the turns of the others', async () => {
      const { run, begun, endOne, timers } = create();
      const [first, late, other] = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')];
      const refused = expect(late).rejects.toMatchObject({ name: 'TooManyWaiting', bound: 'all' });
      timers.get(0)?.();
      await refused;
      await endOne();
      await endOne();
      expect(await Promise.all([first, other])).toEqual(['a1', 'a3']);
      expect(begun).toEqual(['a1', 'a3']);
    });

    it('stops the clock of a task that got its turn', async () => {
      const { run, endOne, timers } = create();
      const all = [run('a', 'a1'), run('a', 'a2')];
      expect(timers.size).toBe(1);
      await endOne();
      expect(timers.size).toBe(0);
      await endOne();
      expect(await Promise.all(all)).toEqual(['a1', 'a2']);
    });
  });

  describe('with rests', () => {
    /** Nine tasks of a, of which eight wait, and one of b; `end` ends the oldest running task after these milliseconds. */
    const flood = () => {
      let now = 0;
      let resting: { untilMs: number; callBack: () => void }[] = [];
      const { run, begun, endOne } = createHarness({
        atOnce: 4,
        rests: true,
        waitingPerOwner: 8,
        nowMs: () => now,
        after: (milliseconds, callBack) => {
          resting.push({ untilMs: now + milliseconds, callBack });
          return () => undefined;
        },
      });
      const names = [...Array.from({ length: 9 }, (_, n) => `a${n + 1}`), 'b1'];
      const all = names.map((name) => run(name.slice(0, 1), name));
      const pass = async (milliseconds: number): Promise<void> => {
        now += milliseconds;
        const due = resting.filter(({ untilMs }) => untilMs <= now);
        resting = resting.filter(({ untilMs }) => untilMs > now);
        for (const { callBack } of due) callBack();
        await turn();
      };
      const endAll = async (): Promise<void> => {
        for (const _task of all) {
          await endOne();
          await pass(100);
        }
        expect(await Promise.all(all)).toEqual(names);
      };
      const end = async (milliseconds: number): Promise<void> => {
        await pass(milliseconds);
        await endOne();
      };
      return { begun, pass, end, endAll };
    };

    it('keeps the place of an owner of whom eight wait for four times the time of its task', async () => {
      const { begun, pass, end, endAll } = flood();
      await end(20);
      await pass(79);
      expect(begun).toEqual(['a1', 'b1']);
      await pass(1);
      expect(begun).toEqual(['a1', 'b1', 'a2']);
      // b has nothing more to do, and of a only seven wait now.
      await end(30);
      await end(30);
      expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
      await endAll();
    });

    it('keeps no place for longer than 100 ms', async () => {
      const { begun, pass, end, endAll } = flood();
      await end(5_000);
      await pass(99);
      expect(begun).toEqual(['a1', 'b1']);
      await pass(1);
      expect(begun).toEqual(['a1', 'b1', 'a2']);
      await endAll();
    });

    it('keeps no place of an owner that is alone', async () => {
      const { begun, end, endAll } = flood();
      await end(40_000);
      expect(begun).toEqual(['a1', 'b1', 'a2']);
      await endAll();
    });
  });
});

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

  it('keeps the place of an owner with more to do as long again as a task took, while others are present', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      let now = 0;
      const { run, begun, endOne } = createHarness({ atOnce: 4, rests: true, nowMs: () => now });
      const all = ['a1', 'a2', 'a3', 'b1'].map((name) => run(name.slice(0, 1), name));
      now = 30;
      await endOne();
      vi.advanceTimersByTime(29);
      await turn();
      expect(begun).toEqual(['a1', 'b1']);
      vi.advanceTimersByTime(1);
      await turn();
      expect(begun).toEqual(['a1', 'b1', 'a2']);
      // b has nothing more to do and need not rest, and alone a need not either.
      await endOne();
      now = 40_000;
      await endOne();
      expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
      await endOne();
      await Promise.all(all);
    } finally {
      vi.useRealTimers();
    }
  });
});

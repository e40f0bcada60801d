import { describe, expect, it } from 'vitest';
import { createGuardsStanding } from '../../src/runtime/guards-standing.js';

const setBack = { kind: 'log set back', head: null, furthest: null } as const;

/** Work that ends when it is told to, and counts. */
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

/** Whatever was to begin has begun. */
const turnsPass = async (): Promise<void> => {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
};

describe('work that appends to the log', () => {
  it('begins when it is known that the log stands, pauses while it is set back, and ends with its signal', async () => {
    const standing = createGuardsStanding();
    const stop = new AbortController();
    const { seen, work } = watched();
    const ended = standing.whileLogStands(stop.signal, work);
    const becomes = async (began: number, endedTimes: number): Promise<void> => {
      await turnsPass();
      expect(seen).toEqual({ began, ended: endedTimes });
    };
    standing.set({ kind: 'unknown' });
    await becomes(0, 0);
    standing.set(setBack);
    await becomes(0, 0);
    standing.set({ kind: 'rebuilding', position: null, upTo: 1n as never, waitsFor: 'guards' });
    await becomes(1, 0);
    standing.set({ kind: 'unknown' });
    standing.set({ kind: 'complete' });
    await becomes(1, 0);
    standing.set(setBack);
    await becomes(1, 1);
    standing.set({ kind: 'unknown' });
    await becomes(1, 1);
    standing.set({ kind: 'complete' });
    await becomes(2, 1);
    stop.abort();
    await ended;
    expect(seen).toEqual({ began: 2, ended: 2 });
  });

  it('never begins when it is stopped before anything is known', async () => {
    const standing = createGuardsStanding();
    const stop = new AbortController();
    const { seen, work } = watched();
    const ended = standing.whileLogStands(stop.signal, work);
    stop.abort();
    await ended;
    expect(seen.began).toBe(0);
  });

  it('tells news from repetition', () => {
    const standing = createGuardsStanding();
    expect([standing.set({ kind: 'complete' }), standing.set({ kind: 'complete' }), standing.set(setBack)]).toEqual([
      ...[true, false, true],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { cachedCheck, NoAnswerInTime } from '../../src/lib/cached-check.js';

/** An engine whose answers the test gives, at a clock that the test moves. `limitMs` is real time. */
const engine = (limitMs = 60_000) => {
  const world = { now: 0, asked: 0, answer: (_value: string) => {}, fail: (_error: Error) => {} };
  const ask = (): Promise<string> => {
    world.asked++;
    return new Promise((resolve, reject) => {
      world.answer = resolve;
      world.fail = reject;
    });
  };
  return { world, question: cachedCheck(ask, { reuseMs: 1_000, limitMs, nowMs: () => world.now }) };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a question to an engine that may be silent', () => {
  it('is answered from memory for a moment, then asked again', async () => {
    const { world, question } = engine();
    const first = question();
    await settled();
    world.answer('one');
    expect(await first).toBe('one');
    world.now = 999;
    expect(await question()).toBe('one');
    expect(world.asked).toBe(1);
    world.now = 1_000;
    const second = question();
    await settled();
    world.answer('two');
    expect(await second).toBe('two');
  });

  it('ends within its limit, and asks no second time while the engine is silent', async () => {
    const { world, question } = engine(20);
    await expect(question()).rejects.toBeInstanceOf(NoAnswerInTime);
    world.now = 60_000;
    await expect(question()).rejects.toBeInstanceOf(NoAnswerInTime);
    expect(world.asked).toBe(1);
    world.answer('late');
    await settled();
    expect(await question()).toBe('late');
  });

  it('passes a failure on, keeps it for the same moment, and recovers', async () => {
    const { world, question } = engine();
    const first = question();
    await settled();
    world.fail(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await expect(question()).rejects.toThrow('gone');
    expect(world.asked).toBe(1);
    world.now = 1_000;
    const second = question();
    await settled();
    world.answer('back');
    expect(await second).toBe('back');
  });
});

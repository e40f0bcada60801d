import { describe, expect, it } from 'vitest';
import { cachedCheck, lastAnswer, NoAnswerInTime } from '../../src/lib/cached-check.js';

/** An engine whose answers the test gives, at a clock that the test moves. `limitMs` is real time. */
const checkedEngine = (limitMs = 60_000) => {
  const engine = { now: 0, asked: 0, answer: (_value: string) => {}, fail: (_error: Error) => {} };
  const ask = (): Promise<string> => {
    engine.asked++;
    return new Promise((resolve, reject) => {
      engine.answer = resolve;
      engine.fail = reject;
    });
  };
  return { engine, question: cachedCheck(ask, { reuseMs: 1_000, limitMs, nowMs: () => engine.now }) };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a question to an engine that may be silent', () => {
  it('is answered from memory for a moment, then asked again', async () => {
    const { engine, question } = checkedEngine();
    const first = question();
    await settled();
    engine.answer('one');
    expect(await first).toBe('one');
    engine.now = 999;
    expect(await question()).toBe('one');
    expect(engine.asked).toBe(1);
    engine.now = 1_000;
    const second = question();
    await settled();
    engine.answer('two');
    expect(await second).toBe('two');
  });

  it('ends within its limit, and asks no second time while the engine is silent', async () => {
    const { engine, question } = checkedEngine(20);
    await expect(question()).rejects.toBeInstanceOf(NoAnswerInTime);
    engine.now = 60_000;
    await expect(question()).rejects.toBeInstanceOf(NoAnswerInTime);
    expect(engine.asked).toBe(1);
    engine.answer('late');
    await settled();
    expect(await question()).toBe('late');
  });

  it('passes a failure on, keeps it for the same moment, and recovers', async () => {
    const { engine, question } = checkedEngine();
    const first = question();
    await settled();
    engine.fail(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await expect(question()).rejects.toThrow('gone');
    expect(engine.asked).toBe(1);
    engine.now = 1_000;
    const second = question();
    await settled();
    engine.answer('back');
    expect(await second).toBe('back');
  });
});

describe('the last answer of an engine', () => {
  it('stays in force while the engine fails or is silent', async () => {
    const answers = [async () => 'one', () => Promise.reject(new Error('gone')), () => new Promise<string>(() => {})];
    const ask = () => answers.shift()?.() ?? Promise.resolve('two');
    const question = lastAnswer(ask, { reuseMs: 0, limitMs: 20 });
    expect([await question(), await question(), await question()]).toEqual(['one', 'one', 'one']);
  });

  it('is undefined before the first one', async () => {
    const question = lastAnswer<string>(() => Promise.reject(new Error('gone')), { reuseMs: 0, limitMs: 20 });
    expect(await question()).toBeUndefined();
  });
});

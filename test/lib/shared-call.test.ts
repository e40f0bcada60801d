import { describe, expect, it } from 'vitest';
import { sharedCall } from '../../src/lib/shared-call.js';

describe('a call that callers share', () => {
  it('answers everyone who asked before it began, and begins another for those who came later', async () => {
    const begun: ((answer: string) => void)[] = [];
    const call = sharedCall(() => new Promise<string>((resolve) => void begun.push(resolve)), 0);
    const first = [call(), call()];
    await expect.poll(() => begun.length).toBe(1);
    const later = [call(), call(), call()];
    begun[0]?.('one');
    expect(await Promise.all(first)).toEqual(['one', 'one']);
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.('two');
    expect(await Promise.all(later)).toEqual(['two', 'two', 'two']);
    expect(begun).toHaveLength(2);
  });

  it('shows each caller what happened before it asked', async () => {
    let happened = 0;
    const call = sharedCall(async () => happened, 1);
    for (happened = 1; happened <= 5; happened += 1) expect(await call()).toBe(happened);
  });

  it('passes a failure on to those who share it, and then asks again', async () => {
    const answers = [() => Promise.reject(new Error('gone')), async () => 'back'];
    const call = sharedCall(async () => answers.shift()?.(), 0);
    const shared = await Promise.allSettled([call(), call()]);
    expect(shared.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await call()).toBe('back');
  });
});

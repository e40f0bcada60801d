import { describe, expect, it } from 'vitest';
import { createRenderPermits } from '../../../src/adapters/pdf/renderer.js';
import { TooManyWaiting } from '../../../src/lib/fair-semaphore.js';

describe('the places of documents to be drawn', () => {
  it('are bounded for each company, and free again once left, at most once', () => {
    const enter = createRenderPermits({ ofOne: 2, inAll: 10 });
    const leave = enter('a');
    enter('a');
    expect(() => enter('a')).toThrow(TooManyWaiting);
    enter('b');
    leave();
    leave();
    enter('a');
    expect(() => enter('a')).toThrow(expect.objectContaining({ bound: 'owner' }));
  });

  it('are bounded for all together, and leave each company a first one', () => {
    const enter = createRenderPermits({ ofOne: 3, inAll: 4 });
    for (const company of ['a', 'a', 'b', 'b']) enter(company);
    expect(() => enter('a')).toThrow(expect.objectContaining({ bound: 'all' }));
    const leave = enter('c');
    expect(() => enter('c')).toThrow(TooManyWaiting);
    leave();
    enter('c');
  });
});

import { describe, expect, it } from 'vitest';
import { createPlaces } from '../../../src/adapters/pdf/places-in-line.js';
import { TooMuchWaits } from '../../../src/waiting/fair-gate.js';

describe('the places of documents to be drawn', () => {
  it('are bounded for each company, and free again once left, at most once', () => {
    const enter = createPlaces({ ofOne: 2, inAll: 10 });
    const leave = enter('a');
    enter('a');
    expect(() => enter('a')).toThrow(TooMuchWaits);
    enter('b');
    leave();
    leave();
    enter('a');
    expect(() => enter('a')).toThrow(TooMuchWaits);
  });

  it('are bounded for all together, and leave each company a first one', () => {
    const enter = createPlaces({ ofOne: 3, inAll: 4 });
    for (const company of ['a', 'a', 'b', 'b']) enter(company);
    expect(() => enter('a')).toThrow(TooMuchWaits);
    const leave = enter('c');
    expect(() => enter('c')).toThrow(TooMuchWaits);
    leave();
    enter('c');
  });
});

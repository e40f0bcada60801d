import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allocateNumber,
  beginNumbers,
  blockSeries,
  dpsNumbers,
  goOnAfterNotes,
  MAX_DPS_NUMBER,
  moveNumber,
} from '../../../src/domain/dps-number/dps-number.js';
import {
  type DpsNumberEvent,
  dpsNumberEventTypes,
  dpsNumberPersonalFields,
} from '../../../src/domain/dps-number/events.js';

const AT = '2026-11-21T12:00:00.000Z';
const free = { nextNumber: 7, blocked: false };
const blocked = { nextNumber: 7, blocked: true };

const allocated: DpsNumberEvent = {
  type: 'DpsNumberAllocated',
  data: { number: 6, nextNumber: 7, invoiceId: 'a', at: AT },
};
const stopped: DpsNumberEvent = {
  type: 'DpsSeriesBlocked',
  data: { number: 5, nextNumber: 7, invoiceId: 'a', at: AT },
};
const moved: DpsNumberEvent = { type: 'DpsNumberMoved', data: { nextNumber: 7, at: AT } };

describe('the last event alone tells where a series stands', () => {
  it.each<[string, DpsNumberEvent | undefined, object]>([
    ['none: the start in the company file', undefined, { nextNumber: 1, blocked: false }],
    ['a number was given', allocated, free],
    ['the operator moved it', moved, free],
    ['a foreign note stopped it', stopped, blocked],
  ])('%s', (_what, last, numbers) => {
    expect(dpsNumbers(last, 1)).toEqual(numbers);
  });
});

describe('a number', () => {
  it('is the next one, and goes to its invoice', () => {
    expect(allocateNumber(free, 'b', AT)).toEqual({
      events: [{ type: 'DpsNumberAllocated', data: { number: 7, nextNumber: 8, invoiceId: 'b', at: AT } }],
    });
  });

  it('has at most 15 digits', () => {
    expect(MAX_DPS_NUMBER).toBe(999_999_999_999_999);
    expect(allocateNumber({ nextNumber: MAX_DPS_NUMBER, blocked: false }, 'b', AT)).toMatchObject({
      events: [{ data: { number: MAX_DPS_NUMBER } }],
    });
    expect(allocateNumber({ nextNumber: MAX_DPS_NUMBER + 1, blocked: false }, 'b', AT)).toEqual({
      refused: 'series_exhausted',
    });
  });

  it('is not given while the series is blocked', () => {
    expect(allocateNumber(blocked, 'b', AT)).toEqual({ refused: 'series_blocked' });
  });
});

describe('a foreign note under one of our ids', () => {
  it('blocks the series where it stands', () => {
    expect(blockSeries(free, 5, 'a', AT)).toEqual({ events: [stopped] });
  });

  it('blocks it once', () => {
    expect(blockSeries(blocked, 6, 'b', AT)).toEqual({ events: [] });
  });
});

describe('an operator who moves the series', () => {
  it('records where it begins, when it has no events', () => {
    expect(beginNumbers(100, AT)).toEqual({
      events: [{ type: 'DpsNumberMoved', data: { nextNumber: 100, at: AT } }],
    });
  });

  it('may go forward', () => {
    expect(moveNumber(free, 100, AT)).toEqual({
      events: [{ type: 'DpsNumberMoved', data: { nextNumber: 100, at: AT } }],
    });
  });

  it('may not go back, not even by one', () => {
    expect(moveNumber(free, 6, AT)).toEqual({
      refused: 'the next DPS number can only be moved forward: it is 7',
    });
    expect(moveNumber(blocked, 6, AT)).toHaveProperty('refused');
    expect(moveNumber({ ...free, nextNumber: 1_000_000_000_000_000 }, 6, AT)).toEqual({
      refused: 'the series is used up, its last number was given: name another series',
    });
  });

  it('to where it stands says nothing new, unless it was blocked', () => {
    expect(moveNumber(free, 7, AT)).toEqual({ events: [] });
    expect(moveNumber(blocked, 7, AT)).toEqual({ events: [moved] });
  });
});

describe('a comparison that found notes under numbers of the series', () => {
  const movedTo = (nextNumber: number) => ({ events: [{ type: 'DpsNumberMoved', data: { nextNumber, at: AT } }] });

  it('moves it past all of them', () => {
    for (const numbers of [free, blocked])
      expect(goOnAfterNotes(numbers, [9, 3, 7], undefined, AT)).toEqual(movedTo(10));
    expect(goOnAfterNotes(free, [7], undefined, AT)).toEqual(movedTo(8));
  });

  it('leaves it where it stands when all are before that', () => {
    for (const found of [[], [3, 6]]) expect(goOnAfterNotes(free, found, undefined, AT)).toEqual({ events: [] });
  });

  it('lifts its stop only when the note that stopped it is among them', () => {
    expect(goOnAfterNotes(blocked, [3, 5], 5, AT)).toEqual({ events: [moved] });
    for (const found of [[], [3, 6]]) expect(goOnAfterNotes(blocked, found, 5, AT)).toEqual({ events: [] });
    expect(goOnAfterNotes(blocked, [3, 5], undefined, AT)).toEqual({ events: [] });
  });
});

describe('whatever is asked of a series', () => {
  type Wish = 'allocate' | 'block' | { move: number };
  const command = fc.oneof(
    fc.constantFrom<Wish>('allocate', 'allocate', 'block'),
    fc.record({ move: fc.integer({ min: 1, max: 60 }) }),
  );

  it('no number is given twice, and none while it is blocked', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (wishes) => {
        let last: DpsNumberEvent | undefined;
        const given: number[] = [];
        for (const asked of wishes) {
          const numbers = dpsNumbers(last, 1);
          if (asked === 'allocate') {
            const allocation = allocateNumber(numbers, 'i', AT);
            expect('refused' in allocation).toBe(numbers.blocked);
            if ('refused' in allocation) continue;
            for (const event of allocation.events) {
              if (event.type === 'DpsNumberAllocated') given.push(event.data.number);
              last = event;
            }
          } else if (asked === 'block') {
            last = blockSeries(numbers, given.at(-1) ?? 1, 'i', AT).events[0] ?? last;
          } else {
            const move = moveNumber(numbers, asked.move, AT);
            if ('events' in move) last = move.events[0] ?? last;
          }
          expect(dpsNumbers(last, 1).nextNumber).toBeGreaterThanOrEqual(numbers.nextNumber);
        }
        expect(given).toEqual([...new Set(given)].sort((a, b) => a - b));
      }),
    );
  });
});

it('nothing of a series is personal', () => {
  expect(Object.values(dpsNumberPersonalFields)).toEqual([[], [], []]);
  expect(dpsNumberEventTypes).toEqual(['DpsNumberAllocated', 'DpsNumberMoved', 'DpsSeriesBlocked']);
});

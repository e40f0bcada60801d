import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../src/lib/fair-semaphore.js';

const lineOf = (items: readonly (readonly [string, number])[]) => {
  const line = createFairQueue<number>();
  for (const [owner, item] of items) line.push(owner, item);
  return line;
};

const emptied = (line: ReturnType<typeof createFairQueue<number>>): readonly (readonly [string, number])[] => {
  const order: [string, number][] = [];
  for (let turn = line.next(); turn !== undefined; turn = line.next()) order.push([turn.owner, turn.item]);
  return order;
};

describe('a fair line', () => {
  it('gives the owners turns, and each owner its own order', () => {
    const line = lineOf([
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['b', 4],
      ['c', 5],
      ['b', 6],
    ]);
    expect(emptied(line).map(([, item]) => item)).toEqual([1, 4, 5, 2, 6, 3]);
  });

  it('passes over who may not go, without taking the turn', () => {
    const line = lineOf([
      ['a', 1],
      ['b', 2],
    ]);
    expect(line.next((owner) => owner !== 'a')?.item).toBe(2);
    expect(line.next((owner) => owner !== 'a')).toBeUndefined();
    expect(line.next()?.item).toBe(1);
  });

  it('puts first what had its turn already, and forgets what gave up', () => {
    const line = lineOf([
      ['a', 1],
      ['b', 2],
      ['b', 3],
    ]);
    line.remove('b', 2);
    line.remove('b', 2);
    line.remove('nobody', 1);
    line.pushFirst('b', 4);
    expect([line.waitingOf('a'), line.waitingOf('b'), line.waitingOf('c')]).toEqual([1, 2, 0]);
    expect(emptied(line).map(([, item]) => item)).toEqual([4, 1, 3]);
    expect(line.takeAll()).toEqual([]);
  });

  it('lets the others go before an owner of whom eight wait, and then gives turns again', () => {
    const flood = Array.from({ length: 9 }, (_, index) => ['a', index] as const);
    const line = lineOf([...flood, ['b', 20], ['c', 30], ['b', 21], ['b', 22]]);
    expect(emptied(line).map(([, item]) => item)).toEqual([20, 30, 21, 22, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const again = lineOf([...flood, ['b', 20]]);
    again.pushFirst('a', 99);
    expect(again.next()?.item).toBe(99);
    const shorter = lineOf([...flood.slice(0, 7), ['b', 20], ['b', 21]]);
    expect(emptied(shorter).map(([, item]) => item)).toEqual([0, 20, 1, 21, 2, 3, 4, 5, 6]);
  });

  it('serves an owner that floods once in ten turns, however long another one goes on', () => {
    const line = lineOf([...Array.from({ length: 30 }, (_, index) => ['a', index] as const), ['b', 100]]);
    const places: number[] = [];
    for (let place = 0; place < 30; place += 1) {
      if (line.next()?.owner === 'a') places.push(place);
      else line.push('b', 100);
    }
    expect(places).toEqual([8, 18, 28]);
  });

  it('loses and doubles nothing, and no item of an owner that does not flood stands behind two of another owner that came after it', () => {
    const owned = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat()), { maxLength: 40 });
    fc.assert(
      fc.property(owned, (items) => {
        const order = emptied(lineOf(items));
        expect(order.toSorted()).toEqual(items.map((item) => [...item]).toSorted());
        for (const owner of ['a', 'b', 'c', 'd']) {
          if (items.filter(([of]) => of === owner).length >= 8) continue;
          const first = order.findIndex(([of]) => of === owner);
          const before = order.slice(0, Math.max(0, first)).map(([of]) => of);
          expect(new Set(before).size).toBe(before.length);
        }
      }),
    );
  });
});

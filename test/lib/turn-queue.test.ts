import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTurnQueue } from '../../src/lib/turn-queue.js';

type Owned = readonly [owner: string, item: number];

const emptied = (items: readonly Owned[]): readonly Owned[] => {
  const queue = createTurnQueue<Owned>();
  for (const item of items) queue.push(item[0], item);
  const order: Owned[] = [];
  for (let item = queue.next(); item !== undefined; item = queue.next()) order.push(item);
  expect(queue.isEmpty()).toBe(true);
  return order;
};

describe('a queue of turns', () => {
  it('gives each owner its turn behind one item of each other owner, however many these have', () => {
    const flood = Array.from({ length: 100 }, (_, index) => ['a', index] as const);
    const order = emptied([...flood, ['b', 0], ['c', 0], ['b', 1]]);
    expect(order.slice(0, 6).map(([owner]) => owner)).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('puts an owner that comes back behind the others', () => {
    const queue = createTurnQueue<number>();
    queue.push('a', 1);
    queue.push('b', 2);
    queue.push('b', 3);
    expect(queue.next()).toBe(1);
    queue.push('a', 4);
    expect([queue.next(), queue.next(), queue.next(), queue.next()]).toEqual([2, 4, 3, undefined]);
  });

  it('loses and doubles nothing, and keeps the order of each owner', () => {
    const owned = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
    fc.assert(
      fc.property(owned, (owners) => {
        const items = owners.map((owner, index) => [owner, index] as const);
        const order = emptied(items);
        for (const owner of ['a', 'b', 'c', 'd']) {
          const ofOwner = ([of]: Owned): boolean => of === owner;
          expect(order.filter(ofOwner)).toEqual(items.filter(ofOwner));
        }
        expect(order).toHaveLength(items.length);
      }),
    );
  });
});

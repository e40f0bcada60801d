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

  it('gives a held owner no turn until it is released, and counts its items as not there', () => {
    const queue = createTurnQueue<number>();
    queue.hold('a');
    for (const item of [1, 2]) queue.push('a', item);
    expect([queue.isEmpty(), queue.next()]).toEqual([true, undefined]);
    queue.push('b', 3);
    expect(queue.isEmpty()).toBe(false);
    queue.release('a');
    queue.release('a');
    expect([queue.next(), queue.next()]).toEqual([3, 1]);
    queue.hold('a');
    queue.hold('a');
    queue.push('b', 4);
    expect([queue.next(), queue.isEmpty(), queue.next()]).toEqual([4, true, undefined]);
    queue.release('a');
    expect([queue.isEmpty(), queue.next(), queue.isEmpty()]).toEqual([false, 2, true]);
  });

  it('keeps the order of owners that are held and released in between', () => {
    const step = fc.record({
      what: fc.constantFrom('push', 'next', 'hold', 'release'),
      owner: fc.constantFrom('a', 'b'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = createTurnQueue<Owned>();
        const held = new Set<string>();
        const pushed: Owned[] = [];
        const taken: Owned[] = [];
        const isOf =
          (owner: string) =>
          ([of]: Owned): boolean =>
            of === owner;
        const left = (owner: string): number => pushed.filter(isOf(owner)).length - taken.filter(isOf(owner)).length;
        for (const [index, { what, owner }] of steps.entries()) {
          if (what === 'push') {
            pushed.push([owner, index]);
            queue.push(owner, [owner, index]);
          } else if (what === 'next') {
            const item = queue.next();
            if (item !== undefined) {
              expect(held.has(item[0])).toBe(false);
              taken.push(item);
            }
          } else if (what === 'hold') {
            held.add(owner);
            queue.hold(owner);
          } else {
            held.delete(owner);
            queue.release(owner);
          }
          expect(queue.isEmpty()).toBe(!['a', 'b'].some((of) => !held.has(of) && left(of) > 0));
        }
        for (const owner of ['a', 'b']) queue.release(owner);
        for (let item = queue.next(); item !== undefined; item = queue.next()) taken.push(item);
        for (const owner of ['a', 'b']) expect(taken.filter(isOf(owner))).toEqual(pushed.filter(isOf(owner)));
      }),
    );
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

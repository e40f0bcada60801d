import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDueHeap } from '../../../src/adapters/queue-memory/memory-queue.js';

type Item = { dueMs: number; id: number };

const expectedFirst = (model: readonly Item[]): Item | undefined =>
  [...model].sort((a, b) => a.dueMs - b.dueMs || a.id - b.id)[0];

describe('a heap by due time', () => {
  it('gives the earliest due item first, and items of one due time in the order of their push', () => {
    const steps = fc.array(fc.option(fc.integer({ min: 0, max: 9 }), { nil: 'pop' as const }), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (all) => {
        const heap = createDueHeap<Item>();
        let model: readonly Item[] = [];
        all.forEach((step, id) => {
          const first = expectedFirst(model);
          if (step === 'pop') {
            heap.pop();
            model = model.filter((item) => item !== first);
          } else {
            heap.push({ dueMs: step, id });
            model = [...model, { dueMs: step, id }];
          }
          expect(heap.first()).toEqual(expectedFirst(model));
        });
      }),
    );
  });
});

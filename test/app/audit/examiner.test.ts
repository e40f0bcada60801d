import { expect, it } from 'vitest';
import { type EventPage, type Examiner, examined } from '../../../src/app/audit/examiner.js';

const toPage = (items: readonly string[]): EventPage => ({ form: 'lines', items });

async function* pagesOf(pages: readonly (readonly string[])[], failure?: Error) {
  yield* pages;
  if (failure !== undefined) throw failure;
}

/** Answers the last page first. */
const lateExaminer = (atOnce: number): Examiner & { most(): number } => {
  let underWay = 0;
  let most = 0;
  return {
    atOnce,
    most: () => most,
    examine: async ({ items }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      for (let turn = 0; turn < 20 - 5 * underWay; turn += 1) await Promise.resolve();
      underWay -= 1;
      return items.map((item) => ({ event: undefined, fault: String(item) }));
    },
  };
};

const faultsOf = async (walk: ReturnType<typeof examined>): Promise<readonly (string | undefined)[]> => {
  const faults: (string | undefined)[] = [];
  for await (const { examinations } of walk) for (const { fault } of examinations) faults.push(fault);
  return faults;
};

it.each([1, 2, 3])('gives the pages in their order, however late each is examined: %i at once', async (atOnce) => {
  const examiner = lateExaminer(atOnce);
  const pages = [['a', 'b'], ['c'], ['d'], ['e', 'f']];
  expect(await faultsOf(examined(pagesOf(pages), toPage, examiner))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  expect(examiner.most()).toBe(atOnce);
});

it('tells of a source that broke only behind the pages before it', async () => {
  const walk = examined(pagesOf([['a'], ['b']], new Error('broken')), toPage, lateExaminer(3));
  expect((await walk.next()).value?.examinations).toEqual([{ event: undefined, fault: 'a' }]);
  expect((await walk.next()).value?.examinations).toEqual([{ event: undefined, fault: 'b' }]);
  await expect(walk.next()).rejects.toThrow('broken');
});

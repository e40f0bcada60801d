import { sqlFault } from './errors.js';

/** Answers all items of a batch in their order, in one statement. */
export type SendBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

/** A statement carries at most this many items. */
const MOST = 128;
/** Statements under way at once: one that waits for a lock does not hold up the others. */
const AT_ONCE = 2;

type Waiting<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void };

/**
 * Shares round trips: calls of one turn of the loop, and those that come while earlier statements are under way, travel
 * together. A call never joins a statement that was sent before it came, so an answer is never older than its question.
 * A refusal that may be the fault of one item is found out by sending each alone; a lost server fails all.
 */
export const batched = <Item, Result>(send: SendBatch<Item, Result>): ((item: Item) => Promise<Result>) => {
  const queue: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled || underWay >= AT_ONCE || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      underWay += 1;
      void deliver(queue.splice(0, MOST), send).finally(() => {
        underWay -= 1;
        schedule();
      });
      schedule();
    });
  };

  return (item) =>
    new Promise((resolve, reject) => {
      queue.push({ item, resolve, reject });
      schedule();
    });
};

const deliver = async <Item, Result>(
  batch: readonly Waiting<Item, Result>[],
  send: SendBatch<Item, Result>,
): Promise<void> => {
  try {
    const results = await send(batch.map(({ item }) => item));
    if (results.length !== batch.length) throw new Error('a statement did not answer each of its items');
    for (const [index, result] of results.entries()) batch[index]?.resolve(result);
  } catch (error) {
    if (batch.length > 1 && sqlFault(error) === 'other') for (const one of batch) await deliver([one], send);
    else for (const { reject } of batch) reject(error);
  }
};

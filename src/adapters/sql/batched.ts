import { sqlFault } from './errors.js';

/** Sends a batch as one statement; returns one result per item, in the order of the items. */
type SendBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

/** Most items of one statement. */
const MAX_ITEMS = 128;
/** Statements under way at once, so that a statement that waits for a lock does not hold up the next. */
const MAX_STATEMENTS = 2;

type Waiting<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void };

/**
 * Shares round trips: calls of one turn of the event loop, and calls that arrive while earlier statements are under way, share a statement. A call
 * never joins a statement that was sent before, so an answer is never older than its question. After a refusal that one item may have caused, each
 * item is sent alone; when the server is lost, all calls reject.
 */
export const batched = <Item, Result>(send: SendBatch<Item, Result>): ((item: Item) => Promise<Result>) => {
  const queue: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled || underWay >= MAX_STATEMENTS || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      underWay += 1;
      void deliver(queue.splice(0, MAX_ITEMS), send).finally(() => {
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

import { deliverBatch, type SendBatch, type Waiting } from '../../lib/batches.js';
import { sqlFault } from './errors.js';

/** Most items of one statement. */
const MAX_ITEMS = 128;
/** Statements under way at once, so that a statement that waits for a lock does not hold up the next. */
const MAX_STATEMENTS = 2;

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
      void deliverBatch(queue.splice(0, MAX_ITEMS), send, mayBeOfOneItem).finally(() => {
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

const mayBeOfOneItem = (error: unknown): boolean => sqlFault(error) === 'other';

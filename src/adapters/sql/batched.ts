import type pg from 'pg';
import { deliverBatch, type SendBatch, type Waiting } from '../../lib/batches.js';
import { textArray } from './arrays.js';
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

/** A prepared statement that finds rows by the array of keys in `$1`; each row says its `key`. */
type StatementByKeys = { name: string; text: string };

/**
 * Reads the rows of a key. The keys that are asked for in one turn of the event loop share a statement (`batched`), so requests of many companies
 * cost about as many statements as requests of one. A key that is not asked for yet is asked for once, and its callers share the rows. Rows are given
 * as the driver returns them, so that a damaged row fails only who reads it.
 */
export const readsByKey = <Row extends { key: string }>(
  pool: pg.Pool,
  statement: StatementByKeys,
): ((key: string) => Promise<readonly Row[]>) => {
  const unsent = new Map<string, Promise<readonly Row[]>>();
  const ask = batched<string, readonly Row[]>(async (keys) => {
    for (const key of keys) unsent.delete(key);
    // After a failed statement a key may stand here twice, and a statement over `unnest` would find its rows twice.
    const { rows } = await pool.query<Row>({ ...statement, values: [textArray([...new Set(keys)])] });
    const found = new Map<string, Row[]>(keys.map((key) => [key, []]));
    for (const row of rows) found.get(row.key)?.push(row);
    return keys.map((key) => found.get(key) ?? []);
  });
  return (key) => {
    const rows = unsent.get(key) ?? ask(key);
    unsent.set(key, rows);
    return rows;
  };
};

import type pg from 'pg';
import { textArray } from './arrays.js';
import { batched } from './batched.js';

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

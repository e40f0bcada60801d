import type pg from 'pg';
import { IssuingPaused } from '../../ports/event-log.js';

/**
 * Identity of a log in another engine: while issuing over that log is paused, nothing is reserved for a request (ADR 14). Absent for a log in the
 * database of the guards, which refuses the append.
 */
export type LogApart = { logApart?: (() => Promise<string>) | undefined };

type Reserving = { name: string; text: string; values: unknown[] };

/**
 * Runs a statement that reserves something for requests and returns a row for each; `text` ends with its FROM. Throws `IssuingPaused`, and reserves
 * nothing, while a pause is recorded. PostgreSQL evaluates a condition without columns first, and calls no function of the FROM when it is false.
 */
export const unlessPaused = async <Row extends pg.QueryResultRow>(
  db: pg.Pool,
  { name, text, values }: Reserving,
  logApart: LogApart['logApart'],
): Promise<Row[]> => {
  if (logApart === undefined) return (await db.query<Row>({ name, text, values })).rows;
  const { rows } = await db.query<Row>({
    name: `${name}-apart`,
    text: `${text} where not exists (select from log_set_back where log_identity = $${values.length + 1})`,
    values: [...values, await logApart()],
  });
  if (rows.length === 0) throw new IssuingPaused();
  return rows;
};

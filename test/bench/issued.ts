import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { BenchHarness } from './harness.js';
import type { Load } from './load-process.js';

const LOOK_EVERY_MS = 25;
const PATIENCE_MS = 120_000;
const IN_FLIGHT = 16;

/** Posts invoices and waits until the log has the authorization of each; answers the seconds from first to last. */
export const postUntilIssued = async (
  harness: BenchHarness,
  db: pg.Pool,
  count: number,
  what: Load['what'] = { kind: 'post' },
): Promise<number> => {
  const authorizations = countAuthorizations(db);
  await authorizations();
  const begun = performance.now();
  await harness.load({
    target: harness.service.ready,
    what,
    inFlight: IN_FLIGHT,
    until: { requests: count },
  });
  for (let issued = await authorizations(); issued < count; issued += await authorizations()) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error('not every invoice was issued in time');
    await pause(LOOK_EVERY_MS);
  }
  return (performance.now() - begun) / 1000;
};

/** Each call counts the authorizations since the call before. A count over the whole log would take much of the processor that is measured. */
const countAuthorizations = (db: pg.Pool): (() => Promise<number>) => {
  let after = '0';
  return async () => {
    const { rows } = await db.query<{ count: number; last: string }>(
      `select count(*) filter (where type = 'Authorized')::int as count, coalesce(max(position), $1) as last
       from event_log where position > $1::bigint`,
      [after],
    );
    after = rows[0]?.last ?? after;
    return rows[0]?.count ?? 0;
  };
};

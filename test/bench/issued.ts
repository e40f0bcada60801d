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
  const wanted = (await authorizations(db)) + count;
  const begun = performance.now();
  await harness.load({
    target: harness.service.ready,
    what,
    inFlight: IN_FLIGHT,
    until: { requests: count },
  });
  while ((await authorizations(db)) < wanted) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error('not every invoice was issued in time');
    await pause(LOOK_EVERY_MS);
  }
  return (performance.now() - begun) / 1000;
};

const authorizations = async (db: pg.Pool): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from event_log where type = 'Authorized'`,
  );
  return rows[0]?.count ?? 0;
};

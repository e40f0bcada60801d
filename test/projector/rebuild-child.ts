import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { invoices } from '../../projections/invoices.js';
import { postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { rebuildProjection } from '../../src/projector/rebuild.js';
import { systemClock } from '../../src/runtime/engines/clock.js';

/** `middle`: between two batches. The others: when the transaction that changes the view is about to commit, or has. */
type KillPoint = 'middle' | 'before the commit of the swap' | 'after the commit of the swap';

const die = async (marker: string): Promise<never> => {
  writeFileSync(marker, 'dead');
  process.kill(process.pid, 'SIGKILL');
  for (;;) await pause(1_000);
};

/** The pool, whose connections die around the commit of the transaction that changed the view. */
const doomed = (pool: pg.Pool, point: KillPoint, marker: string): pg.Pool => {
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    let swaps = false;
    const watched = async (...args: unknown[]): Promise<unknown> => {
      const text = String(args[0]);
      swaps ||= text.includes('create view');
      const isLast = swaps && text === 'commit';
      if (isLast && point === 'before the commit of the swap') await die(marker);
      const answer = await query(...args);
      if (isLast && point === 'after the commit of the swap') await die(marker);
      return answer;
    };
    // The pool's own calls with a callback go to the real connection.
    client.query = ((...args: unknown[]) =>
      typeof args.at(-1) === 'function' ? query(...args) : watched(...args)) as typeof client.query;
  });
  return pool;
};

/** Rebuilds `invoices` of the database in `DATABASE_URL` and dies at `KILL_POINT`; `MARKER` proves that it died there. */
const main = async ({ DATABASE_URL = '', KILL_POINT, MARKER = '' }: NodeJS.ProcessEnv): Promise<void> => {
  const point = KILL_POINT as KillPoint;
  const log = postgresEventLog({ connectionString: DATABASE_URL });
  const pool = openPool({ connectionString: DATABASE_URL, max: 4, applicationName: 'doomed' });
  let batches = 0;
  await rebuildProjection(invoices, new AbortController().signal, {
    // Small batches, so that there is a middle.
    log: {
      ...log,
      readAll: async (options) => {
        batches += 1;
        if (point === 'middle' && batches === 5) await die(MARKER);
        return await log.readAll({ ...options, limit: 10 });
      },
    },
    db: doomed(pool, point, MARKER),
    clock: systemClock,
  });
};

await main(process.env);

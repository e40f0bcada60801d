import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { roles } from '../../src/runtime/config/config.js';
import { compareServers, startBare } from './compare.js';
import { type BenchHarness, withBenchHarness } from './harness.js';
import { postUntilIssued } from './issued.js';
import type { Row } from './report.js';

const INVOICES = 100;
const LOOK_EVERY_MS = 50;

/** `GET /v1/nfse/{id}` of issued invoices, against bare Hono and one SELECT of the same bodies (aim: docs/development.md#bench). */
export const benchRead = (): Promise<readonly Row[]> =>
  withBenchHarness(roles, async (harness) => {
    const db = new pg.Pool({ connectionString: harness.service.ready.connectionString, max: 1 });
    harness.alsoStop(() => db.end());
    await postUntilIssued(harness, db, INVOICES);
    const bare = await startBare(harness, 0);
    const ids = await copyBodies(harness, db);
    return [await compareServers(harness, bare, { name: 'read (GET by id)', aim: 0.7, what: { kind: 'get', ids } })];
  });

/** Gives the bare server the very bodies that the service answers with. */
const copyBodies = async ({ service }: BenchHarness, db: pg.Pool): Promise<readonly string[]> => {
  const { origin, key } = service.ready;
  const ids = await projectedIds(db);
  for (const id of ids) {
    const answer = await fetch(`${origin}/v1/nfse/${id}`, { headers: { authorization: `Bearer ${key}` } });
    const body = await answer.text();
    if (!body.includes('"status":"issued"')) throw new Error('an invoice that was issued is not shown so');
    await db.query('insert into bare_read (id, body) values ($1, $2)', [id, body]);
  }
  return ids;
};

/** Rows, not folds, are what is measured: so the projector must have seen them all. */
const projectedIds = async (db: pg.Pool): Promise<readonly string[]> => {
  for (;;) {
    const { rows } = await db.query<{ invoice_id: string }>(
      'select invoice_id from read.invoices where access_key is not null',
    );
    if (rows.length >= INVOICES) return rows.map(({ invoice_id }) => `nfse_${invoice_id}`);
    await pause(LOOK_EVERY_MS);
  }
};

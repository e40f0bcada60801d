import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { createClient } from '../../src/client/client.js';
import { roles } from '../../src/runtime/config/config.js';
import { startChild } from './child.js';
import { type Comparison, compareServers, ROUND_MS, startBare } from './compare.js';
import { type BenchHarness, withBenchHarness } from './harness.js';
import { postUntilIssued } from './issued.js';
import type { Load, LoadResult } from './load-process.js';
import type { Row } from './report.js';

const INVOICES = 100;
/** Fewer than the service keeps in memory. */
const PDFS = 20;
const LOOK_EVERY_MS = 50;
/** Invoices a second that are accepted and issued while both servers are read. */
const WRITES_PER_SECOND = 5;

/**
 * What reads the service against bare Hono (aims: test/bench/README.md): an invoice by its id and by its reference against one SELECT of the
 * same bodies, while invoices are issued beside both; and a PDF from the cache against a file of the same bytes.
 */
export const benchRead = (): Promise<readonly Row[]> =>
  withBenchHarness(roles, async (harness) => {
    const db = new pg.Pool({ connectionString: harness.service.ready.connectionString, max: 1 });
    harness.alsoStop(() => db.end());
    await postUntilIssued(harness, db, INVOICES, { kind: 'post', referenced: true });
    const ids = await projectedIds(db);
    const paths = ids.map((id) => `/v1/nfse/${id}`);
    const file = join(harness.home, 'note.pdf');
    const { origin, key } = harness.service.ready;
    await writeFile(file, await createClient({ baseUrl: origin, key }).download(ids[0] ?? '', 'pdf'));
    const bare = await startBare(harness, { file });
    const finds = await copyBodies(harness, db, ids);
    const beside = await issueBeside(harness);
    const comparisons: readonly Comparison[] = [
      { name: 'read (GET by id)', aim: 0.9, what: { kind: 'get', paths }, beside },
      { name: 'find by reference', aim: 0.8, what: { kind: 'get', paths: finds }, beside },
      {
        name: 'PDF from the cache',
        aim: 0.5,
        what: { kind: 'get', paths: paths.slice(0, PDFS).map((path) => `${path}/pdf`) },
      },
    ];
    const rows: Row[] = [];
    for (const comparison of comparisons) rows.push(await compareServers(harness, bare, comparison));
    return rows;
  });

const issueBeside = async ({ service, alsoStop }: BenchHarness): Promise<() => Promise<unknown>> => {
  const writer = await startChild<true, Load, LoadResult>('load-process.ts', null);
  alsoStop(writer.stop);
  const load: Load = {
    target: service.ready,
    what: { kind: 'post' },
    inFlight: 4,
    perSecond: WRITES_PER_SECOND,
    until: { milliseconds: ROUND_MS },
  };
  return () => writer.ask(load);
};

/** The very bytes, which the client of the API does not show. */
const bodyAt = async ({ service }: BenchHarness, path: string): Promise<string> => {
  const { origin, key } = service.ready;
  const answer = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
  return await answer.text();
};

/** Gives the bare server the very bodies that the service answers with; answers the paths by reference. */
const copyBodies = async (harness: BenchHarness, db: pg.Pool, ids: readonly string[]): Promise<readonly string[]> => {
  const paths: string[] = [];
  const copy = async (id: string, body: string): Promise<void> => {
    if (!body.includes('"status":"issued"')) throw new Error('an invoice that was issued is not shown so');
    await db.query('insert into bare_read (id, body) values ($1, $2)', [id, body]);
  };
  for (const id of ids) {
    const body = await bodyAt(harness, `/v1/nfse/${id}`);
    await copy(id, body);
    const { reference }: { reference: string } = JSON.parse(body);
    const path = `/v1/nfse?reference=${reference}`;
    await copy(reference, await bodyAt(harness, path));
    paths.push(path);
  }
  return paths;
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

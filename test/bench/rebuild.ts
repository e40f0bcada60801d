import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { deadlines } from '../../projections/deadlines.js';
import { invoices } from '../../projections/invoices.js';
import type { Projection } from '../../projections/types.js';
import { postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { createEventStore, NO_STREAM } from '../../src/app/event-store/event-store.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { prepareProjections } from '../../src/projector/projector.js';
import { rebuildProjection } from '../../src/projector/rebuild.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { accepted, attempted, authorized, streamOf } from '../support/fixture/histories.js';
import { sealingKeys } from '../support/harness/projector.js';
import { startLockedPostgres } from '../support/locked-postgres.js';
import { verifyChain } from '../support/verify-chain.js';
import { AUDIT_AIM, rated } from './rated.js';
import type { Row } from './report.js';

const INVOICES = 5_000;
const EVENTS = 3 * INVOICES;
const WRITERS = 64;

/** Rebuilding the read model and verifying the hash chain over a log of issued invoices (aim: test/bench/README.md). */
export const benchRebuild = async (): Promise<readonly Row[]> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-bench-'));
  await chmod(home, 0o711);
  const server = await startLockedPostgres({ dataDir: join(home, 'data'), log: () => undefined });
  const { superuserConnectionString: connectionString } = server;
  const pool = openPool({ connectionString, max: 5, applicationName: 'bench' });
  const log = postgresEventLog({ connectionString });
  try {
    await migrate(pool, migrations);
    await prepareProjections(pool, log, systemClock, [invoices, deadlines]);
    const size = { events: EVENTS, bytes: await writeLog(log, pool) };
    return [
      await rated('rebuild: invoices', size, () => rebuild(invoices, log, pool), AUDIT_AIM),
      await rated('rebuild: deadlines', size, () => rebuild(deadlines, log, pool), AUDIT_AIM),
      await rated('verify the hash chain', size, () => verify(log), AUDIT_AIM),
    ];
  } finally {
    await log.close();
    await pool.end();
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
};

/** As `nfse projections rebuild`: a fresh generation beside the live one, up to the head of the log, then the swap. */
const rebuild = async (projection: Projection, log: EventLog, pool: pg.Pool): Promise<void> => {
  const outcome = await rebuildProjection(projection, new AbortController().signal, {
    log,
    db: pool,
    clock: systemClock,
  });
  if (outcome.kind !== 'live' || outcome.events !== EVENTS) throw new Error(`the rebuild ended: ${outcome.kind}`);
};

const verify = async (log: EventLog): Promise<void> => {
  const { events, findings } = await verifyChain(log, ['nfse']);
  if (events !== EVENTS || findings.length > 0) throw new Error('the generated log does not verify');
};

/** Answers the bytes of all records. */
const writeLog = async (log: EventLog, pool: pg.Pool): Promise<number> => {
  const store = createEventStore(log, sealingKeys);
  let written = 0;
  const writer = async (): Promise<void> => {
    while (written < INVOICES) {
      written += 1;
      await writeInvoice(store, written);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  // Statistics as after hours of service; without them the planner makes bad plans.
  await pool.query('vacuum analyze event_log');
  const { rows } = await pool.query<{ bytes: string }>('select sum(length(record)) as bytes from event_log');
  return Number(rows[0]?.bytes);
};

/** As large as the documents of a real invoice are when compressed: random bytes, which do not compress again. */
const SIGNED_DPS = randomBytes(1_700).toString('base64');
const AUTHORIZED_XML = randomBytes(3_000).toString('base64');

const writeInvoice = async (store: ReturnType<typeof createEventStore>, number: number): Promise<void> => {
  const attempt = attempted(1, 1);
  const outcome = authorized(1, 2);
  if (attempt.type !== 'IssuanceAttempted' || outcome.type !== 'Authorized') throw new Error('not an issued invoice');
  const events = [
    accepted('live', number),
    { ...attempt, data: { ...attempt.data, signedDpsGzip: SIGNED_DPS } },
    { ...outcome, data: { ...outcome.data, nfseXmlGzip: AUTHORIZED_XML } },
  ];
  const { ok } = await store.append(streamOf('live', number), NO_STREAM, events, {
    commandId: randomUUID(),
    correlationId: `req_${randomUUID()}`,
    causationId: `req_${randomUUID()}`,
    actor: 'worker:issuer',
    mode: 'live',
    now: systemClock.now(),
    site: 'accept_invoice',
  });
  if (!ok) throw new Error('the generated log has two writers');
};

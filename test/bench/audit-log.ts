import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { invoices } from '../../projections/invoices.js';
import { postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { createEventStore, type EventStore, NO_STREAM } from '../../src/app/event-store/event-store.js';
import type { DomainEvent } from '../../src/app/event-store/event-types.js';
import { invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { companyStream, dpsStream, invoiceStream, type StreamName } from '../../src/domain/common/ids.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { prepareProjections } from '../../src/projector/projector.js';
import { rebuildProjection } from '../../src/projector/rebuild.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { COMPANY, registration } from '../support/fixture/histories.js';
import * as life from '../support/fixture/invoice.js';
import { sealingKeys } from '../support/harness/projector.js';
import { startLockedPostgres } from '../support/locked-postgres.js';

export type AuditLog = {
  log: EventLog;
  pool: pg.Pool;
  events: number;
  /** Of all records. */
  bytes: number;
  /** What a projection of invoices reads of them. */
  ofInvoices: { events: number; bytes: number };
  close(): Promise<void>;
};

const INVOICES = 5_000;
/** Series of the log, each with a separate writer. */
export const AUDIT_SERIES = 64;
const PER_SERIES = Math.ceil(INVOICES / AUDIT_SERIES);

/** As large as the documents of a real invoice are when compressed: random bytes, which do not compress again. */
const SIGNED_DPS = randomBytes(1_700).toString('base64');
const AUTHORIZED_XML = randomBytes(3_000).toString('base64');

/** A PostgreSQL log of a company's issued invoices, each with its DPS number allocated, and the rows that follow from it. */
export const openAuditLog = async (): Promise<AuditLog> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-bench-'));
  await chmod(home, 0o711);
  const server = await startLockedPostgres({ dataDir: join(home, 'data'), log: () => undefined });
  const { superuserConnectionString: connectionString } = server;
  const pool = openPool({ connectionString, max: 5, applicationName: 'bench' });
  const log = postgresEventLog({ connectionString });
  const close = async (): Promise<void> => {
    await log.close();
    await pool.end();
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    await migrate(pool, migrations);
    await prepareProjections(pool, log, systemClock, [invoices]);
    await writeAuditLog(log, PER_SERIES);
    // Statistics as after hours of service; without them the planner makes bad plans.
    await pool.query('vacuum analyze event_log');
    await rebuildProjection(invoices, new AbortController().signal, { log, db: pool, clock: systemClock });
    return { log, pool, ...(await sizeOf(pool, '')), ofInvoices: await sizeOf(pool, 'nfse'), close };
  } catch (error) {
    await close();
    throw error;
  }
};

const sizeOf = async (pool: pg.Pool, prefix: string): Promise<{ events: number; bytes: number }> => {
  const { rows } = await pool.query<{ events: number; bytes: string }>(
    'select count(*)::int as events, sum(length(record)) as bytes from event_log where stream ^@ $1',
    [prefix],
  );
  return { events: rows[0]?.events ?? 0, bytes: Number(rows[0]?.bytes) };
};

/** Appends the company, and the given number of invoices in each series. */
export const writeAuditLog = async (log: EventLog, perSeries: number): Promise<void> => {
  const registered = { type: 'CompanyRegistered' as const, data: { registration, at: life.T0 } };
  await append(createEventStore(log, sealingKeys), companyStream(COMPANY), registered);
  await Promise.all(
    Array.from({ length: AUDIT_SERIES }, (_, writer) =>
      writeSeries(createEventStore(log, sealingKeys), writer + 1, perSeries),
    ),
  );
};

/** Each writer has a separate series and gives its numbers in order. */
const writeSeries = async (store: EventStore, writer: number, last: number): Promise<void> => {
  for (let number = 1; number <= last; number += 1) {
    const series = String(writer);
    const key = `${series.padStart(10, '0')}${String(number).padStart(40, '0')}`;
    const invoiceId = invoiceIdOfReference('live', COMPANY, key);
    const allocated = { number, nextNumber: number + 1, invoiceId, at: life.T0 };
    const stream = invoiceStream('live', COMPANY, invoiceId);
    await append(store, stream, life.accepted({ companyId: COMPANY, invoiceId, reference: key }));
    await append(store, dpsStream('live', COMPANY, series), { type: 'DpsNumberAllocated', data: allocated });
    const attempt = life.dataOf(life.attempted(1, 1), 'IssuanceAttempted');
    const dpsId = `DPS3304557212345678000195${series.padStart(5, '0')}${String(number).padStart(15, '0')}`;
    const note = { ...life.authorizedData(1, 2), accessKey: key, nfseXmlGzip: AUTHORIZED_XML };
    await append(store, stream, {
      type: 'IssuanceAttempted',
      data: { ...attempt, series, number, dpsId, signedDpsGzip: SIGNED_DPS },
    });
    await append(store, stream, { type: 'Authorized', data: note });
  }
};

const append = async (store: EventStore, stream: StreamName, event: DomainEvent): Promise<void> => {
  const { version } = await store.load(stream, { direction: 'backwards', limit: 1 });
  const commandId = randomUUID();
  const { ok } = await store.append(stream, version.kind === 'none' ? NO_STREAM : version, [event], {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: 'worker:issuer' as const,
    now: systemClock.now(),
    site: 'accept_invoice' as const,
  });
  if (!ok) throw new Error('the generated log has two writers');
};

import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { toRecord } from '../../src/domain/log/record.js';
import type { EventToAppend } from '../../src/ports/event-log.js';
import { startLockedPostgres } from '../support/locked-postgres.js';
import { atLeast, perSecond, type Row } from './report.js';

const IN_FLIGHT = 32;
const ROUND_MS = 1_500;
const ROUNDS = 3;
const AIM = 0.8;

/**
 * Our appends against bare durable INSERTs of the same rows (no lock, no order, no condition) on the same server with
 * fsync on, alternating so that a slow moment of the machine meets both. Ratio of the best rounds.
 */
export const benchEventLog = async (): Promise<readonly Row[]> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-bench-'));
  await chmod(home, 0o711);
  const server = await startLockedPostgres({ dataDir: join(home, 'data'), log: () => undefined });
  const { superuserConnectionString: connectionString } = server;
  const pool = openPool({ connectionString, max: IN_FLIGHT, applicationName: 'bench' });
  const log = postgresEventLog({ connectionString });
  try {
    await migrate(pool, migrations);
    await pool.query('create table bare (like event_log including all)');
    const append = (stream: string, event: EventToAppend) => log.append(stream, { kind: 'none' }, [event]);
    let ours = 0;
    let bare = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      bare = Math.max(bare, await ratePerSecond(bareInsert(pool)));
      ours = Math.max(ours, await ratePerSecond(append));
    }
    const ratio = ours / bare;
    return [
      {
        name: 'event log append',
        figure: perSecond(ours, 'appends'),
        floor: perSecond(bare, 'INSERTs'),
        ratio,
        aim: atLeast(AIM, ratio),
        detail: `${IN_FLIGHT} in flight; the floor is bare durable INSERTs of the same rows`,
      },
    ];
  } finally {
    await log.close();
    await pool.end();
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }
};

type Write = (stream: string, event: EventToAppend) => Promise<unknown>;

const bareInsert = (pool: pg.Pool): Write => {
  let position = Date.now() * 1_000;
  return (stream, event) => {
    const { record, hash } = toRecord(stream, 0, event);
    position += 1;
    return pool.query({
      name: 'bare',
      text: 'insert into bare (position, stream, revision, id, type, record, hash) values ($1, $2, 0, $3, $4, $5, $6)',
      values: [position, stream, event.id, event.type, record, hash],
    });
  };
};

const ratePerSecond = async (write: Write): Promise<number> => {
  const begun = performance.now();
  let written = 0;
  const writer = async (): Promise<void> => {
    while (performance.now() - begun < ROUND_MS) {
      await write(`nfseTest-11222333000181_${randomUUID()}`, anEvent());
      written += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, writer));
  return (written / (performance.now() - begun)) * 1_000;
};

/** About the size of an accepted invoice. */
const anEvent = (): EventToAppend => ({
  id: randomUUID(),
  type: 'InvoiceAccepted',
  data: { description: 'x'.repeat(900), amountInCents: 123_456 },
  metadata: { schemaVersion: '1', commandId: randomUUID(), prevHash: '', hash: 'a'.repeat(64) },
});

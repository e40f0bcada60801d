import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { allProjections } from '../../../projections/registry.js';
import type { Projection } from '../../../projections/types.js';
import { createEventStore, NO_STREAM } from '../../../src/app/event-store/event-store.js';
import type { DomainEvent } from '../../../src/app/event-store/event-types.js';
import type { StreamName } from '../../../src/domain/common/ids.js';
import type { EventBatch, EventLog, EventToAppend } from '../../../src/ports/event-log.js';
import type { SealingKeys } from '../../../src/ports/sealing-keys.js';
import { type Generation, generationOf, liveGeneration } from '../../../src/projector/checkpoints.js';
import { viewOf } from '../../../src/projector/generation-tables.js';
import { prepareProjections } from '../../../src/projector/projector.js';

export const NOW = '2026-11-21T12:00:00.000Z';

export const clock = { now: () => NOW };

export const sealingKeys: SealingKeys = {
  forSealing: async (mode) => ({ generation: mode === 'live' ? 'm1' : 't2026-11-21', key: Buffer.alloc(32, 1) }),
  forOpening: async () => Buffer.alloc(32, 1),
};

/** Appends each event with a command of its own, as the service does. */
export const appendEvents = async (
  log: EventLog,
  stream: StreamName,
  events: readonly DomainEvent[],
): Promise<void> => {
  const store = createEventStore(log, sealingKeys);
  for (const event of events) {
    const [last] = await log.read(stream, { direction: 'backwards', limit: 1 });
    const version =
      last === undefined ? NO_STREAM : { kind: 'at' as const, revision: last.revision, hash: last.metadata.hash ?? '' };
    const { ok } = await store.append(stream, version, [event], {
      commandId: randomUUID(),
      correlationId: 'test',
      causationId: 'test',
      actor: 'support:test',
      now: NOW,
      site: 'accept_invoice',
    });
    if (!ok) throw new Error('another writer in a test of one writer');
  }
};

/** What a newer program would have written. */
export const appendFromTheFuture = async (log: EventLog, stream: StreamName, type: string): Promise<void> => {
  const [last] = await log.read(stream, { direction: 'backwards', limit: 1 });
  const event: EventToAppend = {
    id: randomUUID(),
    type,
    data: {},
    metadata: { schemaVersion: '99', prevHash: last?.metadata.hash ?? '', hash: 'future' },
  };
  await log.append(stream, last === undefined ? { kind: 'none' } : { kind: 'exact', revision: last.revision }, [event]);
};

export const allOf = (log: EventLog, projection: Projection): Promise<EventBatch> =>
  log.readAll({ prefixes: projection.prefixes, after: null, limit: Number.MAX_SAFE_INTEGER });

/** Tables as at the first start. */
export const emptyProjections = async (db: pg.Pool, log: EventLog): Promise<void> => {
  await db.query('delete from checkpoints');
  const { rows } = await db.query<{ schema: string }>(
    `select nspname as schema from pg_namespace where nspname like 'p\\_%\\_g%'`,
  );
  for (const { schema } of rows) await db.query('select projection_schema_drop($1)', [schema]);
  await prepareProjections(db, log, clock, allProjections);
};

/** The generation that is read. */
export const liveOf = async (db: pg.Pool, projection: Projection): Promise<Generation> =>
  generationOf(projection, await liveGeneration(db, projection.name));

/** Every row that is read, as PostgreSQL prints it, in order of the key. */
export const dump = (db: pg.Pool, projection: Projection): Promise<readonly string[]> =>
  dumpOf(db, projection, viewOf(projection));

/** The same of one generation's table. */
export const dumpOf = async (db: pg.Pool, { keyColumn }: Projection, relation: string): Promise<readonly string[]> => {
  const { rows } = await db.query<{ line: string }>(`select t::text as line from ${relation} t order by ${keyColumn}`);
  return rows.map(({ line }) => line);
};

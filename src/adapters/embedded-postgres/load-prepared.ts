import pg from 'pg';
import { checkServer } from '../sql/database-checks.js';
import { atAddress } from '../sql/errors.js';
import { appliedMigrations, findHistory, pendingMigrations } from '../sql/migrate.js';
import { inTransaction } from '../sql/transaction.js';
import { type BackupManifest, BackupRefused, DERIVED, type LoadTarget, loadTables, NEVER_COPIED } from './backup.js';

/** `db` is of the owner of the tables, because the service may not write the log (ADR 33). `service`: undefined where one user is both. */
type PreparedTarget = LoadTarget & { service: pg.Pool | undefined };

/**
 * Loads a backup, whose files were checked before, into a database of the operator that `nfse setup database` has made and nothing has used since, in
 * one transaction. The rights on the tables stay as they are. Throws `BackupRefused` for any other database, which is unchanged then;
 * `FaultAtAddress` of the service's address; `MigrationError` and `DatabaseUnsuitable` as a start does; errors of PostgreSQL pass through.
 */
export const loadIntoPrepared = async (
  folder: string,
  manifest: BackupManifest,
  { db, service, migrations, withRows }: PreparedTarget,
  onProgress: (table: string, rows: number) => void,
): Promise<void> => {
  await checkServer(db);
  const history = await findHistory(db);
  if (history?.isOwn === false)
    throw new BackupRefused(
      'this user may not write the log: set DATABASE_OWNER_URL to the owner of the tables, for this command only',
    );
  if (history === undefined || (await pendingMigrations(db, migrations)).length > 0)
    throw new BackupRefused('the database lacks steps of its schema: run nfse setup database first');
  if (service !== undefined && (await atAddress('DATABASE_URL', identityIn(service))) !== (await identityIn(db)))
    throw new BackupRefused('DATABASE_URL and DATABASE_OWNER_URL must name one database');
  await checkSameSchema(db, manifest);
  const tables = [...manifest.tables.map(({ name }) => name), ...DERIVED, ...NEVER_COPIED].filter(
    (name) => name !== 'schema_migrations',
  );
  await inTransaction(db, async (client) => {
    await client.query('set local statement_timeout = 0');
    // A service that starts meanwhile waits, and then finds rows and pause together.
    await client.query(`lock table ${tables.map((name) => pg.escapeIdentifier(name)).join(', ')}`);
    await refuseRows(client, tables);
    await loadTables(client, folder, manifest, onProgress);
    await withRows(client);
  });
};

/** The first step of the schema draws the identity of the log, so no two databases have the same; undefined before that step. */
const identityIn = async (db: pg.Pool): Promise<string | undefined> => {
  if ((await findHistory(db)) === undefined) return undefined;
  const { rows } = await db.query<{ identity: string }>('select identity::text from event_log_head');
  return rows[0]?.identity;
};

/** Nothing is converted here: the embedded restore makes the steps of an older backup, and a backup of that is of this version. */
const checkSameSchema = async (db: pg.Pool, { schema }: BackupManifest): Promise<void> => {
  const applied = await appliedMigrations(db);
  const other = [...applied, ...schema].find(
    ({ id, checksum }) => !(has(applied, id, checksum) && has(schema, id, checksum)),
  );
  if (other !== undefined)
    throw new BackupRefused(
      `backup and database are not of one version, step ${other.id}-${other.name} of the schema is in one of them only: use the version that made the backup, or let this version start on the embedded database once and back up again`,
    );
};

const has = (steps: BackupManifest['schema'], id: number, checksum: string): boolean =>
  steps.some((step) => step.id === id && step.checksum === checksum);

/** The one row that a step of the schema makes is the head of the log, which begins at 0. */
const refuseRows = async (client: pg.PoolClient, tables: readonly string[]): Promise<void> => {
  const held: string[] = [];
  for (const name of tables) {
    const found = `select from ${pg.escapeIdentifier(name)}${name === 'event_log_head' ? ' where position > 0' : ''} limit 1`;
    if (((await client.query(found)).rowCount ?? 0) > 0) held.push(name);
  }
  if (held.length > 0)
    throw new BackupRefused(
      `the database is not empty, it has rows in ${held.join(', ')}: a backup is loaded only into one that nfse setup database has made and nothing has used since`,
    );
};

import { expect, onTestFinished } from 'vitest';
import { postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { StandbyRefused } from '../../../src/adapters/sql/errors.js';
import { migrate } from '../../../src/adapters/sql/migrate.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import { chained, NONE, streamOf } from '../../support/harness/event-log.js';
import { itWith } from '../../support/needs.js';
import { startOwnPostgres } from '../../support/own-postgres.js';
import { installedPostgres } from '../../support/postgres-programs.js';

itWith('postgres15', 'the log of a standby is not read, because the newest events may be missing there', async () => {
  const programs = installedPostgres(15);
  if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
  const primary = await startOwnPostgres(programs);
  onTestFinished(() => primary.close());
  const openLog = (connectionString: string) => {
    const log = postgresEventLog({ connectionString, onIdleError: () => undefined });
    onTestFinished(() => log.close());
    return log;
  };
  const pool = openPool({ connectionString: primary.url, max: 1, applicationName: 'test' });
  onTestFinished(() => pool.end());
  await migrate(pool, migrations);
  const stream = await streamOf(openLog(primary.url), 1);
  const standby = await primary.standby();
  onTestFinished(() => standby.close());
  const log = openLog(standby.url);
  const asked = [
    () => log.read(stream),
    () => log.lastEvent(stream),
    () => log.head(),
    () => log.readAll({ prefixes: [stream], after: null, limit: 1 }),
  ];
  for (const ask of asked) await expect(ask()).rejects.toBeInstanceOf(StandbyRefused);
  const other = `${stream}-2`;
  await expect(log.append(other, NONE, [chained(other, 0)])).rejects.toBeInstanceOf(EventLogUnavailable);
});

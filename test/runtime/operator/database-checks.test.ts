import { afterEach, expect, it } from 'vitest';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { durabilityChecks } from '../../../src/runtime/operator/database-checks.js';
import { describeWith } from '../../support/needs.js';
import { type OwnPostgres, startOwnPostgres } from '../../support/own-postgres.js';
import { installedPostgres } from '../../support/postgres-programs.js';

describeWith('postgres15', 'the durability of a server', () => {
  let server: OwnPostgres | undefined;
  afterEach(() => server?.close());

  const checksWith = async (settings: Readonly<Record<string, string>>) => {
    const programs = installedPostgres(15);
    if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
    server = await startOwnPostgres(programs, settings);
    const pool = openPool({ connectionString: server.url, max: 1, applicationName: 'test' });
    return await durabilityChecks(pool).finally(() => pool.end());
  };

  it('is no line of doctor while a crash of its machine costs nothing', async () => {
    expect(await checksWith({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'off' })).toEqual([]);
  });

  it('is BAD where a crash may cost invoices, with the statements that end that', async () => {
    expect(await checksWith({ fsync: 'off', full_page_writes: 'off' })).toEqual([
      {
        name: 'database durability',
        ok: false,
        detail:
          'fsync and full_page_writes off: a crash of its machine may lose accepted invoices or damage the database',
        cure: 'alter system set fsync = on; alter system set full_page_writes = on; select pg_reload_conf();',
      },
    ]);
  });
});

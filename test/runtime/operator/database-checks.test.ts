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

  it('is BAD where a table of the service is unlogged, whatever other programs do with theirs', async () => {
    const programs = installedPostgres(15);
    if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
    server = await startOwnPostgres(programs, { fsync: 'on' });
    const pool = openPool({ connectionString: server.url, max: 1, applicationName: 'test' });
    try {
      await pool.query(`
        create table event_log ();
        create unlogged table idempotency_keys ();
        create unlogged table cache_of_another_program ();
        create schema p_deadlines_v3_g1;
        create unlogged table p_deadlines_v3_g1.rows ();
        create schema another_program;
        create unlogged table another_program.event_log ()`);
      expect(await durabilityChecks(pool)).toEqual([
        {
          name: 'database durability',
          ok: false,
          detail:
            'unlogged: p_deadlines_v3_g1.rows, public.idempotency_keys; a crash of the server or a failover empties unlogged tables',
          cure: 'as the administrator: alter table p_deadlines_v3_g1.rows set logged; alter table public.idempotency_keys set logged; then nfse audit verify, and nfse projections rebuild where rows are missing',
        },
      ]);
      await pool.query(
        'alter table p_deadlines_v3_g1.rows set logged; alter table public.idempotency_keys set logged;',
      );
      expect(await durabilityChecks(pool)).toEqual([]);
    } finally {
      await pool.end();
    }
  });
});

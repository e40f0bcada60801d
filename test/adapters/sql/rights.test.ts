import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { excessRights, grantService } from '../../../src/adapters/sql/roles.js';
import { MAX_EVENT_BYTES } from '../../../src/ports/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { OWNER, SERVICE } from '../../support/roles.js';

/** Who may do what, in one order. */
const ACLS = `
select c.relname as name, array(select unnest(relacl)::text order by 1) as acl from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
union all select attname, attacl::text[] from pg_attribute where attacl is not null and attrelid = 'event_log'::regclass
union all select p.oid::regprocedure::text, array(select unnest(proacl)::text order by 1) from pg_proc p
where p.pronamespace = 'public'::regnamespace
union all select nspname, array(select unnest(nspacl)::text order by 1) from pg_namespace where nspname = 'read'
order by 1`;

describeWithPostgres("the service's role", () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  const refusal = (statement: string): Promise<string> =>
    database.pool.query(statement).then(
      () => 'done',
      (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : String(error)),
    );

  const INSUFFICIENT_PRIVILEGE = '42501';

  it.each([
    `copy (select 1) to program 'true'`,
    `copy event_log from program 'true'`,
    `copy event_log to '/tmp/log'`,
    `select pg_read_file('/etc/passwd')`,
    `select pg_ls_dir('/')`,
    `select lo_import('/etc/passwd')`,
    `update event_log set record = ''`,
    'update event_log set position = position + 1 where false',
    'delete from event_log',
    'truncate event_log',
    `insert into event_log values (1, 's', 0, gen_random_uuid(), 't', '', '')`,
    'select * from event_log for update',
    'do $$ begin lock table event_log in exclusive mode; end $$',
    'update event_log_head set position = 0',
    'delete from event_log_head',
    'delete from schema_migrations',
    'alter table event_log disable trigger all',
    'alter table event_log add column x text',
    'drop table event_log',
    'create trigger x before insert on event_log for each row execute function suppress_redundant_updates_trigger()',
    'create rule x as on insert to event_log do instead nothing',
    'create index on event_log (type)',
    'create table x ()',
    'create temporary table x ()',
    `create schema ${OWNER.name}`,
    `create function x() returns int language c as 'x'`,
    `create function x() returns int language internal as 'x'`,
    'create function x() returns int language sql as $$select 1$$',
    'create extension file_fdw',
    `create or replace function event_log_cut(cut_stream text, before bigint) returns void language sql as $$$$`,
    'alter function event_log_cut(text, bigint) security invoker',
    'drop schema public cascade',
    'drop schema read cascade',
    `set role ${OWNER.name}`,
    `grant ${OWNER.name} to current_user`,
    'create role x',
    'alter role current_user superuser',
    'alter role current_user createrole',
    `alter system set archive_command = 'true'`,
    'select pg_reload_conf()',
    'set session_replication_role = replica',
  ])('may not: %s', async (statement) => {
    expect(await refusal(statement)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it('may not become its owner or a superuser by their names', async () => {
    const { rows } = await database.admin.query<{ name: string }>(
      'select quote_ident(rolname) as name from pg_roles where rolsuper',
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { name } of rows) expect(await refusal(`set role ${name}`)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it.each(['public', 'read', 'p_x', 'p_x_v1_g1; drop schema public', 'p_"_v1_g1', 'pg_catalog'])(
    'gets no schema made or dropped by the name of %s',
    async (name) => {
      for (const way of ['make', 'drop'])
        await expect(database.pool.query(`select projection_schema_${way}($1)`, [name])).rejects.toThrow(
          'this is no schema of a projection',
        );
    },
  );

  it('makes and drops the schema of a generation, and everything in it is its own', async () => {
    const { pool } = database;
    await pool.query(`select projection_schema_make('p_x_v1_g1')`);
    await pool.query('create table p_x_v1_g1.rows (key text); create view read.x as select * from p_x_v1_g1.rows');
    await pool.query(`insert into p_x_v1_g1.rows values ('kept')`);
    expect((await pool.query('select key from read.x')).rows).toEqual([{ key: 'kept' }]);
    await pool.query(`select projection_schema_drop('p_x_v1_g1')`);
    expect(await refusal('select key from read.x')).toBe('42P01');
  });

  it('cannot put a table of its own before the one that a function of the owner means', async () => {
    const stream = `nfseLive-12345678000195_${randomUUID()}`;
    const client = await database.pool.connect();
    try {
      await client.query(`select projection_schema_make('p_y_v1_g1')`);
      await client.query(`create table p_y_v1_g1.event_log (stream text, revision integer, type text)`);
      await client.query(`insert into p_y_v1_g1.event_log values ($1, 9, 'TestInvoiceDeleted')`, [stream]);
      await client.query('set search_path = p_y_v1_g1, public');
      await client.query('select public.event_log_cut($1, 9)', [stream]);
      expect((await client.query('select from p_y_v1_g1.event_log')).rowCount).toBe(1);
    } finally {
      client.release(true);
    }
  });

  describe('an append', () => {
    const id = randomUUID();
    /** Stream a has revision 0 already, b has none. */
    const call = {
      streams: '{a,b}',
      expected: '{0,-1}',
      counts: '{1,2}',
      event_streams: '{a,b,b}',
      event_revisions: '{1,0,1}',
      event_ids: `{${id},${id},${id}}`,
      event_types: '{T,T,T}',
      event_records: '{r,r,r}',
      event_hashes: '{h,h,h}',
    };
    type Change = { [name in keyof typeof call]?: string | null };
    const all = (value: string | null): Change => Object.fromEntries(Object.keys(call).map((name) => [name, value]));
    const eventsAt = (bounds: string): Change =>
      Object.fromEntries(
        Object.entries(call).flatMap(([name, value]) => (name.startsWith('event_') ? [[name, bounds + value]] : [])),
      );

    /** The answer to a call, or the code of its refusal, and the distance of its rows from the last row before it. */
    const outcome = async (change: Change): Promise<unknown> => {
      const client = await database.pool.connect();
      const append = (parameters: Change) =>
        client.query(
          `select accepted, revisions from event_log_append(${Object.keys(parameters).map((name, n) => `${name} => $${n + 1}`)})`,
          Object.values(parameters),
        );
      try {
        await client.query('begin');
        const before = await client.query<{ last: string }>('select position as last from event_log_head');
        const last = Number(before.rows[0]?.last);
        await append({
          streams: '{a}',
          expected: '{-1}',
          counts: '{1}',
          event_streams: '{a}',
          event_revisions: '{0}',
          event_ids: `{${id}}`,
          event_types: '{T}',
          event_records: '{r}',
          event_hashes: '{h}',
        });
        const { rows } = await append({ ...call, ...change });
        const stored = await client.query(
          `select stream || revision || ' ' || position - $1 as row from event_log where id = $2 order by position`,
          [last + 1, id],
        );
        return { ...rows[0], stored: stored.rows.map(({ row }) => row) };
      } catch (error) {
        return error instanceof pg.DatabaseError ? error.code : error;
      } finally {
        await client.query('rollback');
        client.release();
      }
    };

    it.each<[string, Change]>([
      ['an event of another stream', { event_streams: '{a,x,b}' }],
      ['the highest revision there is', { event_revisions: '{2147483647,0,1}' }],
      ['a gap between revisions', { event_revisions: '{1,0,2}' }],
      ['a revision without a number', { expected: '{null,-1}' }],
      [
        'a place before the first event',
        {
          streams: '{c,d,a}',
          expected: '{-1,-1,-1}',
          counts: '{-51,1,0}',
          event_streams: '[-50:-50]={a}',
          event_revisions: '[-50:-50]={1}',
          event_ids: `[-50:-50]={${id}}`,
          event_types: '[-50:-50]={T}',
          event_records: '[-50:-50]={r}',
          event_hashes: '[-50:-50]={h}',
        },
      ],
      ['events from 0', eventsAt('[0:2]=')],
      ['streams from 0', { streams: '[0:1]={a,b}' }],
      ['streams in two dimensions', { streams: '{{a},{b}}' }],
      ['counts in two dimensions', { counts: '{{1,2}}' }],
      ['a count of none', { counts: '{0,3}' }],
      ['a negative count', { counts: '{-1,4}' }],
      ['a count without a number', { counts: '{1,null}' }],
      ['fewer counted than there are', { counts: '{1,1}' }],
      ['more counted than there are', { counts: '{1,3}' }],
      ['the highest count there is', { counts: '{1,2147483647}' }],
      ['fewer expectations than streams', { expected: '{0}' }],
      ['fewer hashes than records', { event_hashes: '{h,h}' }],
      ['more ids than records', { event_ids: `{${id},${id},${id},${id}}` }],
      ['nothing', all('{}')],
      ['null', all(null)],
      ['no counts', { counts: null }],
      ['a record over 1 MiB', { event_records: `{r,r,${'x'.repeat(1024 * 1024)}}` }],
      ['a hash over 1 MiB', { event_hashes: `{h,h,${'x'.repeat(1024 * 1024)}}` }],
      ['a type over 1 MiB', { event_types: `{T,T,${'x'.repeat(1024 * 1024)}}` }],
    ])('is refused with %s', async (_what, change) => {
      const INVALID_PARAMETER_VALUE = '22023';
      expect(await outcome(change)).toBe(INVALID_PARAMETER_VALUE);
    });

    it.each<[string, Change, unknown]>([
      [
        'as the product makes it',
        {},
        { accepted: [true, true], revisions: [1, 1], stored: ['a0 0', 'a1 1', 'b0 2', 'b1 3'] },
      ],
      [
        'of the largest event',
        { event_records: `{r,r,${'x'.repeat(MAX_EVENT_BYTES)}}` },
        { accepted: [true, true], revisions: [1, 1], stored: ['a0 0', 'a1 1', 'b0 2', 'b1 3'] },
      ],
      [
        'beside one whose stream is elsewhere',
        { expected: '{5,-1}', event_revisions: '{6,0,1}' },
        { accepted: [false, true], revisions: [0, 1], stored: ['a0 0', 'b0 1', 'b1 2'] },
      ],
      [
        'beside one that stands there already',
        { expected: '{-1,-1}', event_revisions: '{0,0,1}' },
        { accepted: [true, true], revisions: [0, 1], stored: ['a0 0', 'b0 1', 'b1 2'] },
      ],
      [
        'behind another of its stream',
        { streams: '{a,a}', expected: '{0,1}', event_streams: '{a,a,a}', event_revisions: '{1,2,3}' },
        { accepted: [true, true], revisions: [1, 3], stored: ['a0 0', 'a1 1', 'a2 2', 'a3 3'] },
      ],
    ])('has its answer: %s', async (_what, change, answer) => {
      expect(await outcome(change)).toEqual(answer);
    });
  });

  it('is given what it lacks and nothing else is touched, and nothing at all where it has its rights', async () => {
    const owner = new pg.Pool({ connectionString: database.ownerConnectionString, max: 1 });
    const written = async (): Promise<unknown> =>
      (await owner.query(`select max(xmin::text::bigint) from pg_class where relnamespace = 'public'::regnamespace`))
        .rows;
    const before = await written();
    await grantService(owner, SERVICE.name);
    expect(await written()).toEqual(before);
    const changes = [
      `revoke delete on key_uses from ${SERVICE.name}`,
      `grant truncate on event_log to ${SERVICE.name}`,
      `grant update (record) on event_log to ${SERVICE.name}`,
      'grant execute on function event_log_cut to public',
      `revoke execute on function event_log_append from ${SERVICE.name}`,
      `revoke create on schema read from ${SERVICE.name}`,
      'create table made_by_a_later_step (n int)',
    ];
    const acls = async (): Promise<unknown> => (await owner.query(ACLS)).rows;
    const right = await acls();
    for (const change of changes) {
      await owner.query(change);
      await grantService(owner, SERVICE.name);
      if (!change.startsWith('create')) expect([change, await acls()]).toEqual([change, right]);
    }
    await database.pool.query('insert into made_by_a_later_step values (1); delete from made_by_a_later_step');
    await owner.query('drop table made_by_a_later_step');
    await owner.end();
  });

  it('has nothing that the doctor would find; the owner and a superuser have', async () => {
    expect(await excessRights(database.pool)).toEqual([]);
    const owner = new pg.Pool({ connectionString: database.ownerConnectionString, max: 1 });
    const ofOwner = await excessRights(owner).finally(() => owner.end());
    expect(ofOwner).toContain('owner of event_log, event_log_head');
    expect(ofOwner).toContain('owner of the database');
    expect(ofOwner).not.toContain('superuser');
    expect(await excessRights(database.admin)).toContain('superuser');
  });

  it.each<[string, string, string]>([
    ['createdb', 'alter role x createdb', 'createdb'],
    ['createrole', 'alter role x createrole', 'createrole'],
    ['replication', 'alter role x replication', 'replication'],
    ['bypassrls', 'alter role x bypassrls', 'bypassrls'],
    ['programs of the server', 'grant pg_execute_server_program to x', 'member of pg_execute_server_program'],
    [
      'files of the server',
      'grant pg_read_server_files, pg_write_server_files to x',
      'member of pg_read_server_files, pg_write_server_files',
    ],
    ['membership of the owner', `grant ${OWNER.name} to x`, 'owner of event_log, event_log_head'],
    ['delete', 'grant delete on event_log to x', 'delete on event_log'],
    ['truncate', 'grant truncate on event_log to x', 'truncate on event_log'],
    ['one column', 'grant update (record) on event_log to x', 'update on event_log'],
    ['create in the schema', 'grant create on schema public to x', 'create in schema public'],
  ])('is distinguished from a role with %s', async (_what, grant, excess) => {
    const role = `nfse_x_${randomUUID().replaceAll('-', '')}`;
    await database.admin.query(`create role ${role} login password 'x'; ${grant.replace(/\bx\b/, role)}`);
    const url = new URL(database.connectionString);
    Object.assign(url, { username: role, password: 'x' });
    const pool = new pg.Pool({ connectionString: url.href, max: 1 });
    expect(await excessRights(pool).finally(() => pool.end())).toContain(excess);
    await database.admin.query(`drop owned by ${role}; drop role ${role}`);
  });
});

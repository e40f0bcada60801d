import { spawnSync } from 'node:child_process';
import { createHash, createHmac, pbkdf2Sync, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseUnsuitable } from '../../../src/adapters/sql/database-checks.js';
import { type Login, prepareRoles } from '../../../src/adapters/sql/roles.js';
import { describeWith } from '../../support/needs.js';
import { type OwnPostgres, startOwnPostgres } from '../../support/own-postgres.js';
import { embeddedPostgres, installedPostgres, type PostgresPrograms } from '../../support/postgres-programs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The last two have another form after SASLprep. */
const PASSWORDS = [
  'plain-Secret',
  `it's "a" 100% \\ $1 $$ secret`,
  'senha çom acentuação €',
  'jose\u0301 ﬁm',
  'a\u00adb\u00a0c',
];

const service: Login = { name: 'of_service', password: 'other-secret' };

/** What the server has logged until now. Its lines pass another process, so the line of a last statement is waited for. */
const logOf = async (server: OwnPostgres): Promise<string> => {
  const last = `until here ${randomUUID()}`;
  await server.ask(`select '${last}'`);
  let text = '';
  const read = async (): Promise<string> => {
    text = (await server.ask<{ text: string }>('select pg_read_file(pg_current_logfile()) as text'))?.text ?? '';
    return text;
  };
  await expect.poll(read).toContain(last);
  return text;
};

const suite = (programsOf: () => Promise<PostgresPrograms>, method: string): void => {
  let server: OwnPostgres;
  let programs: PostgresPrograms;
  let admin: pg.Pool;
  beforeAll(async () => {
    programs = await programsOf();
    server = await startOwnPostgres(programs, {
      logging_collector: 'on',
      log_filename: 'log',
      log_statement: 'all',
      password_encryption: 'md5',
    });
    admin = new pg.Pool({ connectionString: server.url, max: 1 });
    const lines = `host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 ${method}`;
    const folder = (await server.ask<{ data_directory: string }>('show data_directory'))?.data_directory;
    await admin.query(`copy (select regexp_split_to_table('${lines}', '\n')) to '${folder}/pg_hba.conf'`);
    await admin.query('select pg_reload_conf()');
  });
  afterAll(async () => {
    await admin?.end();
    await server?.close();
  });

  const signIn = async ({ name: user, password }: Login): Promise<string> => {
    const { hostname: host, port } = new URL(server.url);
    const client = new pg.Client({ host, port: Number(port), user, password, database: 'postgres' });
    await client.connect();
    const { rows } = await client.query<{ me: string }>('select current_user as me').finally(() => client.end());
    return rows[0]?.me ?? '';
  };

  it.each(PASSWORDS)('lets a role sign in with %j, and with no other password', async (password) => {
    const owner = { name: 'Of owner', password };
    for (let times = 0; times < 2; times++) {
      await prepareRoles(admin, { owner, service });
      expect(await signIn(owner)).toBe(owner.name);
      expect(await signIn(service)).toBe(service.name);
    }
    await expect(signIn({ name: owner.name, password: `${password}.` })).rejects.toMatchObject({ code: '28P01' });
  });

  it.each(PASSWORDS)('lets psql sign in with %j', async (password) => {
    const psql = join(dirname(programs.pgBasebackup ?? '/usr/bin/psql'), 'psql');
    await prepareRoles(admin, { owner: { name: 'of_psql', password }, service });
    const { hostname, port } = new URL(server.url);
    const args = ['-h', hostname, '-p', port, '-U', 'of_psql', '-Atc', 'select current_user', 'postgres'];
    const env = { PATH: process.env.PATH, PGPASSWORD: password, PGCLIENTENCODING: 'UTF8', LC_ALL: 'C.UTF-8' };
    const { error, stdout } = spawnSync(psql, args, { env, encoding: 'utf8' });
    // The embedded server brings no psql; that of the machine may be absent.
    if (programs.pgBasebackup !== undefined) expect(error).toBeUndefined();
    if (error === undefined) expect(stdout).toBe('of_psql\n');
  });

  it('shows the server verifiers alone, and its log none of the passwords', async () => {
    for (const password of PASSWORDS) await prepareRoles(admin, { owner: { name: 'Of owner', password }, service });
    const stored = await admin.query<{ rolpassword: string }>(
      `select rolpassword from pg_authid where rolname ilike 'of%'`,
    );
    for (const { rolpassword } of stored.rows) expect(rolpassword).toMatch(/^SCRAM-SHA-256\$4096:/);
    const log = await logOf(server);
    expect(log).toContain('alter role "Of owner" login password');
    for (const password of [...PASSWORDS, service.password]) {
      expect(log).not.toContain(password);
      expect(log).not.toContain(password.replaceAll("'", "''"));
    }
  });
};

describeWith('postgres15', 'passwords of roles on PostgreSQL 15, whose pg_hba.conf says md5', () => {
  const programs = async (): Promise<PostgresPrograms> => {
    const installed = installedPostgres(15);
    if (installed === undefined) throw new Error('PostgreSQL 15 is not installed');
    return installed;
  };
  suite(programs, 'md5');

  it('a password that passwordcheck refuses is named with its role and no more', async () => {
    const server = await startOwnPostgres(await programs(), { shared_preload_libraries: 'passwordcheck' });
    const admin = new pg.Pool({ connectionString: server.url, max: 1 });
    const refused = { name: 'same_as_the_password', password: 'same_as_the_password' };
    const error: unknown = await prepareRoles(admin, { owner: refused, service }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DatabaseUnsuitable);
    expect(error).toHaveProperty('message', expect.stringContaining('refuses the password of the role same_as_the_'));
    await admin.end();
    await server.close();
  });

  it("the handbook's line sets the administrator's password, which neither its arguments nor the log of the server show", async () => {
    const { pgBasebackup = '' } = await programs();
    const server = await startOwnPostgres(await programs(), {
      logging_collector: 'on',
      log_filename: 'log',
      log_statement: 'all',
    });
    await server.ask('create role nfse superuser login');
    await server.ask('create database nfse');
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'password'), 'new-Secret\n');
    const page = readFileSync(new URL('../../../docs/operations/keys.md', import.meta.url), 'utf8');
    const [, line = ''] = /^docker compose exec -T postgres (sh -c '[^']*psql [^']*')$/m.exec(page) ?? [];
    const { hostname, port } = new URL(server.url);
    const env = { PATH: `${dirname(pgBasebackup)}:${process.env.PATH}`, PGHOST: hostname, PGPORT: port };
    // In a container there is no terminal, from which psql would rather read.
    const typed = line.replace('/run/secrets/postgres', folder);
    const { status } = spawnSync('setsid', ['--wait', 'sh', '-c', typed], { env });
    expect([typed, status]).toEqual([expect.stringContaining(folder), 0]);
    const { rolpassword } = (await server.ask("select rolpassword from pg_authid where rolname = 'nfse'")) ?? {};
    const [, salt = '', storedKey] = /^SCRAM-SHA-256\$4096:([^$]*)\$([^:]*):/.exec(String(rolpassword)) ?? [];
    const salted = pbkdf2Sync('new-Secret', Buffer.from(salt, 'base64'), 4096, 32, 'sha256');
    const clientKey = createHmac('sha256', salted).update('Client Key').digest();
    expect(createHash('sha256').update(clientKey).digest('base64')).toBe(storedKey);
    const log = await logOf(server);
    expect(log).toContain('ALTER USER nfse PASSWORD');
    expect(log).not.toContain('new-Secret');
    await server.close();
  });
});

it.each(['28000', 'XX000'])('a module that takes no verifier is named with the role and the code %s', async (code) => {
  const query = async (text: string) => {
    if (text.includes('login password')) throw Object.assign(new Error('password type is not a plain text'), { code });
    return { rows: [] };
  };
  const admin = { connect: async () => ({ query, release: () => undefined }) } as unknown as pg.Pool;
  const refused = prepareRoles(admin, { owner: service, service });
  await expect(refused).rejects.toThrow(`takes no SCRAM verifier for the role ${service.name} (${code})`);
});

describe('passwords of roles on the embedded PostgreSQL', () => {
  suite(embeddedPostgres, 'scram-sha-256');
});

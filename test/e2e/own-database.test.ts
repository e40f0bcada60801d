import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BackupManifest } from '../../src/adapters/embedded-postgres/backup.js';
import { excessRights } from '../../src/adapters/sql/roles.js';
import { startupFault } from '../../src/runtime/commands/startup-fault.js';
import { eventually } from '../support/eventually.js';
import {
  type EmbeddedAt,
  type EmbeddedHarness,
  openEmbeddedHarness,
  type Said,
} from '../support/harness/embedded-service.js';
import { runSetupDatabase } from '../support/harness/setup-database.js';
import { describeWith } from '../support/needs.js';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.js';
import { installedPostgres } from '../support/postgres-programs.js';
import { as, OWNER, SERVICE } from '../support/roles.js';

const body = { amount_in_cents: 1_001, description: 'Pedido', reference: 'pedido-1' };

describeWith('postgres15', 'a backup of the embedded database, restored into a PostgreSQL of the operator', () => {
  const key = { live: '' };
  const opened: EmbeddedHarness[] = [];
  let server: OwnPostgres;
  let old: EmbeddedHarness;
  let backup: string;
  let invoice: string;
  beforeAll(async () => {
    const programs = installedPostgres(15);
    if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
    server = await startOwnPostgres(programs);
    old = await openEmbeddedHarness(key);
    opened.push(old);
    backup = join(old.folder, '..', `${old.folder}-backup`);
    const at = await old.start();
    await old.register(at);
    invoice = await issued(at);
    expect(await at.operate('backup', '--out', backup, '--with-master-key')).toMatchObject({ exit: 0 });
    await at.stop();
  });
  afterAll(async () => {
    for (const harness of opened) await harness.close();
    await server?.close();
    await rm(backup, { recursive: true, force: true });
  });

  const issued = async (at: EmbeddedAt): Promise<string> => {
    const accepted = await at.ask('/v1/nfse', body);
    expect(accepted).toMatchObject({ status: 202 });
    const id = String(accepted.body.id);
    await eventually(
      async () => (await at.ask(`/v1/nfse/${id}`)).body,
      ({ status }) => status === 'issued',
    );
    return id;
  };

  /** Addresses of a database of this name, as the operator sets them. */
  const addressesOf = (name: string) => {
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return { DATABASE_URL: as(SERVICE, url.href), DATABASE_OWNER_URL: as(OWNER, url.href) };
  };

  const setUp = async (name: string) => {
    const addresses = addressesOf(name);
    const file = await server.secret('admin-url', server.url);
    expect(await runSetupDatabase(addresses, '--admin-url-file', file)).toMatchObject({ exit: 0 });
    return addresses;
  };

  const withDatabase = async (env: NodeJS.ProcessEnv): Promise<EmbeddedHarness> => {
    const harness = await openEmbeddedHarness(key, env);
    opened.push(harness);
    return harness;
  };

  const restore = async (env: NodeJS.ProcessEnv, from = backup): Promise<Said> => {
    const fault = (error: unknown): Said => {
      const { exit, line } = startupFault(error);
      return { exit, out: line };
    };
    return await (await withDatabase(env)).restore(from).catch(fault);
  };

  it('answers for every reference of before, pauses issuing until the comparison, and leaves the service its few rights', async () => {
    const addresses = await setUp('moved');
    const own = await withDatabase({ ...addresses, DATA_DIR: old.folder });
    expect(await own.restore(backup)).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/are in the database 127\.0\.0\.1:\d+\/moved\n.*Issuing is paused/s),
    });
    const { DATABASE_URL } = addresses;
    const moved = await withDatabase({ DATABASE_URL, DATA_DIR: old.folder });
    const at = await moved.start();
    expect(await at.ask(`/v1/nfse/${invoice}`)).toMatchObject({ status: 503 });
    expect(await at.operate('doctor', '--reconcile')).toMatchObject({ exit: 0 });
    await eventually(
      async () => (await at.ask(`/v1/nfse/${invoice}`)).body,
      ({ status }) => status === 'issued',
    );
    expect(await at.ask('/v1/nfse', { ...body, amount_in_cents: 1_002 })).toMatchObject({
      status: 409,
      body: { error: { code: 'nfse.reference_in_use' } },
    });
    expect(await at.ledger()).toHaveLength(1);
    // The folder is the one of before.
    expect((await at.operate('doctor')).out).toMatch(/^ok +embedded database +DATA_DIR holds .* that is not used/m);
    expect(await excessRights(at.service.engines.pool)).toEqual([]);
    await at.stop();
    // The service has used the database.
    expect(await own.restore(backup)).toMatchObject({
      exit: 1,
      out: expect.stringContaining('the database is not empty, it has rows in'),
    });
  });

  it('puts the copy of the master key in its place, where there is none', async () => {
    const harness = await withDatabase(await setUp('keyed'));
    expect(await harness.restore(backup)).toMatchObject({ exit: 0 });
    expect(await readFile(join(harness.folder, 'master.key'), 'utf8')).toBe(
      await readFile(join(backup, 'master.key'), 'utf8'),
    );
  });

  it('is refused beside a master key that opens nothing of it', async () => {
    const harness = await withDatabase(await setUp('other_key'));
    const file = join(harness.folder, 'master.key');
    await writeFile(file, Buffer.alloc(32, 9).toString('base64'), { mode: 0o600 });
    expect(await harness.restore(backup)).toMatchObject({ exit: 1, out: expect.stringContaining('MASTER_KEY_FILE') });
    await rm(file);
    expect(await harness.restore(backup)).toMatchObject({ exit: 0 });
  });

  it('is refused before setup database has made the tables, and by a service that may not write the log', async () => {
    await server.ask('create database bare');
    const bare = addressesOf('bare');
    const { DATABASE_URL } = await setUp('refused');
    expect(await restore(bare)).toMatchObject({ exit: 1, out: expect.stringContaining('run nfse setup database') });
    expect(await restore({ DATABASE_URL })).toMatchObject({
      exit: 1,
      out: expect.stringContaining('set DATABASE_OWNER_URL'),
    });
    const elsewhere = { DATABASE_URL, DATABASE_OWNER_URL: bare.DATABASE_OWNER_URL };
    await setUp('bare');
    expect(await restore(elsewhere)).toMatchObject({
      exit: 1,
      out: expect.stringContaining('must name one database'),
    });
    const another = await restore({ ...bare, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' });
    expect(another).toMatchObject({ exit: 1, out: expect.stringContaining('EVENTSTORE_URL names another one') });
  });

  it.each([
    ['of another version', ({ schema }: BackupManifest) => ({ schema: schema.slice(0, -1) }), 'not of one version'],
    [
      'with other rows than it says',
      ({ tables }: BackupManifest) => ({ tables: tables.map((table) => ({ ...table, rows: table.rows + 1 })) }),
      'rows in place of',
    ],
  ])('%s is refused and leaves nothing, so that the next restore succeeds', async (_what, change, complaint) => {
    const name = `left_${complaint.slice(0, 4).trim()}`;
    const addresses = await setUp(name);
    const changed = join(old.folder, name);
    await cp(backup, changed, { recursive: true });
    const file = join(changed, 'manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as BackupManifest;
    await writeFile(file, JSON.stringify({ ...manifest, ...change(manifest), mac: undefined }));
    expect(await restore(addresses, changed)).toMatchObject({ exit: 1, out: expect.stringContaining(complaint) });
    expect(await restore(addresses)).toMatchObject({ exit: 0 });
  });

  it('is refused by a database in which a company is registered, whose rows stay', async () => {
    const addresses = await setUp('used');
    const used = await withDatabase(addresses);
    await cp(join(old.folder, 'master.key'), join(used.folder, 'master.key'));
    const at = await used.start();
    await openAnother(used, at);
    const head = (await at.service.engines.log.head()) ?? 0n;
    await at.stop();
    expect(await used.restore(backup)).toMatchObject({
      exit: 1,
      out: expect.stringMatching(/is not empty, it has rows in .*event_log/),
    });
    const again = await used.start();
    expect(await again.service.engines.log.head()).toBeGreaterThanOrEqual(head);
    await again.stop();
  });

  /** The key of the old harness stays the key of the others. */
  const openAnother = async (harness: EmbeddedHarness, at: EmbeddedAt): Promise<void> => {
    const { live } = key;
    await harness.register(at);
    key.live = live;
  };
});

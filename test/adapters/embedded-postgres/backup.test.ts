import { createHash } from 'node:crypto';
import {
  appendFile,
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type BackupManifest,
  BackupRefused,
  checkFiles,
  loadBackup,
  readManifest,
  writeBackup,
} from '../../../src/adapters/embedded-postgres/backup.js';
import { isIssuingPaused, pauseIssuing } from '../../../src/adapters/guards-postgres/incomplete-log.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import type { LogPosition } from '../../../src/ports/event-log.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

/** What a line of text may hold besides its end. */
const STRANGE = 'ação\u2028linha\u2029\\u0041 "aspas" \r\n\t\u{1F4B8} \\';

const rowsOf = async ({ pool }: FreshDatabase, table: string): Promise<readonly unknown[]> =>
  (await pool.query(`select * from ${table} order by 1, 2`)).rows;

describeWithPostgres('a backup of the embedded database', () => {
  let folder: string;
  let from: FreshDatabase;
  let to: FreshDatabase;
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'nfse-backup-')), 'backup');
    [from, to] = await Promise.all([freshDatabase(), emptyDatabase()]);
    const values = Array.from({ length: 1_203 }, (_, n) => `(${n + 1}, 's', ${n}, gen_random_uuid(), 't', $1, 'h')`);
    await from.admin.query(
      `insert into event_log (position, stream, revision, id, type, record, hash) values ${values.join()}`,
      [STRANGE],
    );
    await from.admin.query('update event_log_head set position = 1203');
    await from.pool.query(`insert into vault_day_keys values ('2026-11-21', 'sealed')`);
    await from.pool.query(`insert into duplicate_marks values ('nfseTest-1', 's', '2026', gen_random_uuid())`);
    await from.pool.query(`insert into relay_checkpoint values ('log', 1)`);
  });
  afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

  const MADE_AT = '2026-11-21T12:00:00.000Z';

  const backUp = (logIsHere = true, to = folder): Promise<BackupManifest> =>
    writeBackup({ folder: to, db: from.pool, madeAt: MADE_AT, logIsHere, onProgress: () => undefined });

  const load = async (): Promise<void> => {
    const manifest = await readManifest(folder);
    await checkFiles(folder, manifest);
    await loadBackup(folder, manifest, { db: to.pool, migrations, withRows: async () => undefined }, () => undefined);
  };

  it('leaves the folder as it was when the database cannot be reached', async () => {
    const gone = { connect: () => Promise.reject(new Error('ECONNREFUSED')) } as unknown as FreshDatabase['pool'];
    await mkdir(folder);
    const options = { folder, madeAt: MADE_AT, logIsHere: true, onProgress: () => undefined };
    await expect(writeBackup({ ...options, db: gone })).rejects.toThrow('ECONNREFUSED');
    expect(await readdir(folder)).toEqual([]);
  });

  it('gives back the very rows, whatever their text holds, and leaves out what is made from the log', async () => {
    const { log, masterKey } = await backUp();
    await load();
    for (const table of ['event_log', 'event_log_head', 'duplicate_marks', 'schema_migrations'])
      expect(await rowsOf(to, table)).toEqual(await rowsOf(from, table));
    expect(await rowsOf(to, 'event_log')).toHaveLength(1_203);
    expect((await to.pool.query('select from relay_checkpoint')).rowCount).toBe(0);
    expect(log).toMatchObject({ kind: 'database', head: '1203' });
    expect(masterKey).toBe('absent');
  });

  it('keeps the pause over a log elsewhere that lost its end, because nothing in that log shows what it lacks', async () => {
    await pauseIssuing(from.pool, 'log', 5n as LogPosition, MADE_AT);
    await backUp(false);
    await load();
    expect(await isIssuingPaused(to.pool, 'log')).toBe(true);
  });

  it('has no key of a test day, so that what such a key erases is erased in it too', async () => {
    const { tables } = await backUp();
    expect(tables.map(({ name }) => name)).not.toContain('vault_day_keys');
    expect(await readdir(folder)).not.toContain('vault_day_keys.ndjson.gz');
    await load();
    expect(await rowsOf(to, 'vault_day_keys')).toEqual([]);
  });

  it('is of one moment, whatever is written meanwhile', async () => {
    let written = false;
    const manifest = await writeBackup({
      folder,
      db: from.pool,
      madeAt: MADE_AT,
      logIsHere: true,
      onProgress: () => {
        if (written) return;
        written = true;
        void from.pool.query(`insert into duplicate_marks values ('nfseTest-2', 's', '2026', gen_random_uuid())`);
      },
    });
    expect(manifest.tables.find(({ name }) => name === 'duplicate_marks')?.rows).toBe(1);
  });

  it.each(['event_log.ndjson.gz', 'duplicate_marks.ndjson.gz'])('is refused with one byte more in %s', async (file) => {
    await backUp();
    await appendFile(join(folder, file), 'x');
    await expect(load()).rejects.toThrow(`not as they were backed up, or missing: ${file}`);
    expect((await to.pool.query(`select from pg_tables where schemaname = 'public'`)).rowCount).toBe(0);
  });

  it.each<[string, (file: Buffer) => Buffer]>([
    ['lines that are no rows', () => gzipSync('{"position":"x"}\n')],
    ['no JSON', () => gzipSync('{\n')],
    ['a row twice', (file) => gzipSync(gunzipSync(file).toString().repeat(2))],
    ['bytes that are no UTF-8', () => gzipSync(Buffer.from([0xff, 0x0a]))],
    ['no gzip', () => Buffer.from('{}\n')],
    ['half of its bytes', (file) => file.subarray(0, file.length / 2)],
  ])('is refused in one line when a file with the right sum holds %s', async (_what, change) => {
    const manifest = await backUp();
    const file = 'event_log.ndjson.gz';
    const changed = change(await readFile(join(folder, file)));
    await writeFile(join(folder, file), changed);
    const sha256 = createHash('sha256').update(changed).digest('hex');
    const tables = manifest.tables.map((table) => (table.file === file ? { ...table, sha256 } : table));
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, tables }));
    const refused = load();
    await expect(refused).rejects.toBeInstanceOf(BackupRefused);
    await expect(refused).rejects.toThrow(
      /^event_log\.ndjson\.gz does not hold rows of event_log \(\w+\): use another/,
    );
  });

  it('is refused when its manifest names no step of the schema', async () => {
    const manifest = await backUp();
    await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, schema: [] }));
    await expect(load()).rejects.toThrow('names no step of the schema');
  });

  it.each([
    ['no JSON', '{'],
    ['no object', 'null'],
    ['a table that is none', '{"format":1,"tables":[null],"schema":[]}'],
  ])('is refused when its manifest holds %s', async (_what, text) => {
    await backUp();
    await writeFile(join(folder, 'manifest.json'), text);
    await expect(load()).rejects.toThrow('is not one that this version reads');
  });

  it.each(['madeAt', 'schema', 'log', 'tables', 'masterKey'])(
    'is refused when its manifest lacks %s',
    async (field) => {
      const manifest = await backUp();
      await writeFile(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, [field]: undefined }));
      await expect(load()).rejects.toThrow('is not one that this version reads');
    },
  );

  it('is refused without its manifest, which comes last', async () => {
    await backUp();
    await rm(join(folder, 'manifest.json'));
    await expect(load()).rejects.toThrow('holds no finished backup');
  });

  it('is refused when a newer version made it, and loads nothing then', async () => {
    await backUp();
    const path = join(folder, 'manifest.json');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as BackupManifest;
    const schema = [...manifest.schema, { id: 999, name: 'to-come', checksum: 'x' }];
    await writeFile(path, JSON.stringify({ ...manifest, schema }));
    await expect(load()).rejects.toThrow('use the version that made it');
  });

  it('of an older version is loaded into its tables, and they are brought up to date', async () => {
    const manifest = await backUp();
    const schema = manifest.schema.filter(({ id }) => id < 22);
    const younger = migrations
      .filter(({ id }) => id >= 22)
      .flatMap(({ sql }) => [...sql.matchAll(/create table (?:if not exists )?(\w+)/g)].map(([, name]) => name));
    const tables = manifest.tables.filter(({ name }) => !younger.includes(name));
    await loadBackup(
      folder,
      { ...manifest, schema, tables },
      { db: to.pool, migrations, withRows: async () => undefined },
      () => undefined,
    );
    expect((await to.pool.query('select from key_uses')).rowCount).toBe(0);
    expect(await rowsOf(to, 'schema_migrations')).toEqual(await rowsOf(from, 'schema_migrations'));
  });

  it('is not written into a folder that holds something', async () => {
    await backUp();
    await expect(backUp()).rejects.toThrow('is not empty');
  });

  it('is read by its owner alone, the copy of the master key too', async () => {
    const masterKeyFile = join(folder, '..', 'master.key');
    await writeFile(masterKeyFile, 'secret', { mode: 0o400 });
    const options = { folder, db: from.pool, madeAt: MADE_AT, logIsHere: true, onProgress: () => undefined };
    await writeBackup({ ...options, masterKeyFile });
    const modes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mode & 0o777);
    expect(new Set(await Promise.all(modes))).toEqual(new Set([0o600]));
    expect(await readFile(join(folder, 'master.key'), 'utf8')).toBe('secret');
  });

  it.runIf(process.geteuid?.() === 0)('is not written into a folder that another user has put into /tmp', async () => {
    await mkdir(folder);
    await chown(folder, 65_534, 65_534);
    await chmod(join(folder, '..'), 0o1777);
    const refused = `${folder} belongs to another user and lies where all users may make folders`;
    await expect(backUp()).rejects.toThrow(refused);
    expect(await readdir(folder)).toEqual([]);
    await expect(backUp(true, join(folder, 'new'))).rejects.toThrow(refused);
    expect(await readdir(join(folder, 'new'))).toEqual([]);
    const below = join(folder, 'below');
    await mkdir(below);
    await expect(backUp(true, below)).rejects.toThrow(refused);
    const [target, link] = [join(folder, '..', 'other'), join(folder, '..', 'link')];
    await mkdir(target);
    await symlink(target, link);
    await lchown(link, 65_534, 65_534);
    await expect(backUp(true, link)).rejects.toThrow(`${link} belongs to another user`);
    await expect(backUp(true, join(link, 'new'))).rejects.toThrow(`${link} belongs to another user`);
  });

  it.runIf(process.geteuid?.() === 0)(
    'is written by root into the empty folder of another user elsewhere, such as the volume of a container',
    async () => {
      await mkdir(folder);
      await chown(folder, 65_534, 65_534);
      expect((await backUp()).masterKey).toBe('absent');
    },
  );

  it.runIf(process.geteuid?.() === 0)('is written into a new folder in that of another user', async () => {
    await mkdir(folder);
    await chown(folder, 65_534, 65_534);
    expect((await backUp(true, join(folder, 'today'))).masterKey).toBe('absent');
  });

  it('is written into an empty folder of the own user in a place where all users may make folders', async () => {
    await mkdir(folder);
    await chmod(join(folder, '..'), 0o1777);
    expect((await backUp()).masterKey).toBe('absent');
  });

  it('that was interrupted is named where the next one finds it in its folder', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'unfinished'), '');
    await expect(backUp()).rejects.toThrow(/is not empty: name a new folder; .* was interrupted and may be removed/);
    expect(await readdir(folder)).toEqual(['unfinished']);
  });

  it.each(['a new', 'an empty'])(
    'of two at once into %s folder only one is made, and that one is whole',
    async (which) => {
      if (which === 'an empty') await mkdir(folder);
      const both = await Promise.allSettled([backUp(), backUp()]);
      const refusals = both.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
      expect(refusals).toEqual([expect.stringContaining('is not empty: name a new folder')]);
      expect(await readdir(folder)).not.toContain('unfinished');
      await load();
      expect(await rowsOf(to, 'event_log')).toHaveLength(1_203);
    },
  );
});

import { createHash, createHmac } from 'node:crypto';
import { chmodSync, existsSync, type PathLike } from 'node:fs';
import fs, { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type BackupManifest, readManifest, writeBackup } from '../../../src/adapters/embedded-postgres/backup.js';
import { isKeyOfBackup, noteKeyOfBackup } from '../../../src/adapters/embedded-postgres/half-restored.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { loadMasterKeys } from '../../../src/adapters/vault/key-file.js';
import { isNotedOfBackup, noteKeysOfBackup } from '../../../src/adapters/vault/key-origin.js';
import { deriveSecret, masterKeyId } from '../../../src/adapters/vault/master-key.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { restoreOf } from '../../../src/runtime/operator/backup.js';
import { putMasterKey } from '../../../src/runtime/operator/key-of-backup.js';
import { checkMac, withMac } from '../../../src/runtime/operator/manifest-mac.js';
import { fileFault, withCall } from '../../support/file-calls.js';
import { addKey } from '../../support/harness/key-file.js';
import { startLockedPostgres } from '../../support/locked-postgres.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const MADE_AT = '2026-11-21T12:00:00.000Z';
const OF_BACKUP = Buffer.alloc(32, 1);

/** A backup of a database whose log has one event, with its MAC; `change` is what another person does to the manifest. */
const backUp = async (
  change: (manifest: BackupManifest) => object = (same) => same,
  withKey = false,
): Promise<string> => {
  const { pool } = await freshDatabase();
  await pool.query('insert into vault_master_keys (generation, key_id, activated_at) values ($1, $2, $3)', [
    'm1',
    masterKeyId(OF_BACKUP),
    MADE_AT,
  ]);
  await pool.query(
    `select event_log_append('{s}', '{-1}', '{1}', '{s}', '{0}', array[gen_random_uuid()], '{T}', '{"{}"}', '{h}')`,
  );
  const outside = temporaryFolder();
  const [backup, masterKeyFile] = [join(outside, 'backup'), join(outside, 'master.key')];
  await writeFile(masterKeyFile, OF_BACKUP.toString('base64'), { mode: 0o600 });
  const manifest = await writeBackup({
    folder: backup,
    db: pool,
    madeAt: MADE_AT,
    logIsHere: true,
    withMac: (plain) => withMac(plain, { generation: 'm1', key: OF_BACKUP }),
    ...(withKey ? { masterKeyFile } : {}),
    onProgress: () => undefined,
  });
  await writeFile(join(backup, 'manifest.json'), JSON.stringify(change(manifest)));
  return backup;
};

const restoreBeside = async (key: Buffer | undefined, backup: string) => {
  const folder = temporaryFolder();
  // As root the database runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711);
  if (key !== undefined) await writeFile(join(folder, 'master.key'), key.toString('base64'), { mode: 0o600 });
  const read = readConfig({ DATA_DIR: folder });
  if ('problems' in read) throw new Error(read.problems.join('; '));
  const result = await restoreOf(() => read.config)(backup, () => undefined);
  return { result, folder, there: await readdir(folder) };
};

const OF_ANOTHER = Buffer.alloc(32, 2);

describeWithPostgres('a restore beside a master key', () => {
  it('of the backup confirms the backup and opens it', async () => {
    const { result } = await restoreBeside(OF_BACKUP, await backUp());
    expect(result).toMatchObject({ done: { masterKeyThere: true, authenticity: 'confirmed' } });
    expect('done' in result && result.done.masterKeyFault).toBeUndefined();
  });

  it('to which a command has added a key: the lock of the key file does not count as data in the folder', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    const file = join(folder, 'master.key');
    await writeFile(file, OF_BACKUP.toString('base64'), { mode: 0o600 });
    await addKey(file);
    expect(await readdir(folder)).toContain('master.key.lock');
    const read = readConfig({ DATA_DIR: folder });
    if ('problems' in read) throw new Error(read.problems.join('; '));
    const result = await restoreOf(() => read.config)(await backUp(), () => undefined);
    expect(result).toMatchObject({ done: { authenticity: 'confirmed' } });
  });

  it('of another service says that nothing confirms the backup, and that the service does not start', async () => {
    const { result } = await restoreBeside(OF_ANOTHER, await backUp());
    const masterKeyFault = expect.stringContaining('m1');
    expect(result).toMatchObject({ done: { masterKeyThere: true, authenticity: 'no_key', masterKeyFault } });
  });

  it('says that nothing confirms a backup of an earlier version', async () => {
    const { result } = await restoreBeside(OF_BACKUP, await backUp(({ mac: _mac, ...older }) => older));
    expect(result).toMatchObject({ done: { masterKeyThere: true, authenticity: 'no_mac' } });
  });

  it('says that the copy in the backup itself confirms nothing, and takes the copy', async () => {
    const { result } = await restoreBeside(undefined, await backUp((same) => same, true));
    expect(result).toMatchObject({ done: { masterKeyThere: true, authenticity: 'no_key' } });
  });

  it('of which another one failed to begin anew still takes nothing from the copy of the backup', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o711);
    const unknownStep = { id: 9_999, name: 'later', checksum: '0' };
    const unusable = await backUp(
      ({ mac: _mac, ...made }) => ({ ...made, schema: [...made.schema, unknownStep] }),
      true,
    );
    const usable = await backUp((same) => same, true);
    // What a restore leaves that was killed when the copy was in its place.
    const copy = await readFile(join(usable, 'master.key'), 'utf8');
    await noteKeyOfBackup(folder, copy);
    await writeFile(join(folder, 'master.key'), copy, { mode: 0o600 });
    // What a killed master-key add leaves stops no restore.
    await writeFile(join(folder, 'master.key.0123456789ab.draft'), '', { mode: 0o600 });
    const read = readConfig({ DATA_DIR: folder });
    if ('problems' in read) throw new Error(read.problems.join('; '));
    const restore = (from: string) => restoreOf(() => read.config)(from, () => undefined);
    expect(await restore(unusable)).toEqual({ refused: expect.stringContaining('step 9999-later') });
    expect(await restore(usable)).toMatchObject({ done: { masterKeyThere: true, authenticity: 'unproven' } });
    expect(await readdir(folder)).not.toContain('restoring');
    expect(await readdir(folder)).not.toContain('master.key.0123456789ab.draft');
  });

  it('a second restore does not trust the key that the first restore took from the backup, also into another folder', async () => {
    const backup = await backUp((same) => same, true);
    const keys = temporaryFolder();
    const MASTER_KEY_FILE = join(keys, 'master.key');
    const restore = async () => {
      const folder = temporaryFolder();
      chmodSync(folder, 0o711);
      const read = readConfig({ DATA_DIR: folder, MASTER_KEY_FILE }, { keyMayBeMissing: true });
      if ('problems' in read) throw new Error(read.problems.join('; '));
      return await restoreOf(() => read.config)(backup, () => undefined);
    };
    expect(await restore()).toMatchObject({ done: { authenticity: 'no_key' } });
    expect(await restore()).toMatchObject({ done: { authenticity: 'unproven', masterKeyThere: true } });
    // The backup of a key that was added here is one of this service.
    await addKey(MASTER_KEY_FILE);
    const [newest] = await loadMasterKeys(MASTER_KEY_FILE, { createIfMissing: false });
    expect(await isNotedOfBackup(MASTER_KEY_FILE, newest)).toBe(false);
    // An operator has put a copy of their own in the place of the file.
    await rm(`${MASTER_KEY_FILE}.from-backup`);
    expect(await restore()).toMatchObject({ done: { authenticity: 'confirmed' } });
  });

  it('that lies in a folder where no file can be made refuses a backup with a key before anything is loaded', async () => {
    const backup = await backUp((same) => same, true);
    const [folder, MASTER_KEY_FILE] = [temporaryFolder(), join(temporaryFolder(), 'master.key')];
    chmodSync(folder, 0o711);
    const read = readConfig({ DATA_DIR: folder, MASTER_KEY_FILE }, { keyMayBeMissing: true });
    if ('problems' in read) throw new Error(read.problems.join('; '));
    const seen: string[] = [];
    const readOnly = () => Promise.reject(fileFault('EROFS'));
    await withCall('access', readOnly, async () => {
      expect(await restoreOf(() => read.config)(backup, (table) => seen.push(table))).toEqual({
        refused: expect.stringContaining(`MASTER_KEY_FILE ${MASTER_KEY_FILE} cannot be made (EROFS)`),
      });
    });
    expect([seen, await readdir(folder)]).toEqual([[], ['lock']]);
  });

  it('that an earlier restore took from a backup still refuses a backup that was changed', async () => {
    const folder = temporaryFolder();
    await noteKeysOfBackup(join(folder, 'master.key'), [{ generation: 'm1', key: OF_BACKUP }]);
    expect((await readdir(folder)).sort()).toEqual(['master.key.from-backup']);
    const changed = await backUp((manifest) => ({ ...manifest, more: null }));
    await writeFile(join(folder, 'master.key'), OF_BACKUP.toString('base64'), { mode: 0o600 });
    const read = readConfig({ DATA_DIR: folder });
    if ('problems' in read) throw new Error(read.problems.join('; '));
    const result = await restoreOf(() => read.config)(changed, () => undefined);
    expect(result).toEqual({ refused: expect.stringContaining('was changed after it was made') });
  });

  it('that was put in place after an interrupted restore is told from that of the backup by its text', async () => {
    const folder = temporaryFolder();
    await noteKeyOfBackup(folder, 'the key of another backup');
    await writeFile(join(folder, 'master.key'), OF_BACKUP.toString('base64'), { mode: 0o600 });
    expect(await isKeyOfBackup(folder, join(folder, 'master.key'))).toBe(false);
    await noteKeyOfBackup(folder, OF_BACKUP.toString('base64'));
    expect(await isKeyOfBackup(folder, join(folder, 'master.key'))).toBe(true);
  });

  it('into a database of its own takes the copy of the backup only once the rows are committed', async () => {
    const backup = await backUp((same) => same, true);
    const target = await freshDatabase();
    const folder = temporaryFolder();
    const read = readConfig({
      ...{ DATA_DIR: folder, DATABASE_URL: target.ownerConnectionString },
      MASTER_KEY_FILE: join(folder, 'keys', 'master.key'),
    });
    if ('problems' in read) throw new Error(read.problems.join('; '));
    const restore = () => restoreOf(() => read.config)(backup, () => undefined);
    await target.admin.query(
      `create function lose() returns trigger language plpgsql as $$ begin raise 'lost'; end $$`,
    );
    await target.admin.query(`create constraint trigger lost after insert on vault_master_keys
      deferrable initially deferred for each row execute function lose()`);
    await expect(restore()).rejects.toThrow();
    expect(await readdir(folder)).toEqual([]);
    await target.admin.query('drop trigger lost on vault_master_keys');
    expect(await restore()).toMatchObject({ done: { masterKeyThere: true, authenticity: 'no_key' } });
    expect((await readdir(join(folder, 'keys'))).sort()).toEqual(['master.key', 'master.key.from-backup']);
    await target.close();
  });

  it.each<[string, (manifest: BackupManifest) => object]>([
    ['with another number of rows', ({ tables, ...rest }) => ({ ...rest, tables: tables.slice(1) })],
    ['with another head of its log', (manifest) => ({ ...manifest, log: { ...manifest.log, head: '9' } })],
    ['with a member that no version writes', (manifest) => ({ ...manifest, more: null })],
    ['with the MAC of another', (manifest) => ({ ...manifest, mac: { ...manifest.mac, hmac: '0'.repeat(64) } })],
  ])('refuses a backup %s, and puts nothing into the folder', async (_what, change) => {
    const { result, there } = await restoreBeside(OF_BACKUP, await backUp(change));
    expect(result).toEqual({
      refused: expect.stringMatching(/was changed after .* does not hold under master key m1/),
    });
    expect(there).toEqual(['master.key']);
  });

  it.each([
    ['another identity', { identity: 'x' }],
    ['another end', { head: '9' }],
    ['an end that is no number', { head: 'abc' }],
  ])('refuses a backup without MAC whose manifest gives its log %s than the rows', async (_what, other) => {
    const backup = await backUp(({ mac: _mac, log, ...older }) => ({ ...older, log: { ...log, ...other } }));
    const { result, there } = await restoreBeside(OF_BACKUP, backup);
    expect(result).toEqual({ refused: expect.stringContaining('names another log, or another end of it') });
    expect(there).toEqual(['lock', 'master.key']);
  });

  it('refuses a backup whose log has no end among the rows', async () => {
    const backup = await backUp(({ mac: _mac, ...older }) => older);
    const file = 'event_log_head.ndjson.gz';
    await writeFile(join(backup, file), gzipSync(''));
    const sha256 = createHash('sha256').update(gzipSync('')).digest('hex');
    const { tables, ...others } = await readManifest(backup);
    const without = tables.map((table) => (table.file === file ? { ...table, rows: 0, sha256 } : table));
    await writeFile(join(backup, 'manifest.json'), JSON.stringify({ ...others, tables: without }));
    const { result } = await restoreBeside(OF_BACKUP, backup);
    expect(result).toEqual({ refused: expect.stringContaining('names another log, or another end of it') });
  });

  it('pauses issuing over the log in the rows where a manifest without MAC says that the log is elsewhere', async () => {
    const backup = await backUp(({ mac: _mac, log: _log, ...older }) => ({ ...older, log: { kind: 'elsewhere' } }));
    const { result, folder } = await restoreBeside(OF_BACKUP, backup);
    expect(result).toMatchObject({ done: { paused: true, events: 1 } });
    const server = await startLockedPostgres({ dataDir: folder, log: () => undefined });
    const db = openPool({ connectionString: server.superuserConnectionString, max: 1, applicationName: 'test' });
    try {
      const isPaused =
        'select position::text, (select head::text from log_set_back where log_identity = identity::text)';
      expect((await db.query(`${isPaused} as head from event_log_head`)).rows).toEqual([{ position: '1', head: '1' }]);
    } finally {
      await db.end();
      await server.stop();
    }
  });
});

describe('the note of the keys that a restore took from a backup', () => {
  const [ofBackup, ofAnother] = [
    { generation: 'm1', key: OF_BACKUP },
    { generation: 'm1', key: OF_ANOTHER },
  ];
  const text = OF_BACKUP.toString('base64');

  it('stays where another restore has put the same key meanwhile', async () => {
    const file = join(temporaryFolder(), 'master.key');
    const { link } = fs;
    const second = async (draft: PathLike, to: PathLike) => {
      await link(draft, to);
      throw fileFault('EEXIST');
    };
    await withCall('link', second, () => putMasterKey(file, text));
    expect(await isNotedOfBackup(file, ofBackup)).toBe(true);
  });

  it('stays where the key is put and the end of the restore fails', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'master.key');
    const { open } = fs;
    const fails: typeof open = (path, ...how) =>
      path === folder && existsSync(file) ? Promise.reject(fileFault('EIO')) : open(path, ...how);
    await withCall('open', fails, async () => {
      await expect(putMasterKey(file, text)).rejects.toThrow('EIO');
    });
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await isNotedOfBackup(file, ofBackup)).toBe(true);
  });

  it('goes where a file of another key was made meanwhile, and is not changed where a file is there', async () => {
    const file = join(temporaryFolder(), 'master.key');
    const other = async (_draft: PathLike, to: PathLike) => {
      await writeFile(to, OF_ANOTHER.toString('base64'), { mode: 0o600 });
      throw fileFault('EEXIST');
    };
    await withCall('link', other, () => putMasterKey(file, text));
    expect(await readdir(join(file, '..'))).toEqual(['master.key']);
    await noteKeysOfBackup(file, [ofAnother]);
    await putMasterKey(file, text);
    expect(await isNotedOfBackup(file, ofAnother)).toBe(true);
    expect(await isNotedOfBackup(file, ofBackup)).toBe(false);
  });
});

describe('the MAC of a manifest', () => {
  const key = { generation: 'm2', key: OF_BACKUP };

  it('holds whatever the order of the members, with members of a later version, and under its own key alone', () => {
    const made = withMac({ format: 1, madeAt: MADE_AT, later: [{ a: 1, b: true }] }, key);
    const read = JSON.parse(JSON.stringify({ mac: made.mac, later: made.later, madeAt: MADE_AT, format: 1 }));
    expect(checkMac(read, [{ generation: 'm3', key: OF_ANOTHER }, key])).toBe('confirmed');
    expect(checkMac({ ...read, later: [] }, [key])).toBe('wrong');
    expect(checkMac(read, [{ generation: 'm2', key: OF_ANOTHER }])).toBe('no_key');
    expect(checkMac(read, [{ generation: 'm1', key: OF_BACKUP }])).toBe('no_key');
    expect(checkMac({ ...read, mac: undefined }, [key])).toBe('no_mac');
  });

  it('is under a key with a purpose of its own', () => {
    const { mac } = withMac({ format: 1 }, key);
    const text = `{"format":1,"mac":{"generation":"m2","keyId":"${masterKeyId(OF_BACKUP)}"}}`;
    const under = (secret: Buffer): string => createHmac('sha256', secret).update(text).digest('hex');
    expect(mac.hmac).toBe(under(deriveSecret(OF_BACKUP, 'backup')));
    expect(mac.hmac).not.toBe(under(deriveSecret(OF_BACKUP, 'console')));
  });
});

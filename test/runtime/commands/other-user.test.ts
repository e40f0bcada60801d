import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addKey } from '../../support/harness/key-file.js';
import { runProgram } from '../../support/harness/processes.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The user `nobody` of Linux, and a program that only root may use. */
const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

const isPossible = process.getuid?.() === 0 && existsSync('/usr/bin/setpriv');

const ADVICE = 'run the command as that user (for example sudo -u root ...)\n';

describe.runIf(isPossible)('a command on the DATA_DIR of another OS user', () => {
  const folderOfRoot = (): string => {
    const parent = temporaryFolder();
    chmodSync(parent, 0o711);
    const folder = join(parent, 'data');
    mkdirSync(folder);
    writeFileSync(join(folder, 'postgres-connection.json'), '{}', { mode: 0o600 });
    return folder;
  };
  const runOn = async (folder: string, args: readonly string[]) => {
    const program = runProgram(['src/main.ts', ...args], { DATA_DIR: folder }, AS_NOBODY);
    const { code } = await program.ended;
    return { code, complaint: program.output().stderr };
  };

  it.each([['company', 'list'], ['serve']])('names DATA_DIR where this user may not write: %s %s', async (...args) => {
    const parent = temporaryFolder();
    chmodSync(parent, 0o711);
    const folder = join(parent, 'data');
    for (const path of [folder, join(folder, 'lock')]) {
      mkdirSync(path);
      const { code, complaint } = await runOn(folder, args);
      expect(complaint).toContain(
        `DATA_DIR ${folder} takes no file (EACCES): let this user write there, or choose another DATA_DIR\n`,
      );
      expect(code).toBe(2);
    }
  });

  it.each([['company', 'list'], ['doctor'], ['serve']])(
    'is refused in one line and changes nothing: %s %s',
    async (...args) => {
      const folder = folderOfRoot();
      expect(await runOn(folder, args)).toEqual({
        code: 2,
        complaint: `DATA_DIR ${folder} belongs to user root: ${ADVICE}`,
      });
      expect(readdirSync(folder)).toEqual(['postgres-connection.json']);
    },
  );

  it('is refused by restore too', async () => {
    const folder = folderOfRoot();
    chmodSync(folder, 0o711);
    const { complaint } = await runOn(folder, ['restore', '--from', join(folder, 'backup')]);
    expect(complaint).toContain(`DATA_DIR ${folder} belongs to user root: ${ADVICE}`);
  });

  it.each(['manifest.json', 'event_log.ndjson.gz'])(
    'names the owner of a backup whose %s it may not read',
    async (secret) => {
      const parent = temporaryFolder();
      chmodSync(parent, 0o711);
      const backup = join(parent, 'backup');
      mkdirSync(backup);
      const tables = [{ name: 'event_log', file: 'event_log.ndjson.gz', rows: 0, sha256: '' }];
      const madeAt = '2026-11-29T12:00:00.000Z';
      const manifest = { format: 1, madeAt, schema: [], log: { kind: 'elsewhere' }, tables, masterKey: 'absent' };
      writeFileSync(join(backup, 'manifest.json'), JSON.stringify(manifest));
      writeFileSync(join(backup, 'event_log.ndjson.gz'), '');
      chmodSync(join(backup, secret), 0o600);
      expect(await runOn(join(parent, 'data'), ['restore', '--from', backup])).toEqual({
        code: 1,
        complaint: `${join(backup, secret)} belongs to user root: ${ADVICE}`,
      });
    },
  );

  it('is refused where the folder, or one above, cannot be entered', async () => {
    const folder = folderOfRoot();
    chmodSync(folder, 0o700);
    const belongs = `DATA_DIR ${folder} belongs to user root: ${ADVICE}`;
    expect(await runOn(folder, ['company', 'list'])).toEqual({ code: 2, complaint: belongs });
    const parent = join(folder, '..');
    chmodSync(parent, 0o700);
    const lies = `DATA_DIR ${folder} lies in ${parent}, which belongs to user root: ${ADVICE}`;
    expect(await runOn(folder, ['company', 'list'])).toEqual({ code: 2, complaint: lies });
  });

  it('is refused for a master key file of another user', async () => {
    const file = join(temporaryFolder(), 'master.key');
    chmodSync(join(file, '..'), 0o711);
    writeFileSync(file, '', { mode: 0o600 });
    const program = runProgram(['src/main.ts', 'master-key', 'add', file], {}, AS_NOBODY);
    expect(await program.ended).toMatchObject({ code: 2 });
    expect(program.output().stderr).toBe(`the master key file ${file} belongs to user root: ${ADVICE}`);
  });
});

describe.runIf(isPossible)('a command of root on the DATA_DIR of an unprivileged user', () => {
  const folderOfNobody = (): string => {
    const folder = join(temporaryFolder(), 'data');
    mkdirSync(folder);
    chownSync(folder, NOBODY, NOBODY);
    return folder;
  };
  const stopped = '{"port":1,"password":"a","ownerPassword":"b","servicePassword":"c"}';
  const runAsRoot = async (folder: string, args: readonly string[]) => {
    const program = runProgram(['src/main.ts', ...args], { DATA_DIR: folder });
    const { code } = await program.ended;
    return { code, complaint: program.output().stderr };
  };
  const advice = (what: string): string =>
    `${what} belongs to user nobody: run the command as that user (for example sudo -u nobody ...)\n`;

  it.each([['company', 'list'], ['serve']])(
    'is refused and changes nothing while the service is stopped: %s %s',
    async (...args) => {
      const folder = folderOfNobody();
      mkdirSync(join(folder, 'postgres'));
      writeFileSync(join(folder, 'postgres-connection.json'), stopped, { mode: 0o600 });
      for (const name of readdirSync(folder)) chownSync(join(folder, name), NOBODY, NOBODY);
      expect(await runAsRoot(folder, args)).toEqual({ code: 2, complaint: advice(join(folder, 'postgres')) });
      expect(readdirSync(folder).sort()).toEqual(['postgres', 'postgres-connection.json']);
      expect(readFileSync(join(folder, 'postgres-connection.json'), 'utf8')).toBe(stopped);
    },
  );

  it('makes no database in such a folder, because the service could not use the database', async () => {
    const folder = folderOfNobody();
    const { code, complaint } = await runAsRoot(folder, ['company', 'list']);
    expect({ code, complaint: complaint.split('\n').at(-2) }).toEqual({
      code: 2,
      complaint: advice(`DATA_DIR ${folder}`).trimEnd(),
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of an earlier version may have taken the file of addresses: the user reads which file to give back', async () => {
    const parent = temporaryFolder();
    chmodSync(parent, 0o711);
    const folder = join(parent, 'data');
    mkdirSync(join(folder, 'postgres'), { recursive: true });
    for (const path of [folder, join(folder, 'postgres')]) chownSync(path, NOBODY, NOBODY);
    const file = join(folder, 'postgres-connection.json');
    writeFileSync(file, stopped, { mode: 0o600 });
    const program = runProgram(['src/main.ts', 'company', 'list'], { DATA_DIR: folder }, AS_NOBODY);
    expect(await program.ended).toMatchObject({ code: 2 });
    expect(program.output().stderr).toBe(
      `${file} belongs to the OS user 0, and the database beside the file to ${NOBODY}: as root, chown ${NOBODY} ${file}\n`,
    );
  });
});

describe.runIf(isPossible)('a master key file of an unprivileged user to which root adds', () => {
  it.each([
    ['and is killed with the lock', '12'],
    ['', '1000'],
  ])('%s is still one to which its owner adds', async (_how, DIE_AT) => {
    const folder = join(temporaryFolder(), 'data');
    chmodSync(join(folder, '..'), 0o711);
    mkdirSync(folder);
    chownSync(folder, NOBODY, NOBODY);
    const file = join(folder, 'master.key');
    await addKey(file, 'm1');
    chownSync(file, NOBODY, NOBODY);
    const dies = new URL('./support/dies-at-step.mjs', import.meta.url).href;
    const env = { DATA_DIR: folder, NODE_OPTIONS: `--import=${dies}`, DIE_IN: folder, DIE_AT };
    const ofRoot = runProgram(['src/main.ts', 'master-key', 'add', file], env);
    const { signal } = await ofRoot.ended;
    expect(signal).toBe(DIE_AT === '12' ? 'SIGKILL' : null);
    const claims = readdirSync(`${file}.lock`).filter((name) => name.startsWith('claim-'));
    const [claim = ''] = claims.filter((name) => /^claim-\d+$/.test(name)).slice(-1);
    const { released } = JSON.parse(readFileSync(join(`${file}.lock`, claim), 'utf8'));
    expect(released).toBe(signal === null);
    const own = runProgram(['src/main.ts', 'master-key', 'add', file], { DATA_DIR: folder }, AS_NOBODY);
    const { code } = await own.ended;
    expect([code, own.output().stderr]).toEqual([0, '']);
  });

  const fileOfNobody = async (): Promise<string> => {
    const folder = join(temporaryFolder(), 'data');
    chmodSync(join(folder, '..'), 0o711);
    mkdirSync(folder);
    chownSync(folder, NOBODY, NOBODY);
    const file = join(folder, 'master.key');
    writeFileSync(file, `m1:${Buffer.alloc(32, 1).toString('base64')}`, { mode: 0o600 });
    chownSync(file, NOBODY, NOBODY);
    return file;
  };
  const add = async (within: readonly string[], file: string) => {
    const program = runProgram(['src/main.ts', 'master-key', 'add', file, '--generation', 'm2'], {}, within);
    const { code } = await program.ended;
    return { code, complaint: program.output().stderr };
  };

  it('gets no folder of root that the unprivileged user has moved to the name of the lock', async () => {
    const file = await fileOfNobody();
    mkdirSync(`${file}.lock`, 0o700);
    expect(await add([], file)).toEqual({ code: 0, complaint: '' });
    expect(statSync(`${file}.lock`)).toMatchObject({ uid: 0, gid: 0 });
  });

  it('leads root into no other folder by a link at the name of the lock', async () => {
    const file = await fileOfNobody();
    const ofRoot = temporaryFolder();
    symlinkSync(ofRoot, `${file}.lock`);
    const complaint = `the lock ${file}.lock of the master key file is no folder: move away what has this name\n`;
    expect(await add([], file)).toEqual({ code: 2, complaint });
    expect(readdirSync(ofRoot)).toEqual([]);
  });

  it('is made by a root that may neither change owners nor become another user', async () => {
    const file = await fileOfNobody();
    rmSync(file);
    chmodSync(join(file, '..'), 0o777);
    const limited = ['setpriv', '--bounding-set=-chown,-setuid,-setgid'];
    expect(await add(limited, file)).toEqual({ code: 0, complaint: '' });
  });

  it('says which lock of another user to remove', async () => {
    const file = await fileOfNobody();
    mkdirSync(`${file}.lock`);
    expect(await add(AS_NOBODY, file)).toEqual({
      code: 2,
      complaint: `the lock ${file}.lock of the master key file belongs to user root: remove that folder while no command runs\n`,
    });
    rmSync(`${file}.lock`, { recursive: true });
    expect(await add(AS_NOBODY, file)).toEqual({ code: 0, complaint: '' });
  });

  it('is told of the owner of the file, and of the folder that takes no file, before the lock', async () => {
    const file = join(temporaryFolder(), 'master.key');
    chmodSync(join(file, '..'), 0o711);
    await addKey(file, 'm1');
    rmSync(`${file}.lock`, { recursive: true });
    const complaint = `the master key file ${file} belongs to user root: ${ADVICE}`;
    expect(await add(AS_NOBODY, file)).toEqual({ code: 2, complaint });
    chownSync(file, NOBODY, NOBODY);
    expect(await add(AS_NOBODY, file)).toEqual({
      code: 2,
      complaint: `the master key file ${file} cannot be made (EACCES)\n`,
    });
  });
});

describeWithPostgres('a command whose master key is in a folder of another OS user', () => {
  it.runIf(isPossible)('is refused in one line, and not told to restore the key', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'master.key');
    await addKey(file, 'm1');
    const { connectionString } = await freshDatabase();
    const run = async (within: readonly string[]) => {
      const env = { DATABASE_URL: connectionString, MASTER_KEY_FILE: file };
      const program = runProgram(['src/main.ts', 'company', 'list'], env, within);
      const { code } = await program.ended;
      return { code, complaint: program.output().stderr };
    };
    expect(await run([])).toEqual({ code: 0, complaint: '' });
    const complaint = `the master key file ${file} lies in ${folder}, which belongs to user root: ${ADVICE}`;
    expect(await run(AS_NOBODY)).toEqual({ code: 2, complaint });
  });
});

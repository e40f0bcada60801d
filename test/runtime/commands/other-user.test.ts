import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addMasterKey } from '../../../src/adapters/vault/key-file.js';
import { runProgram } from '../../support/harness/processes.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The user `nobody` of Linux, and a program that only root may use. */
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

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

describeWithPostgres('a command whose master key is in a folder of another OS user', () => {
  it.runIf(isPossible)('is refused in one line, and not told to restore the key', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'master.key');
    await addMasterKey(file, 'm1');
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

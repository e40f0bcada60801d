import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isDenied, otherOwner } from '../../src/lib/other-owner.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** No user has this id. */
const STRANGER = 3_999_999_999;

const user = userInfo().username;

describe('the advice about a file of another OS user', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = join(temporaryFolder(), 'data');
    file = join(folder, 'file');
    await mkdir(folder);
    await writeFile(file, '');
    vi.spyOn(process, 'geteuid').mockReturnValue(STRANGER);
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  it('names the user who owns the file', async () => {
    const advice = `belongs to user ${user}: run the command as that user (for example sudo -u ${user} ...)`;
    expect(await otherOwner(file, { name: 'the file' })).toBe(`the file ${advice}`);
    expect(await otherOwner(file, { name: 'DATA_DIR', path: folder })).toBe(`DATA_DIR ${advice}`);
  });

  it('names the folder above and its user where the rest of the path cannot be seen', async () => {
    await rm(folder, { recursive: true });
    const above = join(folder, '..');
    expect(await otherOwner(file, { name: 'DATA_DIR', path: folder })).toBe(
      `DATA_DIR lies in ${above}, which belongs to user ${user}: run the command as that user (for example sudo -u ${user} ...)`,
    );
  });

  it('has the id of a user without a name', async () => {
    vi.doMock('node:fs/promises', async (original) => {
      const real = await original<typeof import('node:fs/promises')>();
      return Object.assign({}, real, { stat: async () => Object.assign(await stat(file), { uid: STRANGER - 1 }) });
    });
    vi.resetModules();
    const fresh = await import('../../src/lib/other-owner.js');
    vi.doUnmock('node:fs/promises');
    expect(await fresh.otherOwner(file, { name: 'the file' })).toBe(
      `the file belongs to user ${STRANGER - 1}: run the command as that user (for example sudo -u '#${STRANGER - 1}' ...)`,
    );
  });

  it('is none where the process runs as the owner', async () => {
    vi.spyOn(process, 'geteuid').mockReturnValue((await stat(file)).uid);
    expect(await otherOwner(file, { name: 'the file' })).toBeUndefined();
  });

  it('is none where the operating system has no ids', async () => {
    vi.stubGlobal('process', { geteuid: undefined });
    expect(await otherOwner(file, { name: 'the file' })).toBeUndefined();
  });
});

it.each([
  ['EACCES', true],
  ['EPERM', true],
  ['ENOENT', false],
])('an error %s is a lack of rights: %s', (code, denied) => {
  expect(isDenied(Object.assign(new Error('failed'), { code }))).toBe(denied);
});

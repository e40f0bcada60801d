import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { readConfig } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { unusedDatabaseChecks } from '../../../src/runtime/operator/checks.js';
import { startService } from '../../../src/runtime/service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Nothing listens there, so a start ends after what it says first. */
const DATABASE_URL = 'postgres://nfse:secret@127.0.0.1:1/nfse';

const configOf = (folder: string, env: NodeJS.ProcessEnv) => {
  const parsed = readConfig({ DATA_DIR: folder, ...env });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  return parsed.config;
};

const folderWith = async (...names: readonly string[]): Promise<string> => {
  const folder = temporaryFolder();
  for (const name of names) await mkdir(join(folder, name));
  return folder;
};

const own = { DATABASE_URL, MASTER_KEY_FILE: '/nowhere' };

it('a start beside an embedded database that DATABASE_URL leaves unused says so once, and how to move it', async () => {
  const logger = createLogger('silent', 'stderr');
  const warn = vi.spyOn(logger, 'warn');
  const config = configOf(await folderWith('postgres'), own);
  await expect(startService({ config, roles: ['projector'], clock: systemClock, logger })).rejects.toThrow();
  expect(warn.mock.calls).toEqual([
    [
      {
        msg: expect.stringContaining('DATA_DIR holds an embedded database that is not used'),
        cure: expect.stringContaining('start.md#from-the-embedded-database-to-your-own'),
      },
    ],
  ]);
});

it('doctor names it, only where both are there', async () => {
  const [beside, empty] = [await folderWith('postgres', 'simulator'), await folderWith('simulator')];
  expect(unusedDatabaseChecks(configOf(beside, own))).toMatchObject([
    { name: 'embedded database', ok: true, detail: expect.stringContaining(join(beside, 'postgres')) },
  ]);
  expect(unusedDatabaseChecks(configOf(beside, {}))).toEqual([]);
  expect(unusedDatabaseChecks(configOf(empty, own))).toEqual([]);
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StartupFault, startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { openSession } from '../../../src/runtime/operator/session.js';

/** Always the same: a database remembers which key it was made with. */
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const logger = createLogger('silent', 'stderr');

/** Opens all engines on this database, as every command and role does, and closes them. Returns the message that a person would read. */
export const openOn = async (databaseUrl: string): Promise<StartupFault | 'opened'> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-opening-'));
  const masterKeyFile = join(folder, 'master.key');
  await writeFile(masterKeyFile, MASTER_KEY, { mode: 0o600 });
  const parsed = readConfig({ DATA_DIR: folder, DATABASE_URL: databaseUrl, MASTER_KEY_FILE: masterKeyFile });
  const runner = createRunner(() => undefined);
  try {
    if ('problems' in parsed) return { exit: 2, line: parsed.problems.join('; ') };
    await openSession(parsed.config, systemClock, logger, runner);
    return 'opened';
  } catch (error) {
    return startupFault(error);
  } finally {
    await runner.stop();
    await rm(folder, { recursive: true });
  }
};

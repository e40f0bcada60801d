import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { processIdentity } from '../../adapters/embedded-postgres/server-processes.js';
import { errorCode } from '../../lib/error-code.js';
import { writeWhole } from '../../lib/files.js';

/** `identity`: as `processIdentity` has it. */
const processShape = v.object({ pid: v.number(), identity: v.string() });

/** The process that runs the simulator of a folder, and the service that has started that process. */
const ownerShape = v.object({ simulator: processShape, service: processShape });

type Named = v.InferOutput<typeof processShape>;

const fileOf = (folder: string): string => join(folder, 'process.json');

/** The process with this id as it is now. */
export const namedProcess = (pid: number): Named => ({ pid, identity: processIdentity(pid) ?? '' });

/** Call it while this process holds the folder. `service`: taken while the service certainly lived. */
export const writeSimulatorOwner = (folder: string, service: Named): Promise<void> =>
  writeWhole(fileOf(folder), JSON.stringify({ simulator: namedProcess(process.pid), service }), 0o600);

/** Id of the process that runs the folder's simulator, if this process sees that process. */
export const simulatorProcessId = async (folder: string): Promise<number | undefined> => {
  const owner = await readOwner(folder);
  return owner !== undefined && lives(owner.simulator) ? owner.simulator.pid : undefined;
};

/** Ends the simulator of a killed service: a frozen one does not notice the end of the service, and would keep the folder. */
export const endAbandonedSimulator = async (folder: string): Promise<void> => {
  const owner = await readOwner(folder);
  if (owner === undefined || !lives(owner.simulator) || lives(owner.service)) return;
  try {
    process.kill(owner.simulator.pid, 'SIGKILL');
  } catch (error) {
    // The process has ended meanwhile, or belongs to another user: then the folder stays in use and the error names the process.
    if (!['ESRCH', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
  }
};

/** Undefined before the first start. A process of another container, whose id means nothing here, has no identity here. */
const readOwner = async (folder: string): Promise<v.InferOutput<typeof ownerShape> | undefined> => {
  try {
    return v.parse(ownerShape, JSON.parse(await readFile(fileOf(folder), 'utf8')));
  } catch {
    return undefined;
  }
};

const lives = ({ pid, identity }: Named): boolean => identity !== '' && processIdentity(pid) === identity;

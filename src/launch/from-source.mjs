// Runs a thread or a process of the service from its TypeScript: `--import tsx` reaches neither in Node 20. Plain JavaScript, because tsx is registered here.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './build.mjs';

/** Names a folder with code that was compiled from these sources, as a run of the tests makes it once for all threads and processes. */
const COMPILED_CODE = process.env.COMPILED_CODE;

/** Loads the program at this path in the repository (`src/main.ts`): compiled where that is done, else through tsx. */
export const loadFromSource = async (path) => {
  if (COMPILED_CODE !== undefined && existsSync(join(COMPILED_CODE, 'done'))) {
    await import(pathToFileURL(join(COMPILED_CODE, path.replace(/\.ts$/, '.js'))).href);
    return;
  }
  const { register } = await import('tsx/esm/api');
  register();
  await import(pathToFileURL(join(ROOT, path)).href);
};

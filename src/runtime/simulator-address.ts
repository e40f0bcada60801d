import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Mode } from '../domain/shared/ids.js';

const address = v.object({ live: v.string(), test: v.string() });

const fileOf = (folder: string): string => join(folder, 'address.json');

/** Where the simulator of this folder listens, for the operator's commands; replaced as a whole at each start. */
export const writeSimulatorAddress = async (folder: string, urls: Record<Mode, string>): Promise<void> => {
  const draft = `${fileOf(folder)}.${process.pid}`;
  await writeFile(draft, JSON.stringify({ live: urls.live, test: urls.test }), { mode: 0o600 });
  await rename(draft, fileOf(folder));
};

/** Undefined when none ever ran here. It may have ended since: whoever asks finds out. */
export const readSimulatorAddress = async (folder: string): Promise<Record<Mode, string> | undefined> => {
  try {
    return v.parse(address, JSON.parse(await readFile(fileOf(folder), 'utf8')));
  } catch {
    return undefined;
  }
};

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instant } from '../../../src/domain/common/time.js';

/**
 * What a filled data folder says about itself: a history of `invoices`, seen at `now`, of which it holds `made`. `keys` are the demo company's.
 */
export type Filled = { invoices: number; made: number; now: Instant; keys: { live: string; test: string } };

const fileOf = (dataDir: string): string => join(dataDir, 'bench-filled.json');

/** Undefined for a folder that nobody began to fill. */
export const readFilled = async (dataDir: string): Promise<Filled | undefined> => {
  const text = await readFile(fileOf(dataDir), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Filled);
};

export const writeFilled = (dataDir: string, filled: Filled): Promise<void> =>
  writeFile(fileOf(dataDir), JSON.stringify(filled), { mode: 0o600 });

import { existsSync, readFileSync } from 'node:fs';
import { startChild } from './child.js';
import type { BenchResult, Row } from './report.js';

/** Takes AVX-512 IFMA from OpenSSL: bit 21 of the word after the colon. */
const OPENSSL_WITHOUT_IFMA = ':~0x200000';

/**
 * Measures a group, and again without AVX-512 IFMA where the processor has these instructions. They double the RSA floor and help little else,
 * so only the second ratio compares with a machine that lacks them.
 */
export const alsoWithoutIfma = (name: string, run: () => Promise<BenchResult>): (() => Promise<BenchResult>) => {
  const measure = async (): Promise<BenchResult> => {
    const result = await run();
    if (!usesIfma()) return result;
    return { rows: [...result.rows, ...(await rowsWithoutIfma(name))], charts: result.charts };
  };
  return measure;
};

/** OpenSSL reads the variable when a process starts, so floor and service run in another process. */
const rowsWithoutIfma = async (name: string): Promise<readonly Row[]> => {
  const environment = { OPENSSL_ia32cap: OPENSSL_WITHOUT_IFMA };
  const child = await startChild<null, 'rows', readonly Row[]>('group-process.ts', name, { environment });
  const rows = await child.ask('rows').finally(() => child.stop());
  return rows.map((row) => ({ ...row, name: `${row.name}, RSA without IFMA` }));
};

const CPUINFO = '/proc/cpuinfo';

const usesIfma = (): boolean =>
  process.env.OPENSSL_ia32cap === undefined &&
  existsSync(CPUINFO) &&
  /^flags\s*:.*\bavx512ifma\b/m.test(readFileSync(CPUINFO, 'utf8'));

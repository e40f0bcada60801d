import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './error.js';

/** The OS user that PostgreSQL runs as; where it is undefined, PostgreSQL runs as the user of this process. */
export type OsUser = { name: string; uid: number; gid: number };

const OWN_USER = 'nfse-postgres';

/** PostgreSQL refuses to run as root. Then this returns the user `postgres`, else a system user that is created for it. */
export const chooseOsUser = (): OsUser | undefined =>
  process.getuid?.() === 0 ? (existingOsUsers()[0] ?? createUser()) : undefined;

/** The users as which PostgreSQL runs for root, as far as this system has them: the one that it chooses first. */
export const existingOsUsers = (): readonly OsUser[] =>
  ['postgres', OWN_USER].map(findUser).filter((user) => user !== undefined);

const findUser = (name: string): OsUser | undefined => {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { name, uid: Number(uid), gid: Number(gid) };
};

const createUser = (): OsUser => {
  const made = spawnSync('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/bin/false',
    OWN_USER,
  ]);
  if (made.status !== 0) spawnSync('adduser', ['-S', '-D', '-H', '-s', '/bin/false', OWN_USER]); // busybox
  const user = findUser(OWN_USER);
  if (user === undefined) {
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot run as root and OS user ${OWN_USER} could not be created: run as a normal user`,
    );
  }
  return user;
};

/** Prints the first argument that is no folder to enter. */
const FIRST_CLOSED = 'for folder do test -x "$folder" || { printf %s "$folder"; exit 1; }; done';

/** Returns the highest folder of a path that the user cannot enter. The operating system is asked, because it also knows ACLs. */
export const unreachableFolder = async ({ uid, gid }: OsUser, path: string): Promise<string | undefined> => {
  const parents: string[] = [];
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) parents.unshift(folder);
  try {
    await promisify(execFile)('/bin/sh', ['-c', FIRST_CLOSED, 'sh', ...parents], { uid, gid, cwd: '/' });
    return undefined;
  } catch (error) {
    // A process that may not run as this user, or has no shell, names no folder.
    return (error as { stdout?: string }).stdout || parents[0];
  }
};

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EmbeddedPostgresError } from './error.js';

/** The OS user that PostgreSQL runs as; where it is undefined, PostgreSQL runs as the user of this process. */
export type OsUser = { name: string; uid: number; gid: number };

const OWN_USER = 'nfse-postgres';

/** PostgreSQL refuses to run as root. Then this returns the user `postgres`, else a system user that is created for it. */
export const chooseOsUser = (): OsUser | undefined =>
  process.getuid?.() === 0 ? (findUser('postgres') ?? findUser(OWN_USER) ?? createUser()) : undefined;

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

/** Returns the highest folder of a path that the user cannot enter. The operating system is asked, because it also knows ACLs. */
export const unreachableFolder = (user: OsUser, path: string): string | undefined => {
  const parents: string[] = [];
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) parents.unshift(folder);
  return parents.find((folder) => {
    const { uid, gid } = user;
    return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', folder], { uid, gid, cwd: '/' }).status !== 0;
  });
};

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findBinaries } from '../../src/adapters/embedded-postgres/binaries.js';
import { chooseOsUser } from '../../src/adapters/embedded-postgres/os-user.js';

/** Where the programs of one PostgreSQL are on this machine; the embedded one cannot make a standby. */
export type PostgresPrograms = { initdb: string; postgres: string; pgBasebackup?: string };

/** The programs of the embedded PostgreSQL. */
export const embeddedPostgres = (): Promise<PostgresPrograms> => findBinaries(chooseOsUser());

/** Debian keeps each major version in a separate folder here. */
const DEBIAN = '/usr/lib/postgresql';

/** The installed PostgreSQL of this major version; undefined without one. */
export const installedPostgres = (major: number): PostgresPrograms | undefined => {
  const folder = folders().find((bin) => existsSync(join(bin, 'initdb')) && majorOf(bin) === major);
  if (folder === undefined) return undefined;
  const [initdb = '', postgres = '', pgBasebackup = ''] = PROGRAMS.map((name) => join(folder, name));
  return { initdb, postgres, pgBasebackup };
};

const PROGRAMS: readonly string[] = ['initdb', 'postgres', 'pg_basebackup'];

const folders = (): readonly string[] => {
  const pgConfig = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  return [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(pgConfig.error === undefined ? [pgConfig.stdout.trim()] : []),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
};

/** `postgres (PostgreSQL) 15.18 (Debian …)` */
const majorOf = (bin: string): number => {
  const version = spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout ?? '';
  return Number(/PostgreSQL\) (\d+)/.exec(version)?.[1]);
};

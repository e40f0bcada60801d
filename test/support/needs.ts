import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, it } from 'vitest';
import { hasApiClients } from '../tools/api-clients.js';
import { chromiumProgram } from './chromium.js';
import { samplesFolder, specificationFile } from './fixture/samples.js';
import { installedPostgres } from './postgres-programs.js';

/** `engine` is the name under which REQUIRE_ENGINES asks for it. */
type Need = { engine: string; isHere(): boolean; absence: string };

const tool = (engine: string, ...commands: readonly string[]): Need => ({
  engine,
  isHere: () => commands.every((command) => spawnSync(command, ['--version']).error === undefined),
  absence: `${engine} is not installed`,
});

/** The programs of the other runtimes of the client. */
export const runtimes = { bun: process.env.BUN || 'bun', deno: process.env.DENO || 'deno' } as const;

const natsServer = tool('nats', 'nats-server');

const needs = {
  samples: {
    engine: 'samples',
    isHere: () => existsSync(samplesFolder),
    absence: 'the official samples are not in OFFICIAL_DOCUMENTS',
  },
  specification: {
    engine: 'samples',
    isHere: () => existsSync(specificationFile),
    absence: 'the specification is not in OFFICIAL_DOCUMENTS',
  },
  xmlsec1: tool('xmlsec1', 'xmlsec1'),
  xmllint: tool('xmllint', 'xmllint'),
  /** What a reader of the documents types with. */
  curl: tool('curl', 'curl', 'bash'),
  openssl: tool('openssl', 'openssl'),
  /** Languages of the code samples. */
  node: tool('node', 'node'),
  python: tool('python', 'python3'),
  /** The samples of the reference use its extension for curl. */
  php: {
    engine: 'php',
    isHere: () => spawnSync('php', ['-r', 'exit(function_exists("curl_init") ? 0 : 1);']).status === 0,
    absence: 'php with its extension for curl is not installed',
  },
  java: tool('java', 'java'),
  /** Other runtimes of the client, on the path or named by a variable. */
  bun: tool('bun', runtimes.bun),
  deno: tool('deno', runtimes.deno),
  poppler: tool('poppler', 'pdftotext', 'pdfinfo'),
  /** A server that a test may share. */
  nats: { ...natsServer, isHere: () => (process.env.TEST_NATS_URL ?? '') !== '' || natsServer.isHere() },
  /** One that a test starts and kills. */
  natsServer,
  /** The oldest PostgreSQL that is supported, with the programs that make a standby; Debian 12 has it. */
  postgres15: {
    engine: 'postgres15',
    isHere: () => installedPostgres(15) !== undefined,
    absence: 'PostgreSQL 15 is not installed',
  },
  pgbouncer: tool('pgbouncer', 'pgbouncer'),
  nginx: tool('nginx', 'nginx'),
  haproxy: tool('haproxy', 'haproxy'),
  promtool: tool('promtool', 'promtool'),
  systemd: tool('systemd', 'systemd-analyze'),
  /** Mounts of its own for one process, as a container has them; only root may make them. */
  mounts: {
    engine: 'mounts',
    isHere: () =>
      spawnSync('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && setpriv --version']).status === 0,
    absence: 'this user cannot make mounts for a process',
  },
  chromium: {
    engine: 'chromium',
    isHere: () => chromiumProgram() !== undefined,
    absence: 'chromium is not installed',
  },
  /** Linters of the OpenAPI document and generators of clients, which are no packages of this project. */
  apiClients: { engine: 'api-clients', isHere: hasApiClients, absence: 'npm run api-clients has not run' },
  /** A real server that the caller runs; all other tests use the double. */
  eventstore: {
    engine: 'eventstore',
    isHere: () => (process.env.TEST_EVENTSTORE_URL ?? '') !== '',
    absence: 'TEST_EVENTSTORE_URL names no EventStoreDB',
  },
  openNfse: {
    engine: 'open-nfse',
    isHere: () => openNfseFolder() !== '',
    absence: 'OPEN_NFSE names no folder with the package',
  },
  publicNotes: {
    engine: 'public-notes',
    isHere: () => publicNotesFolder() !== '',
    absence: 'PUBLIC_NOTES names no folder with the notes of other projects',
  },
} satisfies Record<string, Need>;

/** The folder of the package open-nfse, with its dependencies. */
export const openNfseFolder = (): string => process.env.OPEN_NFSE ?? '';

/** The folder with checkouts of the projects that `test/xml/public-notes.tsv` names. */
export const publicNotesFolder = (): string => process.env.PUBLIC_NOTES ?? '';

export type NeedName = keyof typeof needs;

const absentOf = (names: NeedName | readonly NeedName[]): readonly Need[] =>
  [names].flat().flatMap((name) => (needs[name].isHere() ? [] : [needs[name]]));

const isRequired = ({ engine }: Need): boolean => (process.env.REQUIRE_ENGINES ?? '').split(',').includes(engine);

const skipped = (title: string, absent: readonly Need[]): string =>
  `${title} (skipped: ${absent.map(({ absence }) => absence).join('; ')})`;

const failing = (absent: readonly Need[]) => () => {
  throw new Error(`required by REQUIRE_ENGINES: ${absent.map(({ absence }) => absence).join('; ')}`);
};

/** A test with needs that a machine may lack: without them it is skipped with the reason in its title, or fails if REQUIRE_ENGINES names them. */
export const itWith = (
  names: NeedName | readonly NeedName[],
  title: string,
  body: () => void | Promise<void>,
): void => {
  const absent = absentOf(names);
  if (absent.length === 0) it(title, body);
  else if (absent.some(isRequired)) it(title, failing(absent));
  else it.skip(skipped(title, absent), body);
};

/** The same for a suite. The body of a skipped suite runs too, so only its tests may use the needs. */
export const describeWith = (names: NeedName | readonly NeedName[], title: string, body: () => void): void => {
  const absent = absentOf(names);
  if (absent.length === 0) describe(title, body);
  else if (absent.some(isRequired)) describe(title, () => it('has what it needs', failing(absent)));
  else describe.skip(skipped(title, absent), body);
};

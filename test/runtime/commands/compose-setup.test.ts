import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialsOf } from '../../../src/adapters/eventlog-eventstoredb/address.js';
import { readServers } from '../../../src/adapters/queue-nats/servers.js';
import { loadMasterKeys } from '../../../src/adapters/vault/key-file.js';
import { runCommand } from '../../../src/cli/run.js';
import { makeEngineSecrets } from '../../../src/runtime/commands/engine-secrets.js';
import { setupCommands } from '../../../src/runtime/commands/setup.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { composeService, serviceText } from '../../support/compose.js';
import { runProgram } from '../../support/harness/processes.js';

const [, , , , simulatorFolder = ''] = composeService('setup').command;

describe('the service setup of compose.yaml', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'nfse-setup-'));
    await setup('made');
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  /** Its own command, with folders of the test. */
  const runSetup = async (folder: string) => {
    const args = composeService('setup').command.map((word) =>
      word.startsWith('/') ? join(home, folder, word) : word,
    );
    const program = runProgram(['src/main.ts', ...args], {});
    const { code } = await program.ended;
    return { code, ...program.output() };
  };
  /** The same in this process. */
  const setup = (folder: string): Promise<readonly string[]> =>
    makeEngineSecrets(join(home, folder, 'secrets'), join(home, folder, simulatorFolder), systemClock);
  /** A separate copy for a test that changes it; making a set takes seconds. */
  const copyOfMade = (folder: string): Promise<void> => cp(join(home, 'made'), join(home, folder), { recursive: true });
  const path = (folder: string, file: string): string => join(home, folder, 'secrets', file);
  const text = async (folder: string, file: string): Promise<string> =>
    (await readFile(path(folder, file), 'utf8')).trim();
  const everything = async (folder: string): Promise<Record<string, string>> => {
    const names = await readdir(join(home, folder), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')])));
  };

  it('makes what is missing, shows nothing of it, and changes nothing the second time', async () => {
    const first = await runSetup('twice');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const made = await everything('twice');
    expect(Object.keys(made)).toHaveLength(18);
    for (const secret of Object.values(made)) expect(first.stdout).not.toContain(secret.trim());
    expect(await runSetup('twice')).toMatchObject({ code: 0, stdout: 'every secret is there\n' });
    expect(await everything('twice')).toEqual(made);
  });

  it('makes every file that another service of compose.yaml reads, under the name that it is read by', async () => {
    const readers = ['api', 'eventstore', 'nats', 'postgres', 'eventstore-account', 'database'].map(serviceText);
    const words = readers.flatMap(({ command = [], entrypoint = [], environment = {}, healthcheck }) => [
      ...command,
      ...entrypoint,
      ...Object.values(environment),
      ...(healthcheck?.test ?? []),
    ]);
    const read = words.flatMap((word) =>
      [...word.matchAll(/\/run\/secrets\/([\w./-]*\w)/g)].map(([, file = '']) => file),
    );
    expect(new Set(read).size).toBeGreaterThan(10);
    for (const file of read) await stat(path('made', file));
    const [, caFile] = /tlsCAFile=\/run\/secrets\/(\S+)/.exec(await text('made', 'engines/eventstore-url')) ?? [];
    await stat(path('made', caFile ?? 'none'));
  });

  it('gives each file to its owner alone, and to a group what PostgreSQL reads by one', async () => {
    for (const file of Object.keys(await everything('made'))) {
      const expected = file.endsWith('postgres/password') ? 0o640 : 0o600;
      expect([file, (await stat(file)).mode & 0o777]).toEqual([file, expected]);
    }
    expect((await stat(path('made', 'postgres'))).mode & 0o777).toBe(0o750);
    expect((await stat(path('made', 'nfse'))).mode & 0o777).toBe(0o700);
  });

  it('makes addresses and a key that the program takes, with one password on both sides', async () => {
    const keys = await loadMasterKeys(path('made', 'nfse/master.key'), { createIfMissing: false });
    expect(keys.map(({ generation }) => generation)).toEqual(['m1']);
    expect(credentialsOf(await text('made', 'engines/eventstore-url')).username).toBe('nfse');
    const nats = readServers(await text('made', 'engines/nats-url'));
    expect(nats).toMatchObject({ servers: ['nats:4222'], user: 'nfse' });
    expect(await text('made', 'nats/nats.conf')).toBe(`authorization { user: nfse, password: "${nats.pass}" }`);
    const urls = await Promise.all(
      ['engines/database-url', 'owner/owner-url', 'owner/admin-url'].map(
        async (file) => new URL(await text('made', file)),
      ),
    );
    expect(urls.map(({ host, username, pathname }) => [host, username, pathname])).toEqual([
      ['postgres:5432', 'nfse_service', '/nfse'],
      ['postgres:5432', 'nfse_owner', '/nfse'],
      ['postgres:5432', 'nfse', '/nfse'],
    ]);
    expect(urls[2]?.password).toBe(await text('made', 'postgres/password'));
    expect(new Set(urls.map(({ password }) => password)).size).toBe(3);
  });

  it('makes a certificate by which a listener proves to be the one of the address, and no other', async () => {
    const [key, cert] = [await text('made', 'eventstore/node.key'), await text('made', 'eventstore/node.crt')];
    const ca = await text('made', 'engines/eventstore-ca.pem');
    const { hostname } = new URL(await text('made', 'engines/eventstore-url'));
    const server = createServer({ key, cert }, (socket) => socket.end());
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const greet = (servername: string, trusted?: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = tlsConnect({ port, servername, ...(trusted === undefined ? {} : { ca: trusted }) }, () => {
          resolve('trusted');
          socket.destroy();
        });
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name));
      });
    try {
      expect(await greet(hostname, ca)).toBe('trusted');
      expect(await greet('localhost', ca)).toBe('trusted');
      expect(await greet('elsewhere', ca)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
      expect(await greet(hostname)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    } finally {
      server.close();
    }
  });

  it('trusts the authority of the simulator, also one that was made again', async () => {
    await copyOfMade('authority');
    const folder = join(home, 'authority', simulatorFolder);
    const trusted = async () => new X509Certificate(await text('authority', 'engines/simulator-ca.pem')).fingerprint256;
    const first = await trusted();
    await rm(folder, { recursive: true });
    expect(await setup('authority')).toEqual(['engines/simulator-ca.pem']);
    expect(await trusted()).not.toBe(first);
  });

  it('refuses the folder above that of the simulator, before anything is made, and names the one that is meant', async () => {
    const parent = join(home, 'made', simulatorFolder, '..');
    const args = ['setup', 'secrets', join(home, 'parent'), '--simulator', parent];
    const told: string[] = [];
    const say = (text: string): void => void told.push(text);
    const noConfig = () => expect.unreachable('it reads no variables');
    const noSession = () => Promise.reject(new Error('it opens no session'));
    expect(await runCommand(args, setupCommands(noConfig), noSession, { out: say, err: say })).toBe(1);
    const meant = join(home, 'made', simulatorFolder);
    expect(told).toEqual([`the simulator's authority is in ${meant}: give --simulator ${meant}`]);
    expect(existsSync(join(home, 'parent'))).toBe(false);
    expect(existsSync(join(parent, 'ca.json'))).toBe(false);
  });

  it('moves what an older version kept beside the master key, and takes the administrator from the service', async () => {
    await copyOfMade('older');
    for (const name of ['eventstore-url', 'eventstore-ca.pem', 'nats-url', 'simulator-ca.pem'])
      await rename(path('older', `engines/${name}`), path('older', `nfse/${name}`));
    const url = await text('older', 'nfse/eventstore-url');
    await writeFile(path('older', 'nfse/eventstore-url'), url.replace('/secrets/engines/', '/secrets/nfse/'));
    for (const file of ['owner', 'engines']) await rm(path('older', file), { recursive: true });
    await writeFile(path('older', 'nfse/database-url'), 'postgres://nfse:admin@postgres:5432/nfse');
    await setup('older');
    expect(await readdir(path('older', 'nfse'))).toEqual(['master.key', 'operator-token']);
    for (const file of ['nfse/master.key', 'engines/nats-url', 'engines/eventstore-url', 'owner/admin-url'])
      expect(await text('older', file)).toBe(await text('made', file));
    expect(new URL(await text('older', 'engines/database-url')).username).toBe('nfse_service');
    expect(await setup('older')).toEqual([]);
  });

  it('refuses to make a new master key beside secrets that are in use', async () => {
    await copyOfMade('lost-key');
    await rm(path('lost-key', 'nfse/master.key'));
    const before = await everything('lost-key');
    await expect(setup('lost-key')).rejects.toThrow('nfse/master.key is missing');
    expect(await everything('lost-key')).toEqual(before);
  });

  it('makes a pair again only when both of its halves are gone', async () => {
    await copyOfMade('pair');
    await rm(path('pair', 'engines/nats-url'));
    await expect(setup('pair')).rejects.toThrow('engines/nats-url missing');
    await rm(path('pair', 'nats/nats.conf'));
    expect(await setup('pair')).toEqual(['nats/nats.conf', 'engines/nats-url']);
  });
});

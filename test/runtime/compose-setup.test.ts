import { X509Certificate } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialsOf } from '../../src/adapters/eventlog-eventstoredb/address.js';
import { readServers } from '../../src/adapters/queue-nats/servers.js';
import { loadMasterKeys } from '../../src/adapters/vault/key-file.js';
import { systemClock } from '../../src/runtime/clock.js';
import { makeEngineSecrets } from '../../src/runtime/engine-secrets.js';
import { composeService, serviceText } from '../support/compose.js';
import { runProgram } from '../support/crash-processes.js';

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
  /** A set of its own for who changes it; making one takes seconds. */
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
    expect(Object.keys(made)).toHaveLength(15);
    for (const secret of Object.values(made)) expect(first.stdout).not.toContain(secret.trim());
    expect(await runSetup('twice')).toMatchObject({ code: 0, stdout: 'every secret is there\n' });
    expect(await everything('twice')).toEqual(made);
  });

  it('makes every file that another service of compose.yaml reads, under the name that it is read by', async () => {
    const readers = ['api', 'eventstore', 'nats', 'postgres', 'eventstore-account'].map(serviceText);
    const words = readers.flatMap(({ command = [], entrypoint = [], environment = {}, healthcheck }) => [
      ...[...command, ...entrypoint, ...Object.values(environment), ...(healthcheck?.test ?? [])],
    ]);
    const read = words.flatMap((word) =>
      [...word.matchAll(/\/run\/secrets\/([\w./-]*\w)/g)].map(([, file = '']) => file),
    );
    expect(new Set(read).size).toBeGreaterThan(10);
    for (const file of read) await stat(path('made', file));
    const [, caFile] = /tlsCAFile=\/run\/secrets\/(\S+)/.exec(await text('made', 'nfse/eventstore-url')) ?? [];
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
    expect(credentialsOf(await text('made', 'nfse/eventstore-url')).username).toBe('nfse');
    const nats = readServers(await text('made', 'nfse/nats-url'));
    expect(nats).toMatchObject({ servers: ['nats:4222'], user: 'nfse' });
    expect(await text('made', 'nats/nats.conf')).toBe(`authorization { user: nfse, password: "${nats.pass}" }`);
    const database = new URL(await text('made', 'nfse/database-url'));
    expect([database.host, database.password]).toEqual(['postgres:5432', await text('made', 'postgres/password')]);
  });

  it('makes a certificate by which a listener proves to be the one of the address, and no other', async () => {
    const [key, cert] = [await text('made', 'eventstore/node.key'), await text('made', 'eventstore/node.crt')];
    const ca = await text('made', 'nfse/eventstore-ca.pem');
    const { hostname } = new URL(await text('made', 'nfse/eventstore-url'));
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

  it('trusts the authority of the simulator, also one that was made anew', async () => {
    await copyOfMade('authority');
    const folder = join(home, 'authority', simulatorFolder);
    const trusted = async () => new X509Certificate(await text('authority', 'nfse/simulator-ca.pem')).fingerprint256;
    const first = await trusted();
    await rm(folder, { recursive: true });
    expect(await setup('authority')).toEqual(['nfse/simulator-ca.pem']);
    expect(await trusted()).not.toBe(first);
  });

  it('refuses to make a new master key beside secrets that are in use', async () => {
    await copyOfMade('lost-key');
    await rm(path('lost-key', 'nfse/master.key'));
    const before = await everything('lost-key');
    await expect(setup('lost-key')).rejects.toThrow('nfse/master.key is missing');
    expect(await everything('lost-key')).toEqual(before);
  });

  it('makes a pair anew only when both of its halves are gone', async () => {
    await copyOfMade('pair');
    await rm(path('pair', 'nfse/nats-url'));
    await expect(setup('pair')).rejects.toThrow('nfse/nats-url missing');
    await rm(path('pair', 'nats/nats.conf'));
    expect(await setup('pair')).toEqual(['nats/nats.conf', 'nfse/nats-url']);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { EventLogUnreachable } from '../../../src/ports/event-log.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import { freePort } from '../../support/free-port.js';
import { freshStream, streamOf } from '../../support/harness/event-log.js';
import { type EventStoreHarness, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

const USER = 'nfse:sesame';

describe('what keeps the service from an EventStoreDB', () => {
  let harness: EventStoreHarness;
  let folder: string;
  let plain: EventStoreDouble;
  let silent: Server;
  let silentPort: number;
  const ports = { trusted: 0, expired: 0, misnamed: 0, free: 0 };
  beforeAll(async () => {
    harness = openEventStoreHarness();
    folder = await mkdtemp(join(tmpdir(), 'nfse-obstacle-'));
    const now = systemClock.now();
    const issuer = issueCertificate({ subjectName: 'CA', validDays: 2, now });
    await writeFile(join(folder, 'ca.pem'), issuer.certificatePem);
    await writeFile(
      join(folder, 'other.pem'),
      issueCertificate({ subjectName: 'CA', validDays: 2, now }).certificatePem,
    );
    const withTls = async (name: string, validDays: number, backdatedDays: number): Promise<number> => {
      const request = { subjectName: 'node', issuer, serverNames: [name], validDays, now, backdatedDays };
      const { certificatePem, privateKeyPem } = issueCertificate(request);
      const tls = { certificate: Buffer.from(certificatePem), key: Buffer.from(privateKeyPem) };
      return (await harness.double({ tls, users: { nfse: 'sesame' } })).port;
    };
    ports.trusted = await withTls('localhost', 2, 0);
    ports.expired = await withTls('localhost', -1, 2);
    ports.misnamed = await withTls('other.example', 2, 0);
    ports.free = await freePort();
    plain = await harness.double();
    silent = createServer((socket) => void socket.on('error', () => undefined));
    await new Promise<void>((listening) => silent.listen(0, 'localhost', listening));
    const address = silent.address();
    silentPort = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(async () => {
    await harness.close();
    silent.close();
    await rm(folder, { recursive: true });
  });

  const at = (port: number, ca = 'ca.pem'): string =>
    `esdb://${USER}@localhost:${port}?tls=true&tlsCAFile=${encodeURIComponent(join(folder, ca))}`;
  const faultAt = async (url: string): Promise<unknown> =>
    await harness
      .open(url, { readTimeoutMs: 4_000 })
      .head()
      .then(
        () => 'reached',
        (error: unknown) => error,
      );

  it.each<[string, () => string, object, RegExp]>([
    ['an authority that did not sign', () => at(ports.trusted, 'other.pem'), { obstacle: 'untrusted' }, /tlsCAFile/],
    ['an expired certificate', () => at(ports.expired), { obstacle: 'untrusted', said: 'CERT_HAS_EXPIRED' }, /dates/],
    [
      'a certificate of another host',
      () => at(ports.misnamed),
      { obstacle: 'untrusted', said: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      /host names/,
    ],
    ['a server without TLS', () => at(plain.port), { obstacle: 'no_tls' }, /offers no TLS/],
    [
      'TLS at an address without',
      () => `esdb://localhost:${ports.trusted}?tls=false`,
      { obstacle: 'needs_tls' },
      /tls=true/,
    ],
    ['a port at which nothing listens', () => at(ports.free), { obstacle: 'away', said: 'ECONNREFUSED' }, /ports/],
    ['a server that says nothing', () => at(silentPort), { obstacle: 'away', said: 'ETIMEDOUT' }, /no server answers/],
    [
      'a server that says nothing, at an address without TLS',
      () => `esdb://localhost:${silentPort}?tls=false`,
      { obstacle: 'away', said: 'ETIMEDOUT' },
      /no server answers/,
    ],
    ['a port that does not exist', () => at(99_999), { obstacle: 'away', said: 'ERR_SOCKET_BAD_PORT' }, /ports/],
    [
      'nodes of which one has a wrong certificate',
      () => at(ports.free).replace(`localhost:${ports.free}`, `localhost:${ports.free},localhost:${ports.misnamed}`),
      { obstacle: 'untrusted', said: 'ERR_TLS_CERT_ALTNAME_INVALID' },
      /the certificate of its server/,
    ],
  ])('is named: %s', async (_what, url, expected, line) => {
    const error = await faultAt(url());
    expect(error).toBeInstanceOf(EventLogUnreachable);
    expect(error).toMatchObject(expected);
    const told = startupFault(error);
    expect(told.exit).toBe(3);
    expect(told.line).toMatch(/^the event log cannot be reached: /);
    expect(told.line).toMatch(line);
    expect(told.line).not.toContain('sesame');
  });

  it('is named: a cluster whose nodes answer and have no leader', async () => {
    const node = await harness.double({ cluster: () => [] });
    const error = await faultAt(`esdb+discover://127.0.0.1:${node.port}?tls=false&maxDiscoverAttempts=2`);
    expect(error).toMatchObject({ obstacle: 'leaderless' });
    expect(startupFault(error).line).toContain('none of them leads');
  });

  it('is not looked for once the server was reached', async () => {
    const double = await harness.double();
    const log = harness.open(double.url);
    await streamOf(log, 1, freshStream());
    double.stop();
    const error = await log.head().catch((fault: unknown) => fault);
    expect(error).not.toBeInstanceOf(EventLogUnreachable);
  });
});

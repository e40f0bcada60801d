import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventLogAccessDenied } from '../../../src/adapters/eventlog-eventstoredb/faults.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import { chained, freshStream, NONE } from '../../support/harness/event-log.js';
import { type EventStoreHarness, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

/** A certificate of this machine, its own authority. */
const selfSigned = (): { certificate: Buffer; key: Buffer } => {
  const keys = forge.pki.rsa.generateKeyPair(2048);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date('2020-01-01');
  certificate.validity.notAfter = new Date('2120-01-01');
  const name = [{ name: 'commonName', value: 'eventstoredb-node' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
  ]);
  certificate.sign(keys.privateKey, forge.md.sha256.create());
  return {
    certificate: Buffer.from(forge.pki.certificateToPem(certificate)),
    key: Buffer.from(forge.pki.privateKeyToPem(keys.privateKey)),
  };
};

describe('the event log in EventStoreDB over TLS', () => {
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  let folder: string;
  beforeAll(async () => {
    harness = openEventStoreHarness();
    const tls = selfSigned();
    folder = await mkdtemp(join(tmpdir(), 'nfse-tls-'));
    await writeFile(join(folder, 'ca.pem'), tls.certificate);
    double = await harness.double({ tls, users: { nfse: 'open:sesame' } });
  });
  afterAll(async () => {
    await harness.close();
    await rm(folder, { recursive: true });
  });

  const address = (user: string, settings = `&tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`): string =>
    `esdb://${user}@localhost:${double.port}?tls=true${settings}`;

  it('logs in on every call with the user of its address', async () => {
    const log = harness.open(address('nfse:open%3Asesame'));
    const stream = freshStream();
    expect(await log.append(stream, NONE, [chained(stream, 0)])).toEqual({ ok: true, revision: 0 });
    expect(await log.read(stream)).toHaveLength(1);
    expect(await log.head()).not.toBeNull();
    expect(await log.identity()).not.toBe('');
    await log.cut(stream, 1);
    expect(await log.readAll({ prefixes: [stream], after: null, limit: 5 })).toHaveLength(1);
  });

  it('is told that a user or a password is wrong', async () => {
    const log = harness.open(address('nfse:guessed'));
    const stream = freshStream();
    await expect(log.append(stream, NONE, [chained(stream, 0)])).rejects.toThrow(EventLogAccessDenied);
    await expect(log.head()).rejects.toMatchObject({ code: 'access_denied' });
  });

  it('trusts no server that its CA does not know', async () => {
    const log = harness.open(address('nfse:open%3Asesame', ''));
    const stream = freshStream();
    await expect(log.append(stream, NONE, [chained(stream, 0)])).rejects.toThrow(EventLogUnavailable);
    await expect(log.head()).rejects.toThrow(EventLogUnavailable);
  });
});

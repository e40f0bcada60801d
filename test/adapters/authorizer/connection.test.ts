import { X509Certificate } from 'node:crypto';
import { Agent } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exchange } from '../../../src/adapters/authorizer/exchange.js';
import { certificatesIn, sefinTrustRoots } from '../../../src/adapters/authorizer/trust-roots.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { CONCURRENT_ISSUES } from '../../../src/runtime/roles/turns.js';
import { certificateFor } from '../../support/fixture/sefin.js';
import {
  CALL_LIMIT_MS,
  type ClientHarness,
  caller,
  errors,
  inAMinute,
  now,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { json } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
const listeners: Server[] = [];
beforeEach(async () => {
  harness = await openClientHarness();
  harness.server.answer(json(400, errors('E0316')));
});
afterEach(async () => {
  vi.useRealTimers();
  await harness.close();
  for (const listener of listeners.splice(0)) listener.close();
});

const listen = async (listener: Server): Promise<string> => {
  listeners.push(listener);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return `https://127.0.0.1:${(listener.address() as AddressInfo).port}`;
};

const send = (client = harness.client) => client.sendDps(caller, harness.dps.bytes, inAMinute);

describe('the deadlines of a connection', () => {
  it('end a handshake that never ends, long before the time limit of the whole call', async () => {
    const address = await listen(createServer());
    const client = harness.clientOf({ address, connectTimeoutMs: 200, timeoutMs: 3_600_000 });
    expect(await send(client)).toMatchObject({ kind: 'not_sent', reason: 'connect_timeout', outage: true });
  });

  it('leave an answer the time of the whole call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    harness.server.answer((call, response) => {
      vi.advanceTimersByTime(4_000);
      json(400, errors('E0316'))(call, response);
    });
    expect(await send(harness.clientOf({ connectTimeoutMs: 300, timeoutMs: 5_000 }))).toMatchObject({
      kind: 'rejected',
    });
    harness.server.answer(() => vi.advanceTimersByTime(5_000));
    expect(await send(harness.clientOf({ connectTimeoutMs: 300, timeoutMs: 5_000 }))).toMatchObject({
      reason: 'timeout',
    });
  });

  it('let nothing be sent by a process that was frozen during the handshake until the attempt was over', async () => {
    let clock = now;
    const relay = createServer((socket) => {
      clock = inAMinute;
      socket.pipe(connect(Number(new URL(harness.server.address).port), '127.0.0.1')).pipe(socket);
    });
    const client = harness.clientOf({ address: await listen(relay), now: () => clock });
    expect(await send(client)).toMatchObject({ kind: 'not_sent', reason: 'deadline_passed', codes: [] });
    expect(harness.server.received).toEqual([]);
  });

  it('count the wait for a connection that other look-ups hold into the whole call, and call it no outage', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    harness.server.answer(() => {
      if (harness.server.received.length === 96) vi.advanceTimersByTime(CALL_LIMIT_MS);
    });
    const lookUps = Array.from({ length: 100 }, () => harness.client.findByDps(caller, harness.dps.id));
    const results = await Promise.all(lookUps);
    expect(results.filter((result) => 'outage' in result)).toHaveLength(96);
    expect(results.slice(96)).toEqual(Array(4).fill({ kind: 'inconclusive', reason: 'connections_busy' }));
    expect(harness.server.received).toHaveLength(96);
  });

  it('are no sign of an outage after such a wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { certificatePem: cert, privateKeyPem: key } = harness.company;
    const agent = new Agent({ maxSockets: 1, cert, key, ca: harness.authority.certificatePem });
    const url = new URL(harness.server.address);
    harness.server.answer((call, response) => {
      if (harness.server.received.length === 2) vi.advanceTimersByTime(CALL_LIMIT_MS);
      else json(400, errors('E0316'))(call, response);
    });
    const ask = () => exchange({ agent, method: 'GET', url, timeoutMs: CALL_LIMIT_MS });
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first).toMatchObject({ kind: 'answered' });
    expect(second).toEqual({ kind: 'broken', reason: 'connections_busy' });
  });

  it('begin for all sends of a company at once, because each of them has a connection', async () => {
    const held: (() => void)[] = [];
    harness.server.answer((call, response) => {
      held.push(() => json(400, errors('E0316'))(call, response));
      if (held.length === CONCURRENT_ISSUES) for (const answer of held) answer();
    });
    const results = await Promise.all(Array.from({ length: CONCURRENT_ISSUES }, () => send()));
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['rejected']));
  });
});

describe('a connection', () => {
  it('is used again by the same certificate, and never by a renewed one', async () => {
    let current = harness.company;
    const client = harness.clientOf({ certificateOf: async () => current });
    await send(client);
    await send(client);
    current = certificateFor(harness.authority, now);
    await send(client);
    const [first, second, third] = harness.server.received;
    expect(second?.socket).toBe(first?.socket);
    expect(third?.socket).not.toBe(first?.socket);
    const shown = harness.server.received.map(({ fingerprint }) => fingerprint);
    expect(shown).toEqual([harness.company.fingerprint, harness.company.fingerprint, current.fingerprint]);
  });

  it('is opened anew for a certificate that was stored again, because its chain may be another', async () => {
    let current = harness.company;
    const client = harness.clientOf({ certificateOf: async () => current });
    await send(client);
    current = { ...current, certificateId: 'stored-again' };
    await send(client);
    const [first, second] = harness.server.received;
    expect(second?.socket).not.toBe(first?.socket);
    expect(second?.fingerprint).toBe(first?.fingerprint);
  });

  it('offers HTTP/1.1 and nothing else', async () => {
    const offers: (string | false | null)[] = [];
    const { certificatePem: cert, privateKeyPem: key } = harness.serverIdentity;
    const both = createTlsServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      offers.push(socket.alpnProtocol);
      socket.destroy();
    });
    await send(harness.clientOf({ address: await listen(both) }));
    expect(offers).toEqual(['http/1.1']);
    const onlyH2 = createTlsServer({ cert, key, ALPNProtocols: ['h2'] });
    expect(await send(harness.clientOf({ address: await listen(onlyH2) }))).toMatchObject({ kind: 'not_sent' });
  });

  it('goes to no proxy that the environment names', async () => {
    const through: Socket[] = [];
    const proxy = createServer((socket) => {
      through.push(socket);
      socket.destroy();
    });
    const address = (await listen(proxy)).replace('https:', 'http:');
    const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = address;
    try {
      expect(await send()).toMatchObject({ kind: 'rejected' });
    } finally {
      names.forEach((name, nth) => {
        const value = before[nth];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
    }
    expect(through).toHaveLength(0);
  });

  it('is not begun with a certificate that TLS cannot use, and that is no outage', async () => {
    const certificateOf = async () => ({ ...harness.company, fingerprint: 'other', privateKeyPem: 'no key' });
    const result = await send(harness.clientOf({ certificateOf }));
    expect(result).toEqual({ kind: 'not_sent', reason: 'certificate_unusable', codes: [] });
  });
});

describe('the trust roots', () => {
  it('hold GlobalSign Root R46, by its published fingerprint', () => {
    expect(sefinTrustRoots().map((pem) => new X509Certificate(pem).fingerprint256)).toEqual([
      '4F:A3:12:6D:8D:3A:11:D1:C4:85:5A:4F:80:7C:BA:D6:CF:91:9D:3A:5A:88:B0:3B:EA:2C:63:72:D9:3C:40:C9',
    ]);
  });

  it('are those of a text with comments too, each of them', async () => {
    const other = issueCertificate({ subjectName: 'Outra autoridade', validDays: 1, now });
    const text = `comment\n${other.certificatePem}\n${harness.authority.certificatePem}`;
    const client = harness.clientOf({ trustRootsPem: certificatesIn(text) ?? [] });
    expect(await send(client)).toMatchObject({ kind: 'rejected' });
  });

  it('are each of a bundle as published, with titles, underlines and the end of lines of Windows', () => {
    const [root = ''] = sefinTrustRoots();
    const bundle = [
      '-- CA certificates --',
      '# Issuer: a',
      'Root R46',
      '========',
      root.trim(),
      '',
      'Again',
      '--------',
      root,
    ];
    expect(certificatesIn(bundle.join('\n'))).toEqual([root.trim(), root.trim()]);
    expect(certificatesIn(bundle.join('\n').replaceAll('\n', '\r\n'))).toHaveLength(2);
  });

  const [root = ''] = sefinTrustRoots();
  it.each([
    ['nothing', ''],
    ['no certificate', 'not PEM'],
    ['a damaged one', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
    ['a good one and a cut one', root + root.slice(0, 400)],
    ['a cut one and a good one', `${root.slice(0, 400)}\n${root}`],
    ['a good one and the end of another', root + root.slice(400)],
    ['a good one and one with a dash inside', root + root.replace(/\n(?=[^-])/, '\n-')],
    ['a good one and a damaged one', `${root}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`],
  ])('are not read from a text with %s', (_what, text) => {
    expect(certificatesIn(text)).toBeUndefined();
  });

  it('are believed and nobody else, whatever the environment says of verification', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    try {
      const client = harness.clientOf({ trustRootsPem: [] });
      expect(await send(client)).toMatchObject({ kind: 'not_sent', outage: true });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('are each trusted, wherever they stand in the list', async () => {
    const client = harness.clientOf({ trustRootsPem: [...sefinTrustRoots(), harness.authority.certificatePem] });
    expect(await send(client)).toMatchObject({ kind: 'rejected' });
    const without = harness.clientOf({ trustRootsPem: sefinTrustRoots() });
    expect(await send(without)).toMatchObject({ kind: 'not_sent', outage: true });
  });
});

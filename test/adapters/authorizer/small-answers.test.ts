import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeClock } from '../../../src/adapters/authorizer/clock-probe.js';
import { createMunicipalParameters } from '../../../src/adapters/authorizer/parameters.js';
import { type ClientHarness, caller, now, openClientHarness } from '../../support/harness/authorizer-client.js';
import { type Answer, json } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await openClientHarness();
});
afterAll(() => harness.close());

const body = { parametrosConvenio: { aderenteEmissorNacional: 1 }, dataHoraProcessamento: now };
const padded = (bytes: number): object => ({ ...body, padding: 'a'.repeat(bytes) });

const compressed: Answer = (_received, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  response.end(gzipSync(JSON.stringify(body)));
};

const elsewhere: Answer = (_received, response) => {
  response.writeHead(302, { 'content-type': 'application/json', location: harness.server.address });
  response.end(JSON.stringify(body));
};

const endless: Answer = (_received, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{');
};

const parameters = async (timeoutMs = 30_000, changes: object = {}) => {
  const api = createMunicipalParameters({
    address: harness.server.address,
    trustRootsPem: [harness.authority.certificatePem],
    timeoutMs,
    certificateOf: () => Promise.resolve(harness.company),
    now: () => now,
    ...changes,
  });
  try {
    return await api.ask(caller, '3304557', { kind: 'convenio' }, '2026-11-21');
  } finally {
    api.close();
  }
};

const probe = (timeoutMs = 30_000, address = harness.server.address) =>
  probeClock('DPS1', {
    address,
    trustRootsPem: [harness.authority.certificatePem],
    certificate: harness.company,
    timeoutMs,
    now: () => now,
  });

describe('an answer of the parameters API', () => {
  it('is read within its bounds', async () => {
    harness.server.answer(json(200, padded(60_000)));
    expect(await parameters()).toMatchObject({ kind: 'known' });
  });

  it.each([
    ['is larger', () => json(200, padded(64 * 1024)), 'response_too_large'],
    ['is compressed though nobody asked', () => compressed, 'response_encoded'],
    ['is somewhere else', () => elsewhere, 'http_302'],
  ])('tells nothing when it %s', async (_name, answer, reason) => {
    harness.server.answer(answer());
    expect(await parameters()).toEqual({ kind: 'no_proof', reason });
  });

  it('tells nothing when it never ends', async () => {
    harness.server.answer(endless);
    expect(await parameters(300)).toMatchObject({ kind: 'no_proof' });
  });

  it('is an outcome also when the call cannot be made', async () => {
    const thrown = () => {
      throw new Error('no vault');
    };
    expect(await parameters(1_000, { certificateOf: thrown })).toMatchObject({ kind: 'no_proof' });
    expect(await parameters(1_000, { address: 'no address' })).toMatchObject({ kind: 'no_proof' });
  });

  it('is not asked for with an expired certificate', async () => {
    const asked = harness.server.received.length;
    expect(await parameters(30_000, { now: () => harness.company.notAfter })).toEqual({
      kind: 'no_proof',
      reason: 'certificate_expired',
      mayLieWithCertificate: true,
    });
    expect(harness.server.received).toHaveLength(asked);
  });
});

describe('the question for the time', () => {
  it('is answered by a JSON answer of any status', async () => {
    harness.server.answer(json(404, body));
    expect(await probe()).toEqual({ kind: 'known', seconds: 0 });
  });

  it.each([
    ['larger than its bound', () => json(200, padded(64 * 1024))],
    ['no JSON', (): Answer => (_received, response) => response.end('<html>')],
    ['a time of no calendar', () => json(200, { dataHoraProcessamento: 'ontem' })],
  ])('has an outcome when the answer is %s', async (_name, answer) => {
    harness.server.answer(answer());
    expect(await probe()).toMatchObject({ kind: 'unknown' });
  });

  it('has an outcome when the call cannot be made', async () => {
    expect(await probe(1_000, 'no address')).toMatchObject({ kind: 'unknown' });
  });
});

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { issueClientCertificate } from '../../src/simulator/authority.js';
import {
  codesOf,
  dpsIdOf,
  issue,
  issueBody,
  keyOf,
  OTHER_COMPANY,
  openSimulatorHarness,
  RIO,
  type SimulatorHarness,
} from '../support/harness/simulator.js';

describe('asking for documents', () => {
  let harness: SimulatorHarness;
  let key: string;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
    key = keyOf(await issue(harness));
  });
  afterAll(() => harness.close());

  it('finds a note by DPS id and by key', async () => {
    const found = await harness.call('GET', `/dps/${dpsIdOf({})}`);
    expect(found.status).toBe(200);
    expect(found.json).toMatchObject({ tipoAmbiente: 2, idDps: dpsIdOf({}), chaveAcesso: key });
    expect((await harness.call('HEAD', `/dps/${dpsIdOf({})}`)).status).toBe(200);
    const fetched = await harness.call('GET', `/nfse/${key}`);
    expect(fetched.status).toBe(200);
    expect(fetched.json).toMatchObject({ chaveAcesso: key, nfseXmlGZipB64: expect.any(String) });
  });

  it('proves absence with E2404, environment 0 and no version', async () => {
    const absent = await harness.call('GET', `/dps/${dpsIdOf({ number: 2 })}`);
    expect(absent.status).toBe(404);
    expect(Object.keys(absent.json)).toEqual(['tipoAmbiente', 'dataHoraProcessamento', 'erro']);
    expect(absent.json).toMatchObject({ tipoAmbiente: 0, erro: { codigo: 'E2404' } });
    expect((await harness.call('GET', `/dps/${dpsIdOf({})}`, { mode: 'live' })).status).toBe(404);
    const head = await harness.call('HEAD', `/dps/${dpsIdOf({ number: 2 })}`);
    expect([head.status, head.text]).toEqual([404, '']);
  });

  it('refuses unknown and malformed keys and ids', async () => {
    expect(
      codesOf(await harness.call('GET', `/nfse/${key.replace(/.$/, (d) => String((Number(d) + 1) % 10))}`)),
    ).toEqual(['E2401']);
    const malformed = await harness.call('GET', '/nfse/123');
    expect([malformed.status, codesOf(malformed)]).toEqual([400, ['E2406']]);
    expect((await harness.call('GET', '/dps/DPS1')).status).toBe(400);
  });

  const pages: [string, string, number][] = [
    ['GET', '/test/SefinNacional/NFSE/1', 404],
    ['GET', '/', 404],
    ['GET', '/test/SefinNacional/nfse', 405],
    ['GET', '/test/SefinNacional/DANFSe/1', 501],
    ['GET', '/test/SefinNacional/ParametrosMunicipais/3304557/convenio', 501],
  ];

  it.each(pages)('answers %s %s with the HTML page %i', async (method, path, status) => {
    const answer = await harness.call(method, path, { raw: true });
    expect([answer.status, answer.contentType]).toEqual([status, 'text/html']);
  });

  it('answers the base path in any letter case, and below /API', async () => {
    for (const base of [
      '/test/sefinnacional',
      '/test/SEFINNACIONAL',
      '/test/API/SefinNacional',
      '/test/api/sefinnacional',
    ]) {
      const found = await harness.call('GET', `${base}/dps/${dpsIdOf({})}`, { raw: true });
      expect([found.status, found.json.chaveAcesso]).toEqual([200, key]);
    }
  });

  it('answers HEAD as the Swagger says: found, malformed, absent, never with a body', async () => {
    const heads = [dpsIdOf({}), 'DPS1', dpsIdOf({ number: 2 })].map((id) => harness.call('HEAD', `/dps/${id}`));
    expect((await Promise.all(heads)).map(({ status, text }) => [status, text])).toEqual([
      [200, ''],
      [400, ''],
      [404, ''],
    ]);
    expect((await harness.call('HEAD', `/nfse/${key}`)).status).toBe(405);
  });

  it('knows the full address of an event and the list of all, and not the path between', async () => {
    const list = await harness.call('GET', `/nfse/${key}/eventos`);
    expect([list.status, list.contentType]).toEqual([404, 'application/json; charset=utf-8']);
    const short = await harness.call('GET', `/nfse/${key}/eventos/101101`);
    expect([short.status, short.contentType]).toEqual([404, 'text/html']);
  });

  it('answers 403 to no certificate, a stranger certificate, and to who has no part in the note', async () => {
    const path = `/dps/${dpsIdOf({})}`;
    const none = await harness.call('GET', path, { identity: null });
    expect([none.status, none.contentType]).toEqual([403, 'text/html']);
    const now = harness.clock.now();
    const stranger = issueCertificate({
      subjectName: 'Estranha',
      cnpj: OTHER_COMPANY,
      issuer: issueCertificate({ subjectName: 'AC ESTRANHA', validDays: 1, now }),
      validDays: 1,
      now,
    });
    const refused = await harness.call('GET', path, { identity: stranger });
    expect([refused.status, codesOf(refused)]).toEqual([403, ['E1205']]);
    const other = await issueClientCertificate(harness.folder, {
      cnpj: OTHER_COMPANY,
      name: 'Outra',
      clock: harness.clock,
    });
    expect((await harness.call('GET', path, { identity: other })).status).toBe(403);
    expect((await harness.call('HEAD', path, { identity: other })).status).toBe(200);
    expect((await harness.call('GET', `/nfse/${key}`, { identity: other })).status).toBe(403);
  });

  it('refuses an expired client certificate with E1203', async () => {
    const expired = await issueClientCertificate(harness.folder, {
      cnpj: OTHER_COMPANY,
      name: 'Vencida',
      clock: { now: () => '2020-01-01T00:00:00.000Z' },
    });
    const answer = await harness.call('POST', '/nfse', { body: issueBody(harness, { number: 5 }), identity: expired });
    expect([answer.status, codesOf(answer)]).toEqual([403, ['E1203']]);
    // Each route in the form of the Swagger.
    expect(answer.json.erros).toEqual([{ Codigo: 'E1203', Descricao: expect.any(String) }]);
    const key = '1'.repeat(50);
    const event = await harness.call('POST', `/nfse/${key}/eventos`, { body: {}, identity: expired });
    expect([event.status, event.json.erro]).toEqual([403, [{ codigo: 'E1203', descricao: expect.any(String) }]]);
    const fetched = await harness.call('GET', `/nfse/${key}`, { identity: expired });
    expect([fetched.status, fetched.json.erro]).toMatchObject([403, { codigo: 'E1203' }]);
    for (const path of ['/contribuintes/DFe/0', `/parametrizacao/${RIO}/convenio`]) {
      const atAdn = await harness.call('GET', path, { identity: expired, raw: true });
      expect([atAdn.status, atAdn.contentType]).toEqual([496, 'text/html']);
    }
  });
});

describe('a strict simulator', () => {
  it('redirects a path in the wrong letter case to the one of the Swagger', async () => {
    const harness = await openSimulatorHarness({ strict: true });
    const wrong = await harness.call('GET', `/test/sefinnacional/dps/${dpsIdOf({})}?x=1`, { raw: true });
    expect([wrong.status, wrong.contentType]).toEqual([307, 'text/html']);
    expect(wrong.location).toBe(`/test/SefinNacional/dps/${dpsIdOf({})}`);
    expect(codesOf(await harness.call('GET', wrong.location ?? '', { raw: true }))).toEqual(['E2404']);
    expect((await harness.call('GET', `/nfse/${'1'.repeat(50)}/eventos`)).status).toBe(405);
    await harness.close();
  });
});

describe('a further authority', () => {
  it('has its client certificates accepted, on a server that bears a further name', async () => {
    const now = new Date().toISOString();
    const issuer = issueCertificate({ subjectName: 'AC DE FORA', validDays: 2, now });
    const harness = await openSimulatorHarness({
      clientAuthoritiesPem: [issuer.certificatePem],
      serverNames: ['simulador.example'],
    });
    const identity = issueCertificate({ subjectName: 'Outra', cnpj: OTHER_COMPANY, issuer, validDays: 1, now });
    const path = `/dps/${dpsIdOf({ cnpj: OTHER_COMPANY })}`;
    expect(codesOf(await harness.call('GET', path, { identity }))).toEqual(['E2404']);
    expect(codesOf(await harness.call('GET', path))).toEqual(['E2404']);
    const { certificatePem } = JSON.parse(await readFile(join(harness.folder, 'server.json'), 'utf8'));
    expect(new X509Certificate(certificatePem).checkHost('simulador.example')).toBe('simulador.example');
    await harness.close();
  });
});

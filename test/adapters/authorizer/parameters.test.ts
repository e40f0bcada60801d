import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { createMunicipalParameters, readParameters } from '../../../src/adapters/authorizer/parameters.js';
import type { ParameterQuestion } from '../../../src/domain/municipality/parameters.js';
import { readExample } from '../../support/fixture/samples.js';
import { COMPANY, openSimulatorHarness, RIO, type SimulatorHarness } from '../../support/harness/simulator.js';
import { itWith } from '../../support/needs.js';

const SERVICE = '01.07.01.000';
const CONVENIO: ParameterQuestion = { kind: 'convenio' };
const RATE: ParameterQuestion = { kind: 'aliquota', service: SERVICE };

/** The day that is asked for. */
const ON = '2026-11-21';

const answered = (status: number, body: object | string, contentType = 'application/json'): Exchange => ({
  kind: 'answered',
  status,
  contentType,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8'),
});

const GOOD = { Aliq: 5, DtIni: '2021-01-01T00:00:00', DtFim: null };

const flags = { aderenteAmbienteNacional: 1, aderenteEmissorNacional: 0, situacaoEmissaoPadraoContribuintesRFB: -1 };

describe('an answer of the parameters API', () => {
  it.each([
    [
      'a convênio, a flag of -1 unknown',
      CONVENIO,
      answered(200, { parametrosConvenio: flags, mensagem: 'x' }),
      { kind: 'convenio', isActive: true, sharesDocuments: true, nationalEmitter: false },
    ],
    [
      'an inactive convênio',
      CONVENIO,
      answered(404, { parametrosConvenio: null, mensagem: 'ainda não está ativo' }),
      { kind: 'convenio', isActive: false },
    ],
    [
      'rates, whose items alone are in PascalCase',
      RATE,
      answered(200, {
        aliquotas: {
          [SERVICE]: [{ Incidencia: 'NAO', Aliq: 2.5, DtIni: '2023-01-02T00:00:00', DtFim: '2024-01-01T00:00:00' }],
        },
      }),
      { kind: 'aliquota', rates: [{ percent: '2.50', incidence: false, from: '2023-01-02', until: '2024-01-01' }] },
    ],
    [
      'a service without incidence, whose rate is not told',
      RATE,
      answered(200, { aliquotas: { [SERVICE]: [{ Incidencia: 'NAO', Aliq: null, DtIni: '2023-01-02T00:00:00' }] } }),
      { kind: 'aliquota', rates: [{ incidence: false, from: '2023-01-02' }] },
    ],
    [
      'the rate of today beside an ended one that is not told or no number',
      RATE,
      answered(200, {
        aliquotas: {
          [SERVICE]: [
            { Incidencia: null, Aliq: null, DtIni: '2023-01-02T00:00:00', DtFim: '2023-12-31T00:00:00' },
            { Aliq: '5', DtIni: '2024-01-01T00:00:00', DtFim: '2024-12-31T00:00:00' },
            { Incidencia: 'SIM', Aliq: 5, DtIni: '2025-01-01T00:00:00', DtFim: null },
          ],
        },
      }),
      {
        kind: 'aliquota',
        rates: [
          { from: '2023-01-02', until: '2023-12-31' },
          { from: '2024-01-01', until: '2024-12-31' },
          { percent: '5.00', incidence: true, from: '2025-01-01' },
        ],
      },
    ],
    [
      'the rates 0 and 100, and an end of no text',
      RATE,
      answered(200, {
        aliquotas: {
          [SERVICE]: [
            { Aliq: 0, DtIni: '2023-01-02T00:00:00', DtFim: '' },
            { Aliq: 100, DtIni: '2023-01-02' },
          ],
        },
      }),
      {
        kind: 'aliquota',
        rates: [
          { percent: '0.00', from: '2023-01-02' },
          { percent: '100.00', from: '2023-01-02' },
        ],
      },
    ],
    ['no rate', RATE, answered(404, { aliquotas: null, mensagem: '' }), { kind: 'aliquota', rates: [] }],
    [
      'special regimes',
      { kind: 'regimes_especiais', service: SERVICE } as ParameterQuestion,
      answered(200, { regimesEspeciais: { [SERVICE]: { '6': [{ situacao: 2, dataInicio: '2023-01-01T00:00:00' }] } } }),
      { kind: 'regimes_especiais', regimes: [{ regime: '6', situation: 2, from: '2023-01-01' }] },
    ],
    [
      'withholding',
      { kind: 'retencoes' } as ParameterQuestion,
      answered(200, { retencoes: { artigoSexto: { habilitado: true }, retencoesMunicipais: [{}, {}] } }),
      { kind: 'retencoes', article6: true, municipal: 2 },
    ],
  ])('tells %s', (_what, question, answer, known) => {
    expect(readParameters(question, answer, ON)).toEqual({ kind: 'known', known });
  });

  it.each([
    ...['9999-99-99T00:00:00', '0000-00-00T00:00:00', '2027-02-29T00:00:00', '31/12/2099'].map(
      (DtFim): [string, object, object[]] => [
        `no known end of ${DtFim}`,
        { Aliq: 3, DtIni: '2020-01-01T00:00:00', DtFim },
        [{ percent: '3.00', from: '2020-01-01' }],
      ],
    ),
    [
      'no rate that is none and is over',
      { Aliq: -1, DtIni: '2020-01-01T00:00:00', DtFim: '2026-11-20T00:00:00' },
      [{ from: '2020-01-01', until: '2026-11-20' }],
    ],
    ['no rate that is none and begins later', { Aliq: 101, DtIni: '2026-11-22T00:00:00' }, [{ from: '2026-11-22' }]],
    ['nothing of what is over and has no first day', { Aliq: 3, DtIni: '2020-99-99', DtFim: '2026-11-20' }, []],
  ])('tells beside the rate in force %s', (_what, entry, told) => {
    const rates = [...told, { percent: '5.00', from: '2021-01-01' }];
    const answer = answered(200, { aliquotas: { [SERVICE]: [entry, GOOD] } });
    expect(readParameters(RATE, answer, ON)).toEqual({ kind: 'known', known: { kind: 'aliquota', rates } });
  });

  it('tells the regime in force, and nothing of others that cannot be read', () => {
    const entries = [
      { situacao: 'x', dataInicio: '2020-01-01', dataFim: '2020-12-31' },
      { situacao: 1, dataInicio: '2020-99-99', dataFim: '2020-12-31' },
      { situacao: 2, dataInicio: '2021-01-01', dataFim: '9999-99-99' },
    ];
    const answer = answered(200, { regimesEspeciais: { [SERVICE]: { '6': entries } } });
    expect(readParameters({ kind: 'regimes_especiais', service: SERVICE }, answer, ON)).toEqual({
      kind: 'known',
      known: { kind: 'regimes_especiais', regimes: [{ regime: '6', situation: 2, from: '2021-01-01' }] },
    });
  });

  it.each([
    ['an HTML 404', CONVENIO, answered(404, '<html>', 'text/html'), 'no_json'],
    ['a JSON 404 of something else', CONVENIO, answered(404, { message: 'Resource not found' }), 'not_the_api'],
    ['a 404 that holds an answer', CONVENIO, answered(404, { parametrosConvenio: flags }), 'not_the_api'],
    ['a 200 without a convênio', CONVENIO, answered(200, { parametrosConvenio: null }), 'unreadable'],
    ['a 200 of another question', CONVENIO, answered(200, { aliquotas: {} }), 'not_the_api'],
    [
      'a rate without its first day',
      RATE,
      answered(200, { aliquotas: { [SERVICE]: [{ Aliq: 5, DtIni: null }] } }),
      'unreadable',
    ],
    ...[
      { Aliq: 5, DtIni: '9999-99-99T00:00:00' },
      { Aliq: 5, DtIni: '2023-02-30T00:00:00' },
      { Aliq: 5, DtIni: '2020-99-99T00:00:00', DtFim: `${ON}T00:00:00` },
      { Aliq: 5, DtIni: '2020-99-99T00:00:00', DtFim: '9999-99-99T00:00:00' },
      { Aliq: 1e308, DtIni: '2023-01-02T00:00:00' },
      { Aliq: 100.01, DtIni: '2023-01-02T00:00:00' },
      { Aliq: -1, DtIni: '2023-01-02T00:00:00' },
      { Aliq: -1, DtIni: `${ON}T00:00:00`, DtFim: `${ON}T00:00:00` },
      { Aliq: -1, DtIni: '2023-01-02T00:00:00', DtFim: '31/12/2023' },
      'text',
    ].map((rate): [string, ParameterQuestion, Exchange, string] => [
      `a rate that is none and may be in force, ${JSON.stringify(rate)}`,
      RATE,
      answered(200, { aliquotas: { [SERVICE]: [rate, GOOD] } }),
      'unreadable',
    ]),
    [
      'a regime in force whose situation is no number',
      { kind: 'regimes_especiais', service: SERVICE } as ParameterQuestion,
      answered(200, { regimesEspeciais: { [SERVICE]: { '6': [{ situacao: 'x', dataInicio: '2023-01-01' }] } } }),
      'unreadable',
    ],
    [
      'a regime with a first day that is none',
      { kind: 'regimes_especiais', service: SERVICE } as ParameterQuestion,
      answered(200, { regimesEspeciais: { [SERVICE]: { '6': [{ situacao: 2, dataInicio: '9999-99-99' }] } } }),
      'unreadable',
    ],
    ['a refused call', RATE, answered(400, { aliquotas: null, mensagem: 'Chamada mal formada.' }), 'http_400'],
    ['problem+json', CONVENIO, answered(200, { parametrosConvenio: flags }, 'application/problem+json'), 'no_json'],
    ['too many calls', CONVENIO, answered(429, { parametrosConvenio: null }), 'http_429'],
    ['a page of maintenance', CONVENIO, answered(503, '<html>', 'text/html'), 'http_503'],
    ['silence', CONVENIO, { kind: 'broken', reason: 'timeout' } as Exchange, 'timeout'],
  ])('proves nothing: %s', (_what, question, answer, reason) => {
    expect(readParameters(question, answer, ON)).toEqual({ kind: 'no_proof', reason });
  });

  const notHanded = (reason: string): Exchange => ({ kind: 'not_handed', reason });
  it.each([
    ['a handshake that failed', notHanded('ECONNRESET')],
    ['a connection that broke', { kind: 'broken', reason: 'closed' } as Exchange],
    ['an alert', notHanded('ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN')],
    ['an alert without a name', { kind: 'broken', reason: 'EPROTO' } as Exchange],
    ['a page of the web server', answered(403, '<html>', 'text/html')],
    ['the status of a missing certificate', answered(496, '', 'text/plain')],
    ['a certificate that TLS cannot use', notHanded('certificate_unusable')],
  ])('proves nothing, which may lie with the certificate: %s', (_what, answer) => {
    expect(readParameters(CONVENIO, answer, ON)).toMatchObject({ kind: 'no_proof', mayLieWithCertificate: true });
  });

  itWith('samples', 'is read as it was observed', () => {
    const read = (question: ParameterQuestion, status: number, name: string) =>
      readParameters(question, answered(status, readExample(`parametrizacao-${name}.json`)), ON);
    expect(read(CONVENIO, 200, 'convenio.200')).toEqual({
      kind: 'known',
      known: { kind: 'convenio', isActive: true, sharesDocuments: true, nationalEmitter: true, rfbContributors: true },
    });
    expect(read(CONVENIO, 404, 'convenio.404')).toEqual({
      kind: 'known',
      known: { kind: 'convenio', isActive: false },
    });
    expect(read(RATE, 200, 'aliquota.200')).toEqual({
      kind: 'known',
      known: { kind: 'aliquota', rates: [{ percent: '5.00', incidence: true, from: '2023-01-02' }] },
    });
    expect(read(RATE, 400, 'aliquota.400-codigo')).toEqual({ kind: 'no_proof', reason: 'http_400' });
  });
});

describe('the parameters client', () => {
  let harness: SimulatorHarness;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  const client = (mode: 'live' | 'test', hasCertificate = true) => {
    const { privateKeyPem, certificatePem } = harness.identity;
    const certificate = {
      certificateId: 'c',
      privateKeyPem,
      certificatePem,
      chainPem: [],
      fingerprint: 'f',
      cnpj: COMPANY,
      notBefore: harness.clock.at,
      notAfter: '2036-01-01T00:00:00.000Z',
    };
    return createMunicipalParameters({
      address: harness.simulator.urls[mode].replace('SefinNacional', 'parametrizacao'),
      trustRootsPem: [harness.simulator.caPem],
      timeoutMs: 10_000,
      certificateOf: async () => (hasCertificate ? certificate : undefined),
      now: () => harness.clock.at,
    });
  };

  it('asks over mutual TLS, each environment at its own address', async () => {
    await harness.control('POST', 'registry', { environment: 'live', municipality: { ibge: RIO, adherent: false } });
    const apis = { test: client('test'), live: client('live') };
    const ask = (mode: 'test' | 'live', question: ParameterQuestion) =>
      apis[mode].ask({ mode, companyId: COMPANY }, RIO, question, '2026-11-21');
    expect(await ask('test', CONVENIO)).toMatchObject({ known: { isActive: true, nationalEmitter: true } });
    expect(await ask('live', CONVENIO)).toEqual({ kind: 'known', known: { kind: 'convenio', isActive: false } });
    expect(await ask('test', RATE)).toMatchObject({ known: { rates: [{ percent: '5.00' }] } });
    expect(await ask('test', { kind: 'retencoes' })).toMatchObject({ known: { kind: 'retencoes', article6: true } });
    expect(await ask('test', { kind: 'regimes_especiais', service: SERVICE })).toMatchObject({
      known: { regimes: [] },
    });
    for (const api of Object.values(apis)) api.close();
  });

  it('asks nobody without a certificate', async () => {
    const answer = await client('test', false).ask({ mode: 'test', companyId: COMPANY }, RIO, CONVENIO, '2026-11-21');
    expect(answer).toMatchObject({ kind: 'no_proof', reason: 'certificate_missing' });
  });
});

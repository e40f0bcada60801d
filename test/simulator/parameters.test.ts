import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSimulatorHarness, RIO, type SimulatorHarness } from '../support/harness/simulator.js';

const DAY = '2026-09-01';

describe('the parameters API of the simulator', () => {
  let harness: SimulatorHarness;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  const get = (path: string, prefix = '/test/parametrizacao', identity?: null) =>
    harness.call('GET', `${prefix}/${path}`, { raw: true, ...(identity === undefined ? {} : { identity }) });
  const tell = (municipality: object, environment = 'test') =>
    harness.control('POST', 'registry', { environment, municipality: { ibge: RIO, ...municipality } });

  it('knows every municipality as an adherent of the national emitter until it is told otherwise', async () => {
    expect(await get(`${RIO}/convenio`)).toMatchObject({
      status: 200,
      json: {
        mensagem: 'Parâmetros do convênio recuperados com sucesso.',
        parametrosConvenio: {
          aderenteAmbienteNacional: 1,
          aderenteEmissorNacional: 1,
          situacaoEmissaoPadraoContribuintesRFB: 1,
          aderenteMAN: 0,
          permiteAproveitametoDeCreditos: true,
        },
      },
    });
    expect((await get(`${RIO}/01.07.01.000/${DAY}/aliquota`)).json).toEqual({
      mensagem: 'Alíquotas recuperadas com sucesso.',
      aliquotas: { '01.07.01.000': [{ Incidencia: 'SIM', Aliq: 5, DtIni: '2023-01-01T00:00:00', DtFim: null }] },
    });
    expect((await get(`${RIO}/01.07.01.000/historicoaliquotas`)).status).toBe(200);
    expect((await get(`${RIO}/${DAY}/retencoes`)).json).toMatchObject({
      retencoes: { artigoSexto: { habilitado: true } },
    });
  });

  it('answers from the registry that the rules judge by, each environment from its own', async () => {
    await tell({
      registration_required: true,
      national_emitter: false,
      rate: '2.50',
      special_regimes: ['6'],
      service_codes: ['010701'],
      municipal_codes: ['010701003'],
      non_incident_codes: ['010701'],
      benefits: [{ number: '33045570200001', kind: 'percent', percent: '50.00', until: '2027-01-01' }],
    });
    const flags = { aderenteEmissorNacional: 0, situacaoEmissaoPadraoContribuintesRFB: 0 };
    expect((await get(`${RIO}/convenio`)).json).toMatchObject({ parametrosConvenio: flags });
    expect((await get(`${RIO}/convenio`, '/live/parametrizacao')).json).toMatchObject({
      parametrosConvenio: { aderenteEmissorNacional: 1 },
    });
    const rate = await get(`${RIO}/01.07.01.003/${DAY}/aliquota`);
    expect(rate.json).toMatchObject({ aliquotas: { '01.07.01.003': [{ Incidencia: 'NAO', Aliq: null }] } });
    for (const unknown of ['01.07.01.004', '01.01.01.000']) {
      expect(await get(`${RIO}/${unknown}/${DAY}/aliquota`)).toMatchObject({ status: 404, json: { aliquotas: null } });
    }
    expect((await get(`${RIO}/01.07.01.000/${DAY}/regimes_especiais`)).json).toMatchObject({
      regimesEspeciais: { '01.07.01.000': { '6': [{ situacao: 1, dataFim: null }] } },
    });
    expect((await get(`${RIO}/33045570200001/${DAY}/beneficio`)).json).toMatchObject({
      beneficio: { codigoBeneficio: '33045570200001', tipoBeneficio: 4, reducaoPercentualBC: 50 },
    });
    expect((await get(`${RIO}/33045570200002/${DAY}/beneficio`)).status).toBe(404);
  });

  it('says of an inactive or unknown municipality that its convênio is not active, in JSON', async () => {
    await tell({ adherent: false }, 'live');
    expect(await get(`${RIO}/convenio`, '/live/parametrizacao')).toMatchObject({
      status: 404,
      json: { mensagem: 'O convênio do município <Rio de Janeiro/RJ> ainda não está ativo', parametrosConvenio: null },
    });
    expect(await get('9999999/convenio')).toMatchObject({ status: 404, json: { parametrosConvenio: null } });
  });

  it.each([
    ['0107010000', 'a service code without dots', 400, 'application/json', { aliquotas: null }],
    ['01.07.01', 'a service code of six digits', 400, 'application/json', { aliquotas: null }],
  ])('refuses %s: %s', async (code, _what, status, contentType, json) => {
    const answer = await get(`${RIO}/${code}/${DAY}/aliquota`);
    expect(answer).toMatchObject({ status, json });
    expect(answer.contentType).toContain(contentType);
    expect(answer.text).toContain('nove dígitos');
  });

  it('answers what it cannot read with the framework’s problem+json', async () => {
    const days = ['01-09-2026', '2026-02-30'].map((day) => `${RIO}/01.07.01.000/${day}/aliquota`);
    for (const path of [...days, `${RIO}/agora/retencoes`, 'rio/convenio']) {
      const answer = await get(path);
      expect(answer.status).toBe(400);
      expect(answer.contentType).toContain('application/problem+json');
    }
  });

  it('serves the restricted environment at the bare path, where a host has one environment only', async () => {
    expect((await get(`${RIO}/convenio`, '/parametrizacao')).json).toMatchObject({
      parametrosConvenio: { aderenteEmissorNacional: 0 },
    });
  });

  it('wants a certificate, GET, and one of the paths of the Swagger', async () => {
    expect((await get(`${RIO}/convenio`, '/test/parametrizacao', null)).status).toBe(496);
    const posted = await harness.call('POST', `/test/parametrizacao/${RIO}/convenio`, { raw: true, body: {} });
    expect(posted.status).toBe(405);
    for (const path of [RIO, `${RIO}/aliquota`, `${RIO}/1/2/convenio`, `${RIO}/1/2/3/4`]) {
      const answer = await get(path);
      expect([path, answer.status, answer.contentType]).toEqual([path, 404, 'text/html']);
    }
  });
});

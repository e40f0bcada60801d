import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/adapters/authorizer/reading.js';
import { issueClientCertificate } from '../../src/simulator/authority.js';
import {
  COMPANY,
  cancel,
  customer,
  issue,
  keyOf,
  OTHER_COMPANY,
  openSimulatorHarness,
  type SimulatorHarness,
} from '../support/harness/simulator.js';

type Item = { NSU: number; ChaveAcesso: string; TipoDocumento: string; TipoEvento: string | null; ArquivoXml: string };

describe('the distribution of the simulator', () => {
  let harness: SimulatorHarness;
  beforeEach(async () => {
    harness = await openSimulatorHarness();
  });
  afterEach(() => harness.close());

  const ask = (path: string, identity = harness.identity) =>
    harness.call('GET', `/test/contribuintes/${path}`, { raw: true, identity });
  const itemsOf = ({ json }: Awaited<ReturnType<typeof ask>>) => json.LoteDFe as Item[];

  it('gives notes and events in order, and ends with a 404 that is no failure', async () => {
    const keys = [keyOf(await issue(harness, { number: 1 })), keyOf(await issue(harness, { number: 2 }))];
    await harness.control('POST', 'events', { environment: 'test', access_key: keys[0], type: '305101' });
    const answer = await ask('DFe/0?lote=true');
    expect([answer.status, answer.json.StatusProcessamento, answer.json.TipoAmbiente]).toEqual([
      200,
      'DOCUMENTOS_LOCALIZADOS',
      'HOMOLOGACAO',
    ]);
    expect(
      itemsOf(answer).map(({ NSU, ChaveAcesso, TipoDocumento, TipoEvento }) => [
        NSU,
        ChaveAcesso,
        TipoDocumento,
        TipoEvento,
      ]),
    ).toEqual([
      [1, keys[0], 'NFSE', null],
      [2, keys[1], 'NFSE', null],
      [3, keys[0], 'EVENTO', 'CANCELAMENTO_POR_OFICIO'],
    ]);
    expect(itemsOf(answer).every(({ ArquivoXml }) => ArquivoXml.startsWith('H4sI'))).toBe(true);
    const end = await ask('DFe/3');
    expect([end.status, end.json.StatusProcessamento]).toEqual([404, 'NENHUM_DOCUMENTO_LOCALIZADO']);
    const Descricao = expect.stringMatching(/^Nenhum documento localizado - /);
    expect(end.json.Erros).toMatchObject([{ Codigo: 'E2220', Descricao }]);
    expect(itemsOf(await ask('DFe/1?lote=false')).map(({ NSU }) => NSU)).toEqual([2]);
  });

  it('leaves out what a fault hides: a note with its events, and a cancellation', async () => {
    const order = (on: string) => harness.control('POST', 'faults', { on, kind: 'stale', delay_ms: 600_000 });
    const first = keyOf(await issue(harness, { number: 1 }));
    await order('event');
    expect((await cancel(harness, first)).status).toBe(201);
    expect(itemsOf(await ask('DFe/0')).map(({ NSU }) => NSU)).toEqual([1]);
    expect(itemsOf(await ask(`NFSe/${first}/Eventos`)).map(({ NSU }) => NSU)).toEqual([1]);
    await order('issue');
    const second = keyOf(await issue(harness, { number: 2 }));
    await harness.control('POST', 'events', { environment: 'test', access_key: second, type: '203202' });
    expect((await harness.call('GET', `/nfse/${second}`)).status).toBe(404);
    expect((await harness.call('GET', `/nfse/${second}/eventos/203202/1`)).status).toBe(404);
    expect((await harness.call('GET', `/nfse/${second}/eventos`)).status).toBe(404);
    expect((await ask(`NFSe/${second}/Eventos`)).status).toBe(404);
  });

  it('gives 50 documents at once, and the rest after their last number, also after a restart', async () => {
    for (let number = 1; number <= 52; number += 1) await issue(harness, { number });
    expect(itemsOf(await ask('DFe/0'))).toHaveLength(50);
    await harness.restart();
    expect(itemsOf(await ask('DFe/50')).map(({ NSU }) => NSU)).toEqual([51, 52]);
  });

  it('shows a note to its emitter and its customer only', async () => {
    const other = await issueClientCertificate(harness.folder, {
      cnpj: OTHER_COMPANY,
      name: 'Outra Empresa Ltda',
      clock: harness.clock,
    });
    await issue(harness, { number: 1 });
    await issue(harness, { number: 2, toma: customer(`<CNPJ>${OTHER_COMPANY}</CNPJ>`) });
    expect(itemsOf(await ask('DFe/0', other)).map(({ NSU }) => NSU)).toEqual([2]);
    expect((await ask(`DFe/0?cnpjConsulta=${COMPANY}`, other)).json.Erros).toMatchObject([{ Codigo: 'E2243' }]);
  });

  it('is one establishment’s: a branch with the certificate of its head office asks by its CNPJ', async () => {
    const branch = '12345678000276';
    await issue(harness, { number: 1 });
    await issue(harness, { number: 1, cnpj: branch });
    expect(itemsOf(await ask('DFe/0')).map(({ NSU }) => NSU)).toEqual([1]);
    expect(itemsOf(await ask(`DFe/0?cnpjConsulta=${COMPANY}`)).map(({ NSU }) => NSU)).toEqual([1]);
    expect(itemsOf(await ask(`DFe/0?cnpjConsulta=${branch}`)).map(({ NSU }) => NSU)).toEqual([2]);
  });

  it('gives a note with its events, and nothing for an unknown key', async () => {
    const key = keyOf(await issue(harness));
    const read = async () => {
      const answer = await ask(`NFSe/${key}/Eventos`);
      const exchange = { ...answer, kind: 'answered' as const, body: Buffer.from(answer.text) };
      return {
        items: itemsOf(answer),
        read: readAnswer({ name: 'sharedEvents', expected: { accessKey: key }, exchange }),
      };
    };
    expect(await read()).toMatchObject({ items: [{ NSU: 1, TipoDocumento: 'NFSE' }], read: { kind: 'absent' } });
    await harness.control('POST', 'events', { environment: 'test', access_key: key, type: '101101' });
    expect(await read()).toMatchObject({
      items: [
        { NSU: 1, TipoDocumento: 'NFSE' },
        { NSU: 2, TipoDocumento: 'EVENTO', TipoEvento: 'CANCELAMENTO' },
      ],
      read: { kind: 'found', found: { eventType: '101101' } },
    });
    expect((await ask(`NFSe/${'1'.repeat(50)}/Eventos`)).status).toBe(404);
  });

  it('answers 400 to a number that is none, 404 to another path, and 496 without a certificate', async () => {
    expect((await ask('DFe/abc')).status).toBe(400);
    expect((await ask('DFe')).status).toBe(400);
    expect((await ask('NSU/1')).status).toBe(404);
    const bare = await harness.call('GET', '/test/contribuintes/DFe/0', { raw: true, identity: null });
    expect(bare.status).toBe(496);
  });
});

import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { simulatorTables } from '../../src/runtime/engines/simulator-tables.js';
import { COMPANY, dpsIdOf, openSimulatorHarness, RIO, type SimulatorHarness } from '../support/harness/simulator.js';
import { describeWith, openNfseFolder } from '../support/needs.js';

/** What the test uses of the package. */
type Client = {
  emitirDpsPronta(dps: object, options: object): Promise<{ chaveAcesso: string }>;
  fetchByChave(key: string): Promise<{ chaveAcesso: string }>;
  fetchDpsStatus(id: string): Promise<{ chaveAcesso: string }>;
  existsDpsStatus(id: string): Promise<boolean>;
  fetchByNsu(params: {
    ultimoNsu: number;
  }): Promise<{ status: string; ultimoNsu: number; documentos: { tipoDocumento: string }[] }>;
  cancelar(params: object): Promise<unknown>;
  close(): Promise<void>;
};

/** A client of the national system by other makers, pointed at the simulator by its own hook for another transport. */
describeWith('openNfse', 'open-nfse at the simulator', () => {
  let harness: SimulatorHarness;
  let client: Client;
  let buildDps: (params: object) => { versao: string; infDPS: object };
  beforeAll(async () => {
    harness = await openSimulatorHarness({ tables: simulatorTables });
    const at = (path: string) => import(pathToFileURL(`${openNfseFolder()}/${path}`).href);
    const openNfse = await at('dist/index.js');
    buildDps = openNfse.buildDps;
    const { Agent } = await at('node_modules/undici/index.js');
    const { privateKeyPem: key, certificatePem: cert } = harness.identity;
    const { origin } = new URL(harness.simulator.urls.test);
    const agent = new Agent({ connect: { key, cert, ca: harness.simulator.caPem } });
    const dispatcher = agent.compose(
      (dispatch: (options: object, handler: object) => boolean) => (options: { path: string }, handler: object) =>
        dispatch({ ...options, origin, path: `/test${options.path}` }, handler),
    );
    client = new openNfse.NfseClient({
      ambiente: 'PRODUCAO_RESTRITA',
      certificado: {
        load: async () => ({
          keyPem: key,
          certPem: cert,
          subject: 'CN=Teste',
          issuedOn: new Date(0),
          expiresOn: new Date('2100-01-01'),
        }),
      },
      dispatcher,
      retryStore: openNfse.createInMemoryRetryStore(),
    });
  });
  afterAll(async () => {
    await client?.close();
    await harness.close();
  });

  it('issues a note, looks it up, and reads note and cancellation from the distribution', async () => {
    const dps = buildDps({
      emitente: { cnpj: COMPANY, codMunicipio: RIO, regime: { opSimpNac: '2', regEspTrib: '0' } },
      serie: '1',
      nDPS: '1',
      dhEmi: new Date(harness.clock.at),
      dCompet: new Date(harness.clock.at),
      servico: { cTribNac: '010101', cNBS: '115022000', descricao: 'Consultoria' },
      valores: { vServ: 1500 },
    });
    // The version of April 2026 writes 1 where annex I wants 2 for a CNPJ, and gets E0004.
    const infDPS = { ...dps.infDPS, Id: dpsIdOf({ number: 1 }) };
    const { chaveAcesso } = await client.emitirDpsPronta({ ...dps, infDPS }, { skipCepValidation: true });
    expect((await client.fetchDpsStatus(infDPS.Id)).chaveAcesso).toBe(chaveAcesso);
    expect(await client.existsDpsStatus(infDPS.Id)).toBe(true);
    expect((await client.fetchByChave(chaveAcesso)).chaveAcesso).toBe(chaveAcesso);
    expect((await client.fetchByNsu({ ultimoNsu: 0 })).documentos).toMatchObject([{ tipoDocumento: 'NFSE' }]);
    // Its request for a cancellation has `nPedRegEvento`, which the schema of layout 1.01 does not know.
    const order = { chaveAcesso, autor: { CNPJ: COMPANY }, cMotivo: '1', xMotivo: 'Erro na emissão da nota fiscal' };
    await expect(client.cancelar({ ...order, dhEvento: new Date(harness.clock.at) })).rejects.toThrow('Rejeição');
    await harness.control('POST', 'events', { environment: 'test', access_key: chaveAcesso, type: '101101' });
    const listed = await client.fetchByNsu({ ultimoNsu: 1 });
    expect(listed).toMatchObject({ ultimoNsu: 2, documentos: [{ tipoDocumento: 'EVENTO' }] });
    expect((await client.fetchByNsu({ ultimoNsu: 2 })).documentos).toEqual([]);
  });
});

import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAccessKey } from '../../src/domain/common/access-key.js';
import { parseXml } from '../../src/xml/document.js';
import { gzipBase64 } from '../../src/xml/packing.js';
import { textAt } from '../../src/xml/parse.js';
import {
  address,
  addressAbroad,
  CUSTOMER,
  type DpsChanges,
  dpsIdOf,
  dpsXml,
  issue,
  keyOf,
  ledger,
  MEI,
  MONEY_TOT_TRIB,
  NORMAL,
  openSimulatorHarness,
  party,
  SIMPLES,
  type SimulatorHarness,
  signDps,
  unpack,
} from '../support/harness/simulator.js';
import { itWith, xmllintAccepts } from '../support/harness/xml-programs.js';
import { schemaFaults } from '../support/schema.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { verifySignature } from '../support/verify-signature.js';

const IBSCBS =
  '<IBSCBS><finNFSe>0</finNFSe><indFinal>1</indFinal><cIndOp>100301</cIndOp><indDest>0</indDest><valores><trib>' +
  '<gIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores></IBSCBS>';

const WITHHELD =
  '<tribFed><piscofins><CST>01</CST><vBCPisCofins>10000.00</vBCPisCofins><pAliqPis>0.00</pAliqPis>' +
  '<pAliqCofins>7.60</pAliqCofins><vPis>0.00</vPis><vCofins>760.00</vCofins><tpRetPisCofins>2</tpRetPisCofins>' +
  '</piscofins><vRetIRRF>150.00</vRetIRRF><vRetCSLL>465.00</vRetCSLL></tribFed>';

const REIMBURSEMENT =
  '<gReeRepRes><documentos><docOutro><nDoc>1</nDoc><xDoc>Recibo</xDoc></docOutro><dtEmiDoc>2026-01-01</dtEmiDoc>' +
  '<dtCompDoc>2026-01-01</dtCompDoc><tpReeRepRes>01</tpReeRepRes><vlrReeRepRes>55.00</vlrReeRepRes></documentos></gReeRepRes>';

describe('issuing', () => {
  let harness: SimulatorHarness;
  let next = 0;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  const issued = async (changes: DpsChanges = {}) => {
    next += 1;
    const answer = await issue(harness, { number: next, ...changes });
    expect(answer.json.erros).toBeUndefined();
    const xml = unpack(answer.json.nfseXmlGZipB64);
    const parsed = parseXml(xml);
    if (!parsed.ok) throw new Error(parsed.reason);
    return { answer, xml, at: (path: string) => textAt(parsed.root, `NFSe/infNFSe/${path}`) };
  };

  it('answers 201 in the shape of the real system', async () => {
    const { answer } = await issued();
    expect(answer.status).toBe(201);
    const key = keyOf(answer);
    expect(isAccessKey(key)).toBe(true);
    expect(Object.keys(answer.json)).toEqual([
      'tipoAmbiente',
      'versaoAplicativo',
      'dataHoraProcessamento',
      'idDps',
      'chaveAcesso',
      'nfseXmlGZipB64',
      'alertas',
    ]);
    expect(answer.json).toMatchObject({ tipoAmbiente: 2, idDps: `NFS${key}`, alertas: null });
    expect(answer.json.dataHoraProcessamento).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}-03:00$/);
  });

  it('writes the texts of the NBS and of the municipal code that the DPS names', async () => {
    const { xml, at } = await issued({ municipalCode: '<cTribMun>003</cTribMun>' });
    expect([at('xTribMun'), at('xNBS')]).toEqual(['Código municipal 003', 'Projeto e desenvolvimento de aplicativos.']);
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    const without = await issued({ nbs: '' });
    expect([without.at('xTribMun'), without.at('xNBS')]).toEqual([undefined, undefined]);
  });

  it('wraps the DPS byte for byte in one line, signed by itself', async () => {
    next += 1;
    const signed = signDps(dpsXml(harness.clock, { number: next }), harness.identity).toString();
    const { xml } = await issued({ number: next });
    const text = xml.toString();
    expect(text.startsWith('<?xml version="1.0" encoding="utf-8"?><NFSe ')).toBe(true);
    expect(text).not.toContain('\n');
    expect(text).toContain(signed.slice(signed.indexOf('<DPS')));
    const signature = verifySignature(xml, 'infNFSe');
    if (!signature.ok) throw new Error(signature.reason);
    expect(new X509Certificate(signature.certificateDer).subject).toContain('assinador');
    expect(text).toContain('http://www.w3.org/2001/10/xml-exc-c14n#WithComments');
  });

  const regimes: [string, DpsChanges, Record<string, string | undefined>][] = [
    ['a ME/EPP all inside the Simples', {}, { cStat: '100', 'valores/vBC': undefined, 'valores/vLiq': '1500.00' }],
    [
      'a MEI',
      { regTrib: MEI, totTrib: '<indTotTrib>0</indTotTrib>' },
      { cStat: '107', 'valores/vISSQN': undefined, 'valores/vLiq': '1500.00' },
    ],
    [
      'a company outside the Simples',
      { regTrib: NORMAL, totTrib: MONEY_TOT_TRIB, amount: '100.10' },
      { 'valores/vBC': '100.10', 'valores/pAliqAplic': '5.00', 'valores/vISSQN': '5.01', 'valores/vLiq': '100.10' },
    ],
    [
      'a company outside the Simples whose customer withholds the ISSQN',
      {
        regTrib: NORMAL,
        totTrib: MONEY_TOT_TRIB,
        tribMun: '<tribISSQN>1</tribISSQN><tpRetISSQN>2</tpRetISSQN>',
        toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()),
        amount: '1000.00',
      },
      { 'valores/vTotalRet': '50.00', 'valores/vLiq': '950.00' },
    ],
    [
      'IBS and CBS, with the amounts that the real system computed for such a note',
      {
        // From 2027 on the two taxes come on top of the total.
        dCompet: '2026-01-02',
        regTrib: SIMPLES.replace('<regApTribSN>1', '<regApTribSN>3'),
        totTrib: MONEY_TOT_TRIB,
        amount: '10000.00',
        toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()),
        tribFed: WITHHELD,
        ibscbs: IBSCBS,
      },
      {
        'valores/vBC': '10000.00',
        'valores/vISSQN': '500.00',
        'valores/vTotalRet': '615.00',
        'valores/vLiq': '9385.00',
        'IBSCBS/valores/vBC': '8740.00',
        'IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF': '8.74',
        'IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun': '0.00',
        'IBSCBS/totCIBS/gCBS/vCBS': '78.66',
        'IBSCBS/totCIBS/vTotNF': '9385.00',
      },
    ],
    [
      'reimbursements and a discount before the base of IBS and CBS',
      {
        regTrib: NORMAL,
        totTrib: MONEY_TOT_TRIB,
        amount: '1000.00',
        toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()),
        reductions: '<vDescCondIncond><vDescIncond>100.00</vDescIncond></vDescCondIncond>',
        ibscbs: IBSCBS.replace('<valores>', `<valores>${REIMBURSEMENT}`),
      },
      // 1000 less the discount of 100, less 55 reimbursed, less 5 % of 900.
      { 'IBSCBS/valores/vCalcReeRepRes': '55.00', 'IBSCBS/valores/vBC': '800.00', 'valores/vISSQN': '45.00' },
    ],
    [
      'a deduction by percentage, of what the discount leaves',
      {
        regTrib: NORMAL,
        totTrib: MONEY_TOT_TRIB,
        amount: '1000.00',
        reductions:
          '<vDescCondIncond><vDescIncond>100.00</vDescIncond></vDescCondIncond><vDedRed><pDR>10.00</pDR></vDedRed>',
      },
      { 'valores/vCalcDR': '90.00', 'valores/vBC': '810.00', 'valores/vISSQN': '40.50', 'valores/vLiq': '900.00' },
    ],
    [
      'no incidence, with a net amount less what is withheld and nothing else',
      {
        regTrib: NORMAL,
        totTrib: MONEY_TOT_TRIB,
        tribMun: '<tribISSQN>4</tribISSQN><tpRetISSQN>1</tpRetISSQN>',
        tribFed: '<tribFed><vRetIRRF>150.00</vRetIRRF></tribFed>',
      },
      { cLocIncid: undefined, 'valores/vTotalRet': undefined, 'valores/vLiq': '1350.00' },
    ],
    [
      'an export, with a net amount and nothing else',
      {
        toma: party('toma', '<NIF>1</NIF>', addressAbroad()),
        tribMun: '<tribISSQN>3</tribISSQN><cPaisResult>US</cPaisResult><tpRetISSQN>1</tpRetISSQN>',
        afterCServ:
          '<comExt><mdPrestacao>1</mdPrestacao><vincPrest>0</vincPrest><tpMoeda>220</tpMoeda><vServMoeda>300.00</vServMoeda>' +
          '<mecAFComexP>01</mecAFComexP><mecAFComexT>01</mecAFComexT><movTempBens>1</movTempBens><mdic>0</mdic></comExt>',
      },
      { cLocIncid: undefined, 'valores/vBC': undefined, 'valores/vTotalRet': undefined, 'valores/vLiq': '1500.00' },
    ],
    [
      'a special regime, with a net amount and nothing else (E1307)',
      {
        regTrib: '<opSimpNac>1</opSimpNac><regEspTrib>6</regEspTrib>',
        totTrib: MONEY_TOT_TRIB,
      },
      { 'valores/vBC': undefined, 'valores/vISSQN': undefined, 'valores/vLiq': '1500.00' },
    ],
    [
      'a suspended ISSQN, with a net amount and nothing else (E1311)',
      {
        regTrib: NORMAL,
        totTrib: MONEY_TOT_TRIB,
        tribMun:
          '<tribISSQN>1</tribISSQN><exigSusp><tpSusp>1</tpSusp><nProcesso>' +
          `${'1'.padStart(30, '0')}</nProcesso></exigSusp><tpRetISSQN>1</tpRetISSQN>`,
      },
      { cLocIncid: '3304557', 'valores/vBC': undefined, 'valores/vISSQN': undefined, 'valores/vLiq': '1500.00' },
    ],
    ['nobody named as customer', { toma: '' }, { 'emit/xNome': 'ESTÚDIO EXEMPLO LTDA', xLocEmi: 'Rio de Janeiro' }],
  ];

  it.each(regimes)('makes a note that the official schema accepts: %s', async (_name, changes, expected) => {
    const { xml, at } = await issued(changes);
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    for (const [path, value] of Object.entries(expected)) expect([path, at(path)]).toEqual([path, value]);
  });

  it('leaves PIS and COFINS in the base of IBS and CBS from 2027 on, and adds both to the total', async () => {
    const today = harness.clock.at;
    harness.clock.at = '2027-01-15T15:00:00.000Z';
    const { xml, at } = await issued({
      regTrib: NORMAL,
      totTrib: MONEY_TOT_TRIB,
      amount: '10000.00',
      toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()),
      tribFed: WITHHELD,
      ibscbs: IBSCBS,
    });
    harness.clock.at = today;
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    const { vBC, vTotNF } = { vBC: at('IBSCBS/valores/vBC'), vTotNF: at('IBSCBS/totCIBS/vTotNF') };
    // 10000 less 500 of ISSQN; 9385 net, and 9.50 and 85.50 on top.
    expect([vBC, at('valores/vLiq'), vTotNF]).toEqual(['9500.00', '9385.00', '9480.00']);
  });

  it('computes the taxes of the largest amount to the cent, and a total above it', async () => {
    const today = harness.clock.at;
    harness.clock.at = '2027-01-15T15:00:00.000Z';
    const { xml, at } = await issued({
      regTrib: NORMAL,
      totTrib: MONEY_TOT_TRIB,
      amount: '90071992547409.91',
      ibscbs: IBSCBS,
      toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()),
    });
    harness.clock.at = today;
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    const paths = ['valores/vISSQN', 'IBSCBS/valores/vBC', 'IBSCBS/totCIBS/gCBS/vCBS', 'IBSCBS/totCIBS/vTotNF'];
    // 5 % of the amount, what is left, 0.9 % of that, and the amount with 0.05, 0.05 and 0.9 % on top.
    expect(paths.map((path) => at(path))).toEqual([
      '4503599627370.50',
      '85568392920039.41',
      '770115536280.35',
      '90927676476610.30',
    ]);
  });

  it.each([
    ['2026-12-31', '0.10', '0.00', '0.90'],
    ['2027-01-01', '0.05', '0.05', '0.90'],
  ])('computes with the rates of the year of the competence: %s', async (dCompet, pIBSUF, pIBSMun, pCBS) => {
    const today = harness.clock.at;
    harness.clock.at = '2027-01-01T12:00:00.000Z';
    const { xml, at } = await issued({
      dCompet,
      regTrib: NORMAL,
      totTrib: MONEY_TOT_TRIB,
      ibscbs: IBSCBS,
      toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()),
    });
    harness.clock.at = today;
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    const valores = 'IBSCBS/valores';
    expect([at(`${valores}/uf/pIBSUF`), at(`${valores}/mun/pIBSMun`), at(`${valores}/fed/pCBS`)]).toEqual([
      pIBSUF,
      pIBSMun,
      pCBS,
    ]);
  });

  it.each([
    // 1000 less 50 of ISSQN, taxed at what the reduction leaves of the rates of 2026.
    ['200052', '', ['30.00', '0.07', '0.63', '0.67', '5.99']],
    ['200029', '', ['60.00', '0.04', '0.36', '0.38', '3.42']],
    ['200025', '', ['60.00', '0.04', '0.00', '0.38', '0.00']],
    ['820007', '', [undefined, '0.00', '0.00', '0.00', '0.00']],
    [
      '550016',
      '<gTribRegular><CSTReg>000</CSTReg><cClassTribReg>000001</cClassTribReg></gTribRegular>',
      [undefined, '0.00', '0.00', '0.00', '0.00'],
    ],
    [
      '515001',
      '<gDif><pDifUF>100.00</pDifUF><pDifMun>100.00</pDifMun><pDifCBS>100.00</pDifCBS></gDif>',
      ['60.00', '0.04', '0.36', '0.38', '3.42'],
    ],
  ])('reduces the rates by the classification %s', async (cClassTrib, group, expected) => {
    const declared = `<CST>${cClassTrib.slice(0, 3)}</CST><cClassTrib>${cClassTrib}</cClassTrib>${group}`;
    const { xml, at } = await issued({
      dCompet: '2026-01-02',
      regTrib: NORMAL,
      totTrib: MONEY_TOT_TRIB,
      amount: '1000.00',
      toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()),
      ibscbs: IBSCBS.replace('<CST>000</CST><cClassTrib>000001</cClassTrib>', declared),
    });
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    const [valores, total] = ['IBSCBS/valores', 'IBSCBS/totCIBS'];
    const paths = [`${valores}/uf/pRedAliqUF`, `${valores}/uf/pAliqEfetUF`, `${valores}/fed/pAliqEfetCBS`];
    expect([...paths, `${total}/gIBS/vIBSTot`, `${total}/gCBS/vCBS`].map((path) => at(path))).toEqual(expected);
    const regular = cClassTrib === '550016' ? ['0.10', '8.55'] : [undefined, undefined];
    expect([at(`${total}/gTribRegular/pAliqEfeRegIBSUF`), at(`${total}/gTribRegular/vTribRegCBS`)]).toEqual(regular);
    expect(at(`${total}/gCBS/vDifCBS`)).toBe(cClassTrib === '515001' ? '3.42' : undefined);
  });

  const surroundings: [string, (xml: string) => string][] = [
    ['a comment before it', (xml) => xml.replace('?><DPS', '?><!-- <DPS> </DPS> --><DPS')],
    ['a comment after it', (xml) => `${xml}<!-- </DPS> -->`],
    ['an instruction before it', (xml) => xml.replace('?><DPS', '?><?note <DPS> ?><DPS')],
    ['white space in its end tag', (xml) => xml.replace(/<\/DPS>$/, '</DPS >')],
  ];

  it.each(surroundings)('takes the DPS out of its document in spite of %s', async (_name, around) => {
    next += 1;
    const sent = around(signDps(dpsXml(harness.clock, { number: next }), harness.identity).toString());
    const body = { dpsXmlGZipB64: gzipBase64(Buffer.from(sent)) };
    const xml = unpack((await harness.call('POST', '/nfse', { body })).json.nfseXmlGZipB64);
    const dps = /<DPS xmlns.*?<\/Signature><\/DPS ?>/s.exec(sent)?.[0] ?? 'none';
    expect(xml.toString()).toContain(`</valores>${dps}</infNFSe>`);
    expect([schemaFaults('NFSe', xml), verifySignature(xml, 'infNFSe').ok]).toEqual([[], true]);
  });

  it('numbers the notes of an emitter one by one, per environment', async () => {
    const first = await issued();
    const second = await issued();
    expect(Number(second.at('nNFSe'))).toBe(Number(first.at('nNFSe')) + 1);
    const live = await issue(harness, { number: 1, tpAmb: '1' }, { mode: 'live' });
    expect(live.json.tipoAmbiente).toBe(1);
    expect(unpack(live.json.nfseXmlGZipB64).toString()).toContain('<nNFSe>1</nNFSe>');
  });

  it('gives one note to many simultaneous posts of one DPS, and E0014 to the rest', async () => {
    next += 1;
    const answers = await Promise.all(Array.from({ length: 8 }, () => issue(harness, { number: next })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 400);
    expect(refused.map(({ json }) => json.erros)).toEqual(
      refused.map(() => [{ Codigo: 'E0014', Descricao: expect.stringContaining('já existe') }]),
    );
    expect(refused[0]?.json.idDPS).toBe(dpsIdOf({ number: next }));
    const id = dpsIdOf({ number: next });
    expect((await ledger(harness)).filter(({ dps_id }) => dps_id === id)).toHaveLength(1);
  });

  itWith('xmlsec1', 'makes a note whose signature xmlsec1 verifies, and no longer when it is changed', async () => {
    const { xml } = await issued();
    expect(xmlsecVerifiesOuter(xml)).toBe(true);
    expect(xmlsecVerifiesOuter(Buffer.from(xml.toString().replace('<tpEmis>1<', '<tpEmis>2<')))).toBe(false);
  });

  itWith('xmllint', 'makes a note that xmllint finds valid', async () => {
    const { xml } = await issued();
    xmllintAccepts(xml, 'NFSe');
  });
});

/** The embedded DPS comes first and is signed too; the signature to check is the child of the root. */
const xmlsecVerifiesOuter = (xml: Buffer): boolean => {
  const file = join(temporaryFolder(), 'nfse.xml');
  writeFileSync(file, xml);
  const node = '/*[local-name()="NFSe"]/*[local-name()="Signature"]';
  const id = 'http://www.sped.fazenda.gov.br/nfse:infNFSe';
  return spawnSync('xmlsec1', ['--verify', '--insecure', '--id-attr:Id', id, '--node-xpath', node, file]).status === 0;
};

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addSeconds, brasiliaStamp } from '../../src/domain/common/time.js';
import { issueClientCertificate } from '../../src/simulator/authority.js';
import { gzipBase64 } from '../../src/xml/packing.js';
import {
  COMPANY,
  codesOf,
  customer,
  type DpsChanges,
  dpsXml,
  issue,
  issueBody,
  ledger,
  MEI,
  MONEY_TOT_TRIB,
  NORMAL,
  OTHER_COMPANY,
  openSimulatorHarness,
  RIO,
  SIMPLES,
  type SimulatorHarness,
  signDps,
} from '../support/harness/simulator.js';

let harness: SimulatorHarness;
beforeAll(async () => {
  harness = await openSimulatorHarness();
});
afterAll(() => harness.close());

const post = (xml: string | Buffer) =>
  harness.call('POST', '/nfse', { body: { dpsXmlGZipB64: gzipBase64(Buffer.from(xml)) } });

const withPAliq = (retention = '1') =>
  `<tribISSQN>1</tribISSQN><tpRetISSQN>${retention}</tpRetISSQN><pAliq>2.00</pAliq>`;

describe('a document that is not one', () => {
  const good = () => signDps(dpsXml(harness.clock), harness.identity).toString();

  const cases: [string, () => string, string][] = [
    ['E1229', () => good().replace('UTF-8', 'ISO-8859-1'), 'another encoding'],
    ['E1229', () => good().slice(good().indexOf('<DPS')), 'no declaration'],
    ['E1229', () => good().replace(' encoding="UTF-8"', ''), 'a declaration without the encoding'],
    ['E1229', () => `\uFEFF${good()}`, 'a byte order mark'],
    ['E1228', () => good().replace('<infDPS', '<n:infDPS').replace('</infDPS', '</n:infDPS'), 'a prefix'],
    ['E1226', () => good().replace('</infDPS>', ''), 'an unclosed element'],
    ['E1242', () => good().replace('<DPS ', '<RPS ').replace('</DPS>', '</RPS>'), 'another root'],
    ['E1235', () => good().replace(/<dCompet>.*<\/dCompet>/, ''), 'a missing element'],
    ['E0717', () => `<?xml version="1.0" encoding="UTF-8"?>${dpsXml(harness.clock)}`, 'no signature'],
    ['E0714', () => good().replace('<vServ>1500.00', '<vServ>1500.01'), 'a change after signing'],
  ];

  it.each(cases)('gets %s alone', async (code, xml, _case) => {
    const answer = await post(xml());
    expect(answer.status).toBe(400);
    expect(codesOf(answer)).toEqual([code]);
  });

  it('gets E1225 when it is not gzip in base64, RNG9999 under a wrong name, 400 without JSON', async () => {
    for (const dpsXmlGZipB64 of ['%%%', Buffer.from('plain').toString('base64')]) {
      expect(codesOf(await harness.call('POST', '/nfse', { body: { dpsXmlGZipB64 } }))).toEqual(['E1225']);
    }
    const body = { nfseXmlGZipB64: gzipSync(good()).toString('base64') };
    expect(codesOf(await harness.call('POST', '/nfse', { body }))).toEqual(['RNG9999']);
  });

  it('says which element the schema refuses', async () => {
    const { json } = await post(good().replace(/<dCompet>.*<\/dCompet>/, ''));
    expect(json.erros).toMatchObject([{ Codigo: 'E1235', Complemento: expect.stringContaining('tpEmit') }]);
    expect(json.idDPS).toMatch(/^DPS/);
  });
});

describe('a DPS that breaks rules', () => {
  const broken: [readonly string[], DpsChanges][] = [
    [['E0004'], { id: `DPS${RIO}2${COMPANY}00001000000000000999` }],
    [['E0006'], { tpAmb: '1' }],
    [['E0010'], { serie: '50000' }],
    [['E0015'], { dCompet: '2099-01-01' }],
    [['E0037'], { municipality: '3500105' }],
    [['E0120'], { im: '<IM>123</IM>' }],
    [
      ['E0162'],
      {
        regTrib: '<opSimpNac>1</opSimpNac><regApTribSN>1</regApTribSN><regEspTrib>0</regEspTrib>',
        totTrib: MONEY_TOT_TRIB,
      },
    ],
    [['E0166'], { regTrib: '<opSimpNac>3</opSimpNac><regEspTrib>0</regEspTrib>' }],
    [['E0174'], { regTrib: MEI.replace('>0<', '>6<'), totTrib: '<indTotTrib>0</indTotTrib>' }],
    [['E0175'], { regTrib: SIMPLES.replace('>0<', '>6<') }],
    [['E0188'], { toma: customer('<CNPJ>11111111000192</CNPJ>') }],
    [['E0202'], { toma: customer(`<CNPJ>${COMPANY}</CNPJ>`) }],
    [['E0206'], { toma: customer('<CPF>12345678900</CPF>') }],
    [['E0310'], { code: '999999' }],
    [['E0316'], { nbs: '999999999' }],
    [['E0600'], { regTrib: MEI, totTrib: '<indTotTrib>0</indTotTrib>', tribMun: withPAliq() }],
    [['E0617'], { regTrib: NORMAL, totTrib: MONEY_TOT_TRIB, tribMun: withPAliq() }],
    [['E0625'], { tribMun: withPAliq() }],
    [['E0635'], { regTrib: SIMPLES.replace('<regApTribSN>1', '<regApTribSN>2'), tribMun: withPAliq() }],
    [['E0710'], { regTrib: MEI }],
    [['E0712'], { totTrib: '<indTotTrib>0</indTotTrib>' }],
    [['E0713'], { regTrib: NORMAL }],
    [['E0188', 'E0310', 'E0316'], { toma: customer('<CNPJ>11111111000192</CNPJ>'), code: '999999', nbs: '999999999' }],
  ];

  it.each(broken)('gets %j in one answer and leaves no note', async (codes, changes) => {
    const answer = await issue(harness, changes);
    expect(answer.status).toBe(400);
    expect(codesOf(answer)).toEqual(codes);
    expect(await ledger(harness)).toEqual([]);
  });

  it.each<[readonly string[], DpsChanges]>([
    [['E0112'], { provider: '<NIF>123</NIF>' }],
    [['E0114', 'E0115'], { provider: '<cNaoNIF>0</cNaoNIF>' }],
    [['E9996'], { tpEmit: '2', toma: '' }],
    [['E1235'], { amount: '90071992547409.92' }],
    [['E1235'], { reductions: '<vDescCondIncond><vDescIncond>999999999999999.99</vDescIncond></vDescCondIncond>' }],
  ])('gets %j, never RNG9999, where emitter or amount cannot be taken', async (codes, changes) => {
    const answer = await issue(harness, { ...changes, number: 95 });
    expect(codesOf(answer)).toEqual(codes);
  });

  it('takes the largest amount that it can hold', async () => {
    expect((await issue(harness, { amount: '90071992547409.91', number: 96 })).status).toBe(201);
  });

  it('gets E0008 by the clock of the authorizer', async () => {
    await harness.control('POST', 'clock', { offset_s: -120 });
    expect(codesOf(await issue(harness))).toEqual(['E0008']);
    expect(
      codesOf(await issue(harness, { dhEmi: brasiliaStamp(addSeconds(harness.clock.at, -121)), number: 90 })),
    ).toEqual([]);
    await harness.control('POST', 'clock', { offset_s: 0 });
  });

  it('gets E0718 when another company signed it, and 403 from a channel of another company', async () => {
    const other = await issueClientCertificate(harness.folder, {
      cnpj: OTHER_COMPANY,
      name: 'Outra',
      clock: harness.clock,
    });
    const foreign = issueBody(harness, { number: 91 }, other);
    expect(codesOf(await harness.call('POST', '/nfse', { body: foreign }))).toEqual(['E0718']);
    const own = issueBody(harness, { number: 91 });
    expect((await harness.call('POST', '/nfse', { body: own, identity: other })).status).toBe(403);
  });
});

describe('the registries', () => {
  const registry = (entry: object) => harness.control('POST', 'registry', { environment: 'test', ...entry });
  let last = 1000;
  const number = () => {
    last += 1;
    return last;
  };

  it('decide on the registration', async () => {
    await registry({ company: { cnpj: COMPANY, cnc: { municipal_registration: '777' } } });
    expect(codesOf(await issue(harness, { number: number() }))).toEqual(['E0116']);
    expect(codesOf(await issue(harness, { number: number(), im: '<IM>778</IM>' }))).toEqual(['E0119']);
    expect(codesOf(await issue(harness, { number: number(), im: '<IM>777</IM>' }))).toEqual([]);
    await registry({ company: { cnpj: COMPANY, cnc: { municipal_registration: '12.345-6/A' } } });
    expect(codesOf(await issue(harness, { number: number(), im: '<IM>12.345-6/A</IM>' }))).toEqual([]);
    await registry({ company: { cnpj: COMPANY, cnc: null } });
    expect(codesOf(await issue(harness, { number: number(), im: '<IM>777</IM>' }))).toEqual(['E0120']);
    await registry({ municipality: { ibge: RIO, registration_required: true } });
    expect(codesOf(await issue(harness, { number: number() }))).toEqual(['E0116']);
    await registry({ municipality: { ibge: RIO, registration_required: false } });
  });

  it('decide on the regime', async () => {
    await registry({ company: { cnpj: COMPANY, regime: 'normal' } });
    expect(codesOf(await issue(harness, { number: number() }))).toEqual(['E0160']);
    await registry({ company: { cnpj: COMPANY, regime: 'simples' } });
    expect(codesOf(await issue(harness, { number: number() }))).toEqual([]);
  });

  it('decide on convênio, services and customer, in one environment only', async () => {
    await registry({ municipality: { ibge: RIO, adherent: false } });
    expect(codesOf(await issue(harness, { number: number() }))).toEqual(['E0038']);
    await registry({ municipality: { ibge: RIO, adherent: true, national_emitter: false } });
    expect(codesOf(await issue(harness, { number: number() }))).toEqual(['E0039']);
    expect(codesOf(await issue(harness, { number: number(), tpAmb: '1' }, { mode: 'live' }))).toEqual([]);
    await registry({ municipality: { ibge: RIO, national_emitter: true, service_codes: ['010701'] } });
    expect(codesOf(await issue(harness, { number: number() }))).toEqual(['E0312']);
    await registry({ municipality: { ibge: RIO, service_codes: ['010101'], customer_required: true } });
    expect(codesOf(await issue(harness, { number: number(), toma: '' }))).toEqual(['E0187']);
    expect(codesOf(await issue(harness, { number: number() }))).toEqual([]);
  });
});

describe('the declarations of other makers’ clients', () => {
  const others = [
    '<?xml version="1.0" encoding="utf-8"?>',
    "<?xml version='1.0' encoding='utf-8'?>",
    "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>",
    '<?xml version="1.0" encoding="utf-8" standalone="no" ?>\r\n',
  ];
  let strict: SimulatorHarness;
  beforeAll(async () => {
    strict = await openSimulatorHarness({ strict: true });
  });
  afterAll(() => strict.close());

  it.each(others.map((declaration, at) => [declaration, 700 + at] as const))(
    'pass, unless the simulator is strict: %s',
    async (declaration, number) => {
      const bodyOf = ({ clock, identity }: SimulatorHarness) => {
        const signed = signDps(dpsXml(clock, { number }), identity).toString();
        const xml = signed.replace(/^<\?xml[^>]*\?>/, declaration);
        return { dpsXmlGZipB64: gzipBase64(Buffer.from(xml)) };
      };
      const taken = await harness.call('POST', '/nfse', { body: bodyOf(harness) });
      expect([taken.status, codesOf(taken)]).toEqual([201, []]);
      const refused = await strict.call('POST', '/nfse', { body: bodyOf(strict) });
      expect(codesOf(refused)).toEqual(['E1229']);
    },
  );
});

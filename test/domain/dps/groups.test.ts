import { describe, expect, it } from 'vitest';
import { CustomerNameMissing, isCustomerNameMissing, toma } from '../../../src/domain/dps/customer.js';
import { prest } from '../../../src/domain/dps/provider.js';
import { comExt, serv } from '../../../src/domain/dps/service.js';
import { latinField } from '../../../src/domain/dps/transliterate.js';
import { type Taxation, valores } from '../../../src/domain/dps/values.js';
import type { Customer, IssuerFacts } from '../../../src/domain/invoice/events.js';

const issuer: IssuerFacts = {
  municipality: '2111300',
  taxRegime: 'simples',
  simplesAssessment: 'all',
  specialRegime: 6,
  approximateTaxPercent: '6.00',
  municipalRegistration: '1234567',
};
const { municipalRegistration: _im, approximateTaxPercent: _percent, ...bare } = issuer;
const codes = (iso: string) => ({ USD: '220' })[iso];

describe('prest, the provider', () => {
  const provider = (im: string, regime: string) =>
    `<prest><CNPJ>12345678000195</CNPJ>${im}<regTrib>${regime}</regTrib></prest>`;
  const IM = '<IM>1234567</IM>';

  it.each<[string, IssuerFacts, boolean, string, string]>([
    [
      'the Simples alone',
      issuer,
      false,
      IM,
      '<opSimpNac>3</opSimpNac><regApTribSN>1</regApTribSN><regEspTrib>0</regEspTrib>',
    ],
    [
      'the Simples with ISSQN outside',
      { ...issuer, simplesAssessment: 'federal_only' },
      ...([false, IM, '<opSimpNac>3</opSimpNac><regApTribSN>2</regApTribSN><regEspTrib>6</regEspTrib>'] as const),
    ],
    [
      'the Simples above its limit',
      { ...issuer, simplesAssessment: 'none' },
      ...([false, IM, '<opSimpNac>3</opSimpNac><regApTribSN>3</regApTribSN><regEspTrib>6</regEspTrib>'] as const),
    ],
    [
      'the Simples above its limit, exporting',
      { ...issuer, simplesAssessment: 'none' },
      ...([true, IM, '<opSimpNac>3</opSimpNac><regApTribSN>3</regApTribSN><regEspTrib>0</regEspTrib>'] as const),
    ],
    [
      'a MEI, who needs no registration and has no special regime',
      { ...issuer, taxRegime: 'mei', simplesAssessment: 'none' },
      ...([false, '', '<opSimpNac>2</opSimpNac><regEspTrib>0</regEspTrib>'] as const),
    ],
    [
      'the normal regime',
      { ...issuer, taxRegime: 'normal' },
      ...([false, IM, '<opSimpNac>1</opSimpNac><regEspTrib>6</regEspTrib>'] as const),
    ],
    [
      'the normal regime, exporting',
      { ...issuer, taxRegime: 'normal' },
      ...([true, IM, '<opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib>'] as const),
    ],
    [
      'a provider without a municipal registration',
      { ...bare, taxRegime: 'normal', specialRegime: 0 },
      ...([false, '', '<opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib>'] as const),
    ],
  ])('in %s', (_regime, facts, isExport, im, regime) => {
    expect(prest('12345678000195', facts, !isExport)).toBe(provider(im, regime));
  });
});

describe('toma, the customer', () => {
  const address = {
    street: 'ul. Łąkowa',
    number: '1–A',
    district: 'Śródmieście',
    city: 'Łódź',
    state: 'Łódzkie',
    postalCode: '90-001',
    country: 'PL',
  };
  const end =
    '<end><endExt><cPais>PL</cPais><cEndPost>90-001</cEndPost><xCidade>Łódź</xCidade><xEstProvReg>Łódzkie</xEstProvReg></endExt>' +
    '<xLgr>ul. Lakowa</xLgr><nro>1-A</nro><xBairro>Sródmiescie</xBairro></end>';

  it.each<[string, Customer | undefined, string | undefined]>([
    ['nobody', undefined, undefined],
    ['a name without a document', { type: 'br', name: 'Maria' }, undefined],
    [
      'a person',
      { type: 'br', document: '12345678909', name: 'Maria' },
      '<toma><CPF>12345678909</CPF><xNome>Maria</xNome></toma>',
    ],
    [
      'a company',
      { type: 'br', document: '11111111000191', name: 'A & B' },
      '<toma><CNPJ>11111111000191</CNPJ><xNome>A &amp; B</xNome></toma>',
    ],
    [
      'somebody abroad with a tax id',
      { type: 'foreign', name: 'Żółw', taxId: 'PL1', address },
      `<toma><NIF>PL1</NIF><xNome>Żółw</xNome>${end}</toma>`,
    ],
    [
      'somebody abroad who is exempt from one',
      { type: 'foreign', name: 'Żółw', taxIdAbsenceReason: 'exempt', address },
      `<toma><cNaoNIF>1</cNaoNIF><xNome>Żółw</xNome>${end}</toma>`,
    ],
    [
      'somebody whose country has none',
      { type: 'foreign', name: 'Żółw', taxIdAbsenceReason: 'not_required', address },
      `<toma><cNaoNIF>2</cNaoNIF><xNome>Żółw</xNome>${end}</toma>`,
    ],
  ])('is %s', (_who, customer, xml) => {
    expect(toma(customer)).toBe(xml);
    expect(isCustomerNameMissing(customer)).toBe(false);
  });

  it.each<[string, Customer]>([
    ['in Brazil', { type: 'br', document: '11111111000191' }],
    ['abroad', { type: 'foreign', taxId: 'PL1', address }],
  ])('cannot be identified %s without a name, which is known beforehand', (_where, customer) => {
    expect(isCustomerNameMissing(customer)).toBe(true);
    expect(() => toma(customer)).toThrow(new CustomerNameMissing('the customer has a document but no name'));
    expect(() => toma(customer)).toThrow(expect.objectContaining({ name: 'CustomerNameMissing' }));
  });

  it('has an address that Latin letters can write', () => {
    expect(() => latinField('xLgr', '日本')).toThrow('the text of xLgr has no Latin form');
  });
});

describe('serv, the service', () => {
  const line = { cnae: '6201501', serviceCode: '010101' };

  it('is performed where the provider is, with the codes that the line has', () => {
    expect(serv('2111300', line, 'Aula\n<1>', undefined, codes)).toBe(
      '<serv><locPrest><cLocPrestacao>2111300</cLocPrestacao></locPrest>' +
        '<cServ><cTribNac>010101</cTribNac><xDescServ>Aula\n&lt;1&gt;</xDescServ></cServ></serv>',
    );
    expect(serv('2111300', { ...line, nbs: '115021000', municipalCode: '003' }, 'Aula', undefined, codes)).toBe(
      '<serv><locPrest><cLocPrestacao>2111300</cLocPrestacao></locPrest>' +
        '<cServ><cTribNac>010101</cTribNac><cTribMun>003</cTribMun><xDescServ>Aula</xDescServ><cNBS>115021000</cNBS></cServ></serv>',
    );
  });
});

describe('comExt, the foreign trade of an export', () => {
  const XML =
    '<comExt><mdPrestacao>1</mdPrestacao><vincPrest>0</vincPrest><tpMoeda>220</tpMoeda><vServMoeda>2000.05</vServMoeda>' +
    '<mecAFComexP>01</mecAFComexP><mecAFComexT>01</mecAFComexT><movTempBens>1</movTempBens><mdic>0</mdic></comExt>';

  it('names the currency by its Central Bank code', () => {
    expect(comExt({ currency: 'USD', amountInCents: 200_005 }, codes)).toBe(XML);
    expect(
      serv(
        '2111300',
        { cnae: '6201501', serviceCode: '010101' },
        'A',
        { currency: 'USD', amountInCents: 200_005 },
        codes,
      ),
    ).toContain(`</cServ>${XML}</serv>`);
  });

  it('is impossible without such a code', () => {
    expect(() => comExt({ currency: 'XXX', amountInCents: 1 }, codes)).toThrow('no Central Bank code for XXX');
  });
});

describe('valores, the amount and its taxes', () => {
  const values = (country: string, taxes: string) =>
    `<valores><vServPrest><vServ>80.00</vServ></vServPrest><trib><tribMun>${country}<tpRetISSQN>1</tpRetISSQN></tribMun>` +
    `<totTrib>${taxes}</totTrib></trib></valores>`;
  const DUE = '<tribISSQN>1</tribISSQN>';

  it.each<[string, IssuerFacts, string | undefined, string, string]>([
    ['the Simples', issuer, undefined, DUE, '<pTotTribSN>6.00</pTotTribSN>'],
    ['the Simples without a percentage', bare, undefined, DUE, '<pTotTribSN>0.00</pTotTribSN>'],
    ['a MEI', { ...issuer, taxRegime: 'mei' }, undefined, DUE, '<indTotTrib>0</indTotTrib>'],
    [
      'the normal regime',
      { ...issuer, taxRegime: 'normal' },
      ...([undefined, DUE] as const),
      '<pTotTrib><pTotTribFed>6.00</pTotTribFed><pTotTribEst>0.00</pTotTribEst><pTotTribMun>0.00</pTotTribMun></pTotTrib>',
    ],
    ...(['mei', 'simples', 'normal'] as const).map(
      (taxRegime) =>
        [
          `a company with a table (${taxRegime})`,
          { ...issuer, taxRegime, approximateTaxes: { federal: '13.45', state: '0.00', municipal: '2.90' } },
          ...([undefined, DUE] as const),
          '<pTotTrib><pTotTribFed>13.45</pTotTribFed><pTotTribEst>0.00</pTotTribEst><pTotTribMun>2.90</pTotTribMun></pTotTrib>',
        ] as [string, IssuerFacts, undefined, string, string],
    ),
    [
      'an export, with the country of the result',
      issuer,
      ...(['PL', '<tribISSQN>3</tribISSQN><cPaisResult>PL</cPaisResult>', '<pTotTribSN>6.00</pTotTribSN>'] as const),
    ],
  ])('of %s', (_what, facts, country, tribMun, taxes) => {
    const taxation: Taxation = country === undefined ? { kind: 'due' } : { kind: 'export', resultCountry: country };
    expect(valores(8000, facts, taxation)).toBe(values(tribMun, taxes));
  });
});

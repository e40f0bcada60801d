import { describe, expect, it } from 'vitest';
import { layoutOf } from '../../../src/adapters/pdf/layout.js';
import { itWith } from '../../support/needs.js';
import { sampleCases } from './support/cases.js';
import { fullXml } from './support/full-note.js';
import { alteredXml, noteOf } from './support/notes.js';

/** The content below a label; of several equal labels, below the first one from the top. */
const below = (xml: Buffer) => {
  const { texts } = layoutOf(noteOf(xml), false);
  return (label: string): string | undefined => {
    const at = texts.find(({ text }) => text === label);
    const value = texts.find(({ left, top }) => left === at?.left && top > at.top + 0.1 && top < at.top + 0.35);
    return value?.text;
  };
};

const sampleOf = (name: string): Buffer => {
  const found = sampleCases.find((each) => each.name.startsWith(name));
  if (found === undefined) throw new Error(`no sample ${name}`);
  return found.xml();
};

const SN = 'Simples Nacional na Data de Competência';
const APURACAO = 'Regime de Apuração Tributária pelo SN';

const EXPECTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'dps-01': { [SN]: 'Optante - Microempresa ou Empresa de ...', 'CNPJ / CPF / NIF': '12.345.678/0001-95' },
  'dps-03': { 'SITUAÇÃO DA NFS-e': 'NFS-e MEI', [SN]: 'Optante - Microempreendedor Individua...', [APURACAO]: '-' },
  'dps-04': {
    [SN]: 'Não Optante',
    IRRF: 'R$ 150,00',
    'Contribuições Sociais - Retidas': 'R$ 465,00',
    'PIS - Débito Apuração Própria': 'R$ 65,00',
    'Descrição Contrib. Sociais - Retidas': 'PIS/COFINS/CSLL Retidos',
    'CST / cClassTrib': '000 / 000001',
    'VALOR LÍQUIDO DA NFS-e': 'R$ 9.385,00',
  },
  'dps-05': { 'Tipo de Tributação do ISSQN': 'Exportação de serviço', 'ISSQN Apurado': '-' },
  'dps-06': { 'NÚMERO DA DPS': '3' },
  'nfse-07': {
    'COMPETÊNCIA DA NFS-E': '03/03/2026',
    'DATA E HORA DA EMISSÃO DA NFS-E': '03/03/2026 12:17:37',
    'DATA E HORA DA EMISSÃO DA DPS': '03/03/2026 12:17:25',
    'Indicador Municipal (Inscrição)': '1234567',
    'Código IBGE / CEP': '2111300 / 65.045-215',
    'VALOR DA OPERAÇÃO / SERVIÇO': 'R$ 51,60',
    'VALOR LÍQUIDO DA NFS-e + IBS/CBS': '-',
  },
  'nfse-08': {
    'Código de Tributação Nacional / Municipal': '01.01.01 / 001',
    'Código da NBS': '1.1502.10.00',
    'Exclusões e Reduções da Base de Cálculo': 'R$ 1.260,00',
    'Alíquota - IBS UF / IBS Mun': '0,10% / 0,00%',
    'Total do IBS/CBS': 'R$ 87,40',
    'VALOR LÍQUIDO DA NFS-e + IBS/CBS': 'R$ 9.385,00',
  },
  'nfse-09': { Telefone: '(91) 0000-0000', 'BC ISSQN': 'R$ 230,00', 'Alíquota Aplicada': '5,00%' },
  'nfse-10': {
    'Município / Sigla UF / País de Incidência do ISSQN': 'US',
    'Local da Prestação / Sigla UF / País': 'Rio de Janeiro / RJ / BR',
  },
};

describe('the content of the DANFSe', () => {
  for (const [name, fields] of Object.entries(EXPECTED)) {
    itWith('samples', `is what the XML says: ${name}`, () => {
      const value = below(sampleOf(name));
      expect(Object.fromEntries(Object.keys(fields).map((label) => [label, value(label)]))).toEqual(fields);
    });
  }

  it('has suspension, benefit, deductions, discounts and retentions', () => {
    const value = below(fullXml());
    expect(value('Suspensão da Exigibilidade do ISSQN')).toBe('Exigibilidade Suspensa por Decisão Ju...');
    expect(value('Número Processo Suspensão')).toBe('000123456789012345678901234567');
    expect(value('Benefício Municipal')).toBe('Redução da BC em valor');
    expect(value('Cálculo do BM')).toBe('R$ 10,00');
    expect(value('Total Deduções/Reduções')).toBe('R$ 1.200,50');
    expect(value('Desconto Incondicionado')).toBe('R$ 100,00');
    expect(value('Desconto Condicionado')).toBe('R$ 50,00');
    expect(value('Retenção do ISSQN')).toBe('Retido pelo Intermediário');
    expect(value('Red. Alíquota IBS / Red. Alíquota CBS')).toBe('60,00% / 60,00% / 60,00%');
  });

  it.each([
    ['1', 'R$ 1.225,00', 'R$ 0,00', 'R$ 0,00'],
    ['2', 'R$ 465,00', 'R$ 0,00', 'R$ 760,00'],
    ['3', 'R$ 465,00', 'R$ 0,00', 'R$ 760,00'],
  ])('counts PIS and COFINS as withheld for tpRetPisCofins 1 only: %s', (code, withheld, pis, cofins) => {
    const value = below(alteredXml('reform', ['<tpRetPisCofins>2<', `<tpRetPisCofins>${code}<`]));
    expect(value('Contribuições Sociais - Retidas')).toBe(withheld);
    expect(value('PIS - Débito Apuração Própria')).toBe(pis);
    expect(value('COFINS - Débito Apuração Própria')).toBe(cofins);
    expect(value('Exclusões e Reduções da Base de Cálculo')).toBe('R$ 1.260,00');
  });

  it.each([
    ['2026-12-31', 'R$ 1.260,00'],
    ['2027-01-01', 'R$ 500,00'],
  ])(
    'excludes PIS and COFINS from the base of IBS and CBS for competences up to 2026 only: %s',
    (competence, expected) => {
      const value = below(alteredXml('reform', ['<dCompet>2025-12-30<', `<dCompet>${competence}<`]));
      expect(value('Exclusões e Reduções da Base de Cálculo')).toBe(expected);
    },
  );

  it('cuts a name longer than 80 characters to 77 and an ellipsis', () => {
    expect(arrangedTexts('i'.repeat(81))).toContain(`${'i'.repeat(77)}...`);
    expect(arrangedTexts('i'.repeat(80))).toContain('i'.repeat(80));
  });

  it.each([
    ['Llanfairpwllgwyngyllgogerychwyrndrobwll', 'Wales', 'Llanfairpwllgwyngyllg... / Wales / GB'],
    ['Bath', 'Bath and North East Somerset', 'Bath / Bath and North East So... / GB'],
    ['Llanfairpwllgwyngyll', 'Bath and North East Somerset', 'Llanfairpwll... / Bath and No... / GB'],
  ])('keeps state and country of a customer in %s, %s', (city, state, shown) => {
    const xml = alteredXml('exported', ['New York', city], ['>NY<', `>${state}<`], ['<cPais>US', '<cPais>GB']);
    const texts = layoutOf(noteOf(xml), false).texts.map(({ text }) => text);
    expect(texts.join(' ')).toContain(shown);
  });

  it('masks a telephone as one of Brazil only for a party of Brazil', () => {
    const of = (...changes: Parameters<typeof alteredXml>[1][]) =>
      layoutOf(
        noteOf(alteredXml('exported', ['</end></toma>', '</end><fone>2125551234</fone></toma>'], ...changes)),
        false,
      )
        .texts.map(({ text }) => text)
        .filter((text) => /2555/.test(text) || text.includes('2125551234'));
    expect(of()).toEqual(['2125551234']);
    const endNac = '<endNac><cMun>3303302</cMun><CEP>24020077</CEP></endNac>';
    const endExt =
      '<endExt><cPais>US</cPais><cEndPost>10001</cEndPost><xCidade>New York</xCidade><xEstProvReg>NY</xEstProvReg></endExt>';
    expect(of([endExt, endNac])).toEqual(['2125551234']);
    expect(of([endExt, endNac], ['<cNaoNIF>1</cNaoNIF>', '<CPF>12345678909</CPF>'])).toEqual(['(21) 2555-1234']);
  });

  it('gives a name of wide letters a second line instead of cutting it short of its 80 characters', () => {
    const lines = arrangedTexts('W'.repeat(80)).filter((text) => /^W+$/.test(text));
    expect(lines.length).toBe(2);
    expect(lines.join('')).toBe('W'.repeat(80));
  });

  it('prints a description of 2,000 characters whole, and cuts a longer one of another maker', () => {
    expect(descriptionOf('i'.repeat(2000))).toBe('i'.repeat(2000));
    expect(descriptionOf('i'.repeat(2001))).toBe(`${'i'.repeat(1997)}...`);
  });

  it.each([0, 500, 1500])('prints it whole on a page with every block and %i characters of complement', (added) => {
    const xml = fullXml({ described: 1991, added }).toString().replace('</xDescServ>', ' its end.</xDescServ>');
    const texts = layoutOf(noteOf(Buffer.from(xml)), false).texts.map(({ text }) => text);
    expect(texts.some((text) => text.endsWith('its end.'))).toBe(true);
  });
});

const arrangedTexts = (customer: string): readonly string[] =>
  layoutOf(noteOf(alteredXml('production', ['Maria da Silva Exemplo', customer])), false).texts.map(({ text }) => text);

const descriptionOf = (description: string): string =>
  layoutOf(noteOf(alteredXml('reform', ['Desenvolvimento de sistemas', description])), false)
    .texts.filter(({ text }) => /^i+(\.\.\.)?$/.test(text))
    .map(({ text }) => text)
    .join('');

describe('what a note of another maker lacks', () => {
  const LOCATION = 'Local da Prestação / Sigla UF / País';
  const INCIDENCE = 'Município / Sigla UF / País de Incidência do ISSQN';

  it('is the name of a municipality, which is printed by its code', () => {
    const lacking = alteredXml(
      'production',
      ['<xLocPrestacao>São Luís</xLocPrestacao>', ''],
      ['<xLocIncid>São Luís</xLocIncid>', ''],
    );
    const value = below(lacking);
    expect([value(LOCATION), value(INCIDENCE)]).toEqual(['São Luís / MA / BR', 'São Luís / MA / BR']);
  });
});

describe('a name in a script that the font lacks', () => {
  const nameOf = (name: string): string | undefined =>
    noteOf(alteredXml('production', ['Maria da Silva Exemplo', name])).customer?.xNome;

  it.each([
    ['北京科技有限公司', 'BeiJingKeJiYouXianGongSi'],
    ['شركة المثال', 'shrkh lmthl'],
    ['สมชาย', 'smchay'],
    ['합자회사', 'HabJaHoeSa'],
    ['חברה (בעמ) Ltda', "hvrh (v'm) Ltda"],
    ['Ω Αθήνα', 'Ω Αθήνα'],
    ['Москва', 'Москва'],
    ['José Ünlü', 'José Ünlü'],
    ['Loja 😀', 'Loja 😀'],
  ])('%s is printed as %s', (name, printed) => {
    expect(nameOf(name)).toBe(printed);
  });
});

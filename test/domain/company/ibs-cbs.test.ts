import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type AnnexVIII, type IbsCbsOptions, onlyIbsCbsOption } from '../../../src/domain/company/service-rules.js';
import type { IssuerFacts, ServiceLine } from '../../../src/domain/invoice/events.js';
import { domesticAddress } from '../../../src/domain/registry/entry.js';
import { annexVIII, shippedCatalogue } from '../../../src/tables/catalogue.js';
import { officialAnnexVIIIFile } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';

const line: ServiceLine = { cnae: '6201501', serviceCode: '010101', nbs: '115022000' };
const normal: IssuerFacts = {
  ...{ municipality: '3304557', taxRegime: 'normal', simplesAssessment: 'all', specialRegime: 0 },
};

const annex =
  (cIndOp: string, cClassTrib = '000001'): AnnexVIII =>
  (): IbsCbsOptions => ({ cIndOp: cIndOp.split(' '), cClassTrib: cClassTrib.split(' ') });

describe('operation and classification for IBS and CBS', () => {
  it.each(['100101', '100301', '100501', '030101', '050101', '050201'])(
    '%s is settled when it stands alone',
    (cIndOp) => {
      const settled = { cIndOp, cClassTrib: '000001' };
      expect(onlyIbsCbsOption(line, normal, annex(cIndOp))).toEqual(settled);
    },
  );

  it.each<[string, AnnexVIII, Partial<ServiceLine>?, Partial<IssuerFacts>?]>([
    ['of a MEI', annex('100301'), {}, { taxRegime: 'mei' }],
    [
      'of a ME/EPP with all taxes outside the Simples',
      annex('100301'),
      {},
      { taxRegime: 'simples', simplesAssessment: 'none' },
    ],
    ['where the operation is a choice', annex('050101 050102')],
    ['where the classification is a choice', annex('100301', '000001 200043')],
    ['where the classification has conditions', annex('100301', '200052')],
    ['of a line that is not in the annex', () => undefined],
    ['of real estate, whose group the API has no fields for', annex('020201')],
    ['of an event', annex('040101')],
    ['of transport, whose place nobody tells', annex('060101')],
    ['of freight, whose place nobody tells', annex('070101')],
    ['of a service that demands tpOper (E0903)', annex('100301'), { serviceCode: '171201' }],
  ])('are left open %s', (_case, table, changes = {}, issuer = {}) => {
    expect(onlyIbsCbsOption({ ...line, ...changes }, { ...normal, ...issuer }, table)).toBeUndefined();
  });

  it('are left open for a line without an NBS, which the annex is never asked about', () => {
    const asked = () => {
      throw new Error('asked');
    };
    expect(onlyIbsCbsOption({ cnae: '6201501', serviceCode: '010101' }, normal, asked)).toBeUndefined();
  });

  it('come from the shipped annex, with a choice where it has one', () => {
    expect(annexVIII('010101', '115022000')).toEqual({ cIndOp: ['100301'], cClassTrib: ['000001'] });
    expect(annexVIII('010701', '115013000')).toEqual({
      cIndOp: ['050101', '050102', '100301'],
      cClassTrib: ['000001'],
    });
    expect(annexVIII('010101', '999999999')).toBeUndefined();
  });

  itWith('samples', 'are in the shipped annex as in the official one', () => {
    const [, ...rows] = readFileSync(officialAnnexVIIIFile, 'utf8').trimEnd().split('\n');
    for (const row of rows) {
      const [, codes = '', nbs = '', , , , cIndOp = '', cClassTrib = ''] = row.split('\t');
      const options = { cIndOp: cIndOp.split('|'), cClassTrib: cClassTrib.split('|') };
      // Items 99.02 to 99.04 of the annex are in no list of services that can be issued.
      for (const code of codes.split('|').filter(shippedCatalogue.isServiceCode))
        expect(annexVIII(code, nbs)).toEqual(options);
    }
    expect(rows.length).toBeGreaterThan(900);
  });
});

describe('the address of a customer in Brazil', () => {
  const entry = {
    ...{ street: 'Av. Rio Branco', number: '123', district: 'Centro', city: 'Niterói', state: 'RJ' },
    postalCode: '24020077',
  };
  const codeOf = (city: string, state: string) => (city === 'Niterói' && state === 'RJ' ? '3303302' : undefined);
  const { city: _city, state: _state, ...place } = entry;

  it('is the registry’s, with the code of its municipality', () => {
    expect(domesticAddress(entry, codeOf)).toEqual({ ...place, municipality: '3303302' });
    expect(domesticAddress({ ...entry, complement: 'Sala 1' }, codeOf)).toEqual({
      ...{ ...place, municipality: '3303302', complement: 'Sala 1' },
    });
  });

  it.each([
    ['a municipality that is not in the table', { city: 'Niteroy' }],
    ['a postal code without eight digits', { postalCode: '24020-077' }],
    ['a street too long for the layout', { street: 'x'.repeat(256) }],
    ['a number too long for the layout', { number: 'x'.repeat(61) }],
    ['a district too long once it is transliterated', { district: `${'x'.repeat(58)}€` }],
    ['a complement too long for the layout', { complement: 'x'.repeat(157) }],
    ['a street without Latin form', { street: '日本' }],
    ['a blank number', { number: ' ' }],
  ])('is none with %s', (_case, changes) => {
    expect(domesticAddress({ ...entry, ...changes }, codeOf)).toBeUndefined();
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { IbsCbsOfCompany } from '../../../src/domain/company/events.js';
import {
  type AnnexVIII,
  declarationOf,
  fromAnnex,
  type IbsCbsOptions,
  resolveDeclaration,
} from '../../../src/domain/company/ibs-cbs.js';
import type { Customer } from '../../../src/domain/invoice/events.js';
import { domesticAddress } from '../../../src/domain/registry/entry.js';
import { annexVIII, classification, ibsCbsTables, shippedCatalogue } from '../../../src/tables/catalogue.js';
import { officialAnnexVIIIFile } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';

const line = { serviceCode: '010101', nbs: '115022000' };

const annex =
  (cIndOp: string, cClassTrib = '000001'): AnnexVIII =>
  (): IbsCbsOptions => ({ cIndOp: cIndOp.split(' '), cClassTrib: cClassTrib.split(' ') });

const settled = (table: AnnexVIII, changes: object = {}, company?: IbsCbsOfCompany) =>
  resolveDeclaration({ ...line, ...changes }, company, { annexVIII: table, classification });

const services = (choice: Partial<IbsCbsOfCompany['services'][number]>): IbsCbsOfCompany => ({
  declare: true,
  services: [{ serviceCode: '010101', ...choice }],
});

describe('operation and classification of a line', () => {
  it.each([
    ['100301', '000001', 'customer'],
    ['100501', '000001', 'customer'],
    ['030101', '200029', 'provider'],
    ['050201', '820007', 'provider'],
  ])('%s and %s are settled where annex VIII has nothing else', (operation, cClassTrib, place) => {
    expect(settled(annex(operation, cClassTrib))).toEqual({
      kind: 'resolved',
      operation,
      place,
      classification: cClassTrib,
    });
  });

  it.each<[string, AnnexVIII, string[], object?]>([
    ['the operation is a choice', annex('050101 050102'), ['ind_op']],
    ['the classification is a choice', annex('100301', '000001 200043'), ['class_trib']],
    ['both are', annex('050101 050102', '000001 200043'), ['ind_op', 'class_trib']],
    ['the line is not in the annex', () => undefined, ['ind_op', 'class_trib']],
    ['it has no NBS (E0322)', annex('100301'), ['nbs', 'ind_op', 'class_trib'], { nbs: undefined }],
    ['it is about real estate', annex('020201'), ['imovel (E0932)']],
    ['it is an event', annex('040101'), ['atvEvento']],
    ['nobody said where a journey begins', annex('060101'), ['ind_op']],
    ['nobody said where a load goes', annex('070101'), ['ind_op']],
    ['the service demands tpOper', annex('100301'), ['tpOper (E0903)'], { serviceCode: '171201' }],
    ['a suspension has no regular taxation', annex('100301', '550016'), ['class_trib_regular']],
  ])('are missing where %s', (_case, table, data, changes = {}) => {
    expect(settled(table, changes)).toEqual({ kind: 'missing', data });
  });

  it('are what an operator chose for the line, and before that for the company', () => {
    const chosen = { indOp: '060101', classTrib: '400001' };
    const none: AnnexVIII = () => undefined;
    expect(settled(none, chosen)).toMatchObject({ operation: '060101', place: 'confirmed', classification: '400001' });
    expect(settled(none, chosen, services({ indOp: '030101' }))).toMatchObject({
      operation: '030101',
      classification: '400001',
    });
    expect(settled(none, chosen, services({ classTrib: '200052' }))).toMatchObject({
      operation: '060101',
      classification: '200052',
    });
    expect(settled(annex('100301'), {}, services({ serviceCode: '010201', indOp: '030101' }))).toMatchObject({
      operation: '100301',
    });
  });

  it('bring the regular taxation of whoever chose the classification', () => {
    const suspended = { indOp: '100301', classTrib: '550016', classTribRegular: '000001' };
    expect(settled(() => undefined, suspended)).toMatchObject({ classification: '550016', regular: '000001' });
    expect(settled(() => undefined, suspended, services({ classTrib: '000001' }))).not.toHaveProperty('regular');
  });

  it('are filled into the shipped catalogue where the annex settles them', () => {
    expect(fromAnnex('010101', '115022000', annexVIII)).toEqual({ indOp: '100301', classTrib: '000001' });
    const [shipped] = shippedCatalogue.linesOf('6201501').filter(({ serviceCode }) => serviceCode === '010101');
    expect(shipped).toMatchObject({ indOp: '100301', classTrib: '000001' });
    expect(fromAnnex('010701', '115013000', annexVIII)).toEqual({ classTrib: '000001' });
    expect(fromAnnex('010101', '115029000', annexVIII)).toEqual({ indOp: '100301' });
    expect(fromAnnex('160101', '999999999', annexVIII)).toEqual({});
  });
});

const address = { street: 'A', number: '1', district: 'C', municipality: '3303302', postalCode: '24020077' };
const known: Customer = { type: 'br', document: '11111111000191', name: 'C', address };
const person: Customer = { type: 'br', document: '12345678909', name: 'Maria' };
const abroad: Customer = {
  type: 'foreign',
  name: 'ACME',
  taxId: '1',
  address: { street: 'M', number: '1', district: 'D', city: 'A', state: 'TX', postalCode: '1', country: 'US' },
};

const declared = (changes: object = {}, operation = '100301', cClassTrib = '000001') =>
  declarationOf(resolveDeclaration({ ...line, indOp: operation, classTrib: cClassTrib }, undefined, ibsCbsTables), {
    taxRegime: 'normal',
    serviceCode: '010101',
    competence: '2026-11-23',
    customer: known,
    company: undefined,
    ...changes,
  });

describe('the declaration of an invoice', () => {
  it.each([
    ['normal', '2025-12-31', false],
    ['normal', '2026-01-01', true],
    ['normal', '2026-12-31', true],
    ['normal', '2027-01-01', true],
    ['simples', '2026-12-31', false],
    ['simples', '2027-01-01', true],
    ['mei', '2026-12-31', false],
    ['mei', '2027-01-01', true],
  ])('of the regime %s on %s: %s', (taxRegime, competence, isDeclared) => {
    expect(declared({ taxRegime, competence }) !== undefined).toBe(isDeclared);
  });

  it.each<[string, Customer | undefined, string, object | undefined]>([
    ['a company with an address', known, '100301', { cIndOp: '100301', cClassTrib: '000001' }],
    ['a company with an address', known, '050102', { cIndOp: '050102', cClassTrib: '000001' }],
    ['a person, whose address nobody knows', person, '100301', undefined],
    ['a person at the provider', person, '030101', { cIndOp: '030101', cClassTrib: '000001' }],
    ['a name without a document', { type: 'br', name: 'Maria' }, '100301', undefined],
    ['a name without a document', { type: 'br', name: 'Maria' }, '030101', { cIndOp: '030101', cClassTrib: '000001' }],
    ['nobody', undefined, '100301', undefined],
    ['nobody', undefined, '050101', { cIndOp: '050101', cClassTrib: '000001' }],
    ['a customer abroad', abroad, '100301', undefined],
    ['a customer abroad at the provider', abroad, '030101', { cIndOp: '030101', cClassTrib: '000001' }],
  ])('for %s (%#)', (_case, customer, operation, expected) => {
    expect(declared({ customer }, operation)).toEqual(expected);
  });

  it.each([
    ['100301', '100302'],
    ['100501', '100502'],
    ['100101', '100102'],
    ['030102', undefined],
  ])(
    'for a customer abroad has, for %s, the operation %s and the classification that the company chose',
    (one, other) => {
      const company: IbsCbsOfCompany = { declare: true, exportClassTrib: '410027', services: [] };
      const expected = other === undefined ? undefined : { cIndOp: other, cClassTrib: '410027' };
      expect(declared({ customer: abroad, company }, one)).toEqual(expected);
    },
  );

  it.each([
    ['100301', undefined],
    ['050102', undefined],
    ['030104', { cIndOp: '030104', cClassTrib: '000001' }],
    ['050101', { cIndOp: '050101', cClassTrib: '000001' }],
  ])(
    'for a customer abroad is no export where the ISSQN is due at the place of performance (E0529): %s',
    (operation, expected) => {
      const company: IbsCbsOfCompany = { declare: true, exportClassTrib: '410004', services: [] };
      expect(declared({ customer: abroad, company, serviceCode: '110201' }, operation)).toEqual(expected);
    },
  );

  it('is none for a company that declares none', () => {
    expect(declared({ company: { declare: false, services: [] } })).toBeUndefined();
  });
});

describe('annex VIII', () => {
  it('comes with a choice where it has one', () => {
    expect(annexVIII('010101', '115022000')).toEqual({ cIndOp: ['100301'], cClassTrib: ['000001'] });
    expect(annexVIII('010701', '115013000')).toEqual({
      cIndOp: ['050101', '050102', '100301'],
      cClassTrib: ['000001'],
    });
    expect(annexVIII('010101', '999999999')).toBeUndefined();
  });

  itWith('samples', 'is shipped as the official one', () => {
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
    street: 'Av. Rio Branco',
    number: '123',
    district: 'Centro',
    city: 'Niterói',
    state: 'RJ',
    postalCode: '24020077',
  };
  const codeOf = (city: string, state: string) => (city === 'Niterói' && state === 'RJ' ? '3303302' : undefined);
  const { city: _city, state: _state, ...place } = entry;

  it('is the registry’s, with the code of its municipality', () => {
    expect(domesticAddress(entry, codeOf)).toEqual({ ...place, municipality: '3303302' });
    expect(domesticAddress({ ...entry, complement: 'Sala 1' }, codeOf)).toEqual({
      ...place,
      municipality: '3303302',
      complement: 'Sala 1',
    });
  });

  it.each([
    ['a municipality that is not in the table', { city: 'Niteroy' }],
    ['a postal code without eight digits', { postalCode: '24020-077' }],
    ['a postal code of zeros (E0240)', { postalCode: '00000000' }],
    ['a postal code below the lowest one (E0240)', { postalCode: '00999999' }],
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

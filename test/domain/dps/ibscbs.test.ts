import { describe, expect, it } from 'vitest';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { brokenCodes } from '../../support/fixture/broken-codes.js';
import { address as addressAbroad } from '../../support/fixture/company.js';
import { type Accepted, acceptedFacts } from '../../support/fixture/dps-facts.js';
import { schemaFaults } from '../../support/schema.js';

const issuer: Accepted['issuer'] = { ...acceptedFacts().issuer, taxRegime: 'normal' };
const address = {
  street: 'Av. “Rio Branco”',
  number: '123',
  complement: 'Sala 4',
  district: 'Centro',
  municipality: '3303302',
  postalCode: '24020077',
};
const customer: Accepted['customer'] = { type: 'br', document: '11111111000191', name: 'CLIENTE SA', address };
const line = (cIndOp: string, cClassTrib = '000001'): Accepted['line'] => ({
  cnae: '6201501',
  serviceCode: '010101',
  nbs: '115022000',
  ibsCbs: { cIndOp, cClassTrib },
});

const software: Partial<Accepted> = { issuer, customer, line: line('100301') };

const xmlOf = (changes: Partial<Accepted>): string => {
  const accepted = acceptedFacts(changes);
  const { xml } = buildDps({ mode: 'test', series: '1', number: 1, accepted, currencyCode: () => '220' });
  expect(schemaFaults('DPS', Buffer.from(xml))).toEqual([]);
  expect(brokenCodes(xml, accepted)).toEqual([]);
  return xml;
};

describe('IBSCBS, as the acceptance decided it', () => {
  const decided = { cIndOp: '100301', cClassTrib: '000001' };
  const abroad: Accepted['customer'] = {
    type: 'foreign',
    name: 'ACME',
    taxIdAbsenceReason: 'exempt',
    address: addressAbroad,
  };
  const foreignAmount = { currency: 'USD', amountInCents: 500 };
  const plain: Accepted['line'] = { cnae: '6201501', serviceCode: '010101', nbs: '115022000' };

  it.each<[string, Partial<Accepted>, string]>([
    ['of a company with an address', { customer, ibsCbs: decided }, '<cIndOp>100301</cIndOp>'],
    ['without a customer', { ibsCbs: { cIndOp: '030101', cClassTrib: '200029' } }, '<cClassTrib>200029</cClassTrib>'],
    [
      'of a person at the provider',
      { customer: { type: 'br', document: '12345678909', name: 'M' }, ibsCbs: { ...decided, cIndOp: '050101' } },
      '<cIndOp>050101</cIndOp>',
    ],
    [
      'of a customer abroad, whose address is abroad (E0234)',
      { customer: abroad, foreignAmount, ibsCbs: { cIndOp: '100302', cClassTrib: '410027' } },
      '<CST>410</CST><cClassTrib>410027</cClassTrib>',
    ],
    [
      'with the regular taxation of a suspension (E0965)',
      { customer, ibsCbs: { ...decided, cClassTrib: '550016', cClassTribReg: '000001' } },
      '<CST>550</CST><cClassTrib>550016</cClassTrib><gTribRegular><CSTReg>000</CSTReg><cClassTribReg>000001</cClassTribReg></gTribRegular>',
    ],
  ])('is sent %s', (_case, changes, expected) => {
    expect(xmlOf({ issuer, line: plain, ...changes })).toContain(expected);
  });

  it.each(['mei', 'simples'] as const)('is sent for a company of the regime %s', (taxRegime) => {
    const changes: Partial<Accepted> = { competence: '2027-01-01', acceptedAt: '2027-01-01T03:00:10.000Z' };
    expect(xmlOf({ ...changes, issuer: { ...issuer, taxRegime }, line: plain, customer, ibsCbs: decided })).toContain(
      '<IBSCBS>',
    );
  });

  it('is decided there, and not by what an acceptance before November 2026 recorded', () => {
    expect(xmlOf({ issuer, customer, line: line('050101'), ibsCbs: decided })).toContain('<cIndOp>100301</cIndOp>');
    expect(xmlOf({ issuer, customer, line: plain })).not.toContain('IBSCBS');
  });
});

describe('IBSCBS of an acceptance until November 2026', () => {
  it('is the last group, and the customer has the address that its operation demands (E0234)', () => {
    const xml = xmlOf(software);
    expect(xml).toContain(
      '<xNome>CLIENTE SA</xNome><end><endNac><cMun>3303302</cMun><CEP>24020077</CEP></endNac>' +
        '<xLgr>Av. "Rio Branco"</xLgr><nro>123</nro><xCpl>Sala 4</xCpl><xBairro>Centro</xBairro></end></toma>',
    );
    expect(xml).toContain(
      '</valores><IBSCBS><finNFSe>0</finNFSe><cIndOp>100301</cIndOp><indDest>0</indDest><valores><trib>' +
        '<gIBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores></IBSCBS></infDPS></DPS>',
    );
  });

  it('begins its classification with the CST (E0959)', () => {
    expect(xmlOf({ ...software, line: line('100301', '200052') })).toContain(
      '<CST>200</CST><cClassTrib>200052</cClassTrib>',
    );
  });

  it('needs no address for an operation at the provider’s establishment', () => {
    const atCounter: Accepted['customer'] = { type: 'br', document: '11111111000191', name: 'CLIENTE SA' };
    expect(xmlOf({ ...software, customer: atCounter, line: line('050101') })).toContain('<cIndOp>050101</cIndOp>');
  });

  it.each<[string, Partial<Accepted>]>([
    ['of a MEI', { issuer: { ...issuer, taxRegime: 'mei' } }],
    [
      'of a ME/EPP, whatever its assessment',
      { issuer: { ...issuer, taxRegime: 'simples', simplesAssessment: 'none' } },
    ],
    ['before 2026 (E0850)', { competence: '2025-12-31', acceptedAt: '2025-12-31T15:00:00.000Z' }],
    [
      'without an NBS (E0322)',
      { line: { cnae: '6201501', serviceCode: '010101', ibsCbs: { cIndOp: '050101', cClassTrib: '000001' } } },
    ],
    [
      'of a line whose operation is not settled',
      { line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' } },
    ],
    ['of a customer without a document', { customer: { type: 'br', name: 'Maria' }, line: line('050101') }],
    [
      'without the address that is demanded (E0234)',
      { customer: { type: 'br', document: '12345678909', name: 'Maria' } },
    ],
    [
      'of an export',
      {
        customer: {
          type: 'foreign',
          name: 'ACME',
          taxIdAbsenceReason: 'exempt',
          address: addressAbroad,
        },
        foreignAmount: { currency: 'USD', amountInCents: 500 },
      },
    ],
  ])('is left out %s', (_case, changes) => {
    expect(xmlOf({ ...software, ...changes })).not.toContain('IBSCBS');
  });

  it('is left out without a customer (E0187)', () => {
    expect(xmlOf({ issuer, line: line('050101') })).not.toContain('IBSCBS');
  });

  it('is there from the first day of 2026', () => {
    expect(xmlOf({ ...software, competence: '2026-01-01', acceptedAt: '2026-01-01T03:00:10.000Z' })).toContain(
      'IBSCBS',
    );
  });
});

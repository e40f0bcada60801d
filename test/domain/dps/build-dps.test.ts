import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { CustomerNameMissing, isCustomerNameMissing } from '../../../src/domain/dps/customer.js';
import { VER_APLIC } from '../../../src/domain/dps/layout.js';
import { type Accepted, acceptedFacts, anyAccepted } from '../../support/fixture/dps-facts.js';
import { unsignedSample } from '../../support/fixture/samples.js';
import { xmllintAccepts } from '../../support/harness/xml-programs.js';
import { itWith } from '../../support/needs.js';
import { schemaFaults } from '../../support/schema.js';

const currencyCode = (iso: string): string | undefined => ({ USD: '220', EUR: '978' })[iso];

const build = (changes: Partial<Accepted> = {}, number = 1): string => {
  const accepted = acceptedFacts(changes);
  return buildDps({ mode: accepted.mode, series: '1', number, accepted, currencyCode }).xml;
};

/** The sample with our program's name, which is all that may differ. */
const expected = (name: string): string =>
  unsignedSample(name).replace('<verAplic>Exemplo_1.0<', `<verAplic>${VER_APLIC}<`);

const issuer = acceptedFacts().issuer;
const abroad: Partial<Accepted> = {
  customer: {
    type: 'foreign',
    name: 'ACME SOFTWARE CLIENT LLC',
    taxIdAbsenceReason: 'exempt',
    address: {
      street: '100 Main Street',
      number: '100',
      district: 'Downtown',
      city: 'New York',
      state: 'NY',
      postalCode: '10001',
      country: 'US',
    },
  },
  foreignAmount: { currency: 'USD', amountInCents: 200_000 },
};

describe('buildDps', () => {
  itWith('samples', 'rebuilds sample dps-01, but for the address and e-mail that the API does not know', () => {
    const xml = build({
      amountInCents: 150_000,
      description: 'Desenvolvimento de sistema sob encomenda, contrato 2026-001',
      customer: { type: 'br', document: '11111111000191', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
      line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' },
    });
    const withoutAddress = expected('dps-01-me-epp-tomador-pj.xml').replace(/<end>.*<\/end><email>.*<\/email>/, '');
    expect(xml).toBe(withoutAddress);
  });

  itWith('samples', 'rebuilds sample dps-02', () => {
    expect(build({}, 2)).toBe(expected('dps-02-me-epp-sem-tomador.xml'));
  });

  itWith('samples', 'rebuilds sample dps-03, a MEI, without its registration', () => {
    const xml = build({
      companyId: '11222333000181',
      amountInCents: 7000,
      description: 'Corte de cabelo',
      customer: { type: 'br', document: '12345678909', name: 'Maria da Silva Exemplo' },
      line: { cnae: '9602501', serviceCode: '060101' },
      issuer: { ...issuer, municipality: '3550308', taxRegime: 'mei', specialRegime: 6 },
    });
    expect(xml).toBe(expected('dps-03-mei-tomador-cpf.xml'));
  });

  itWith('samples', 'rebuilds sample dps-05, the export that restricted production accepted', () => {
    const { municipalRegistration: _none, ...unregistered } = issuer;
    const xml = build(
      {
        ...abroad,
        amountInCents: 1_000_000,
        description: 'Desenvolvimento de software sob encomenda para cliente no exterior (exportação de serviço) TESTE',
        competence: '2026-08-28',
        acceptedAt: '2026-08-28T17:38:06.000Z',
        line: { cnae: '6201501', serviceCode: '010401', nbs: '115022000', municipalCode: '003' },
        issuer: { ...unregistered, municipality: '3304557' },
      },
      7,
    );
    expect(xml).toBe(expected('dps-05-exportacao.xml'));
  });

  it.each([
    ['all', '<opSimpNac>3</opSimpNac><regApTribSN>1</regApTribSN><regEspTrib>0<'],
    ['federal_only', '<opSimpNac>3</opSimpNac><regApTribSN>2</regApTribSN><regEspTrib>6<'],
    ['none', '<opSimpNac>3</opSimpNac><regApTribSN>3</regApTribSN><regEspTrib>6<'],
  ] as const)('declares the Simples with ISSQN assessed by %s', (simplesAssessment, regime) => {
    expect(build({ issuer: { ...issuer, simplesAssessment, specialRegime: 6 } })).toContain(regime);
  });

  it('declares the normal regime with percentages', () => {
    const xml = build({ issuer: { ...issuer, taxRegime: 'normal', specialRegime: 6 } });
    expect(xml).toContain('<regTrib><opSimpNac>1</opSimpNac><regEspTrib>6</regEspTrib></regTrib>');
    expect(xml).toContain('<pTotTrib><pTotTribFed>6.00</pTotTribFed><pTotTribEst>0.00</pTotTribEst>');
  });

  it('declares no special regime on an export', () => {
    const xml = build({ ...abroad, issuer: { ...issuer, taxRegime: 'normal', specialRegime: 6 } });
    expect(xml).toContain('<regEspTrib>0</regEspTrib>');
  });

  it('leaves a customer without a document out', () => {
    expect(build({ customer: { type: 'br', name: 'Maria' } }, 2)).toBe(build({}, 2));
  });

  it('refuses to identify a customer without a name', () => {
    const nameless = { type: 'br', document: '11111111000191' } as const;
    expect(() => build({ customer: nameless })).toThrow(CustomerNameMissing);
    expect(isCustomerNameMissing(nameless)).toBe(true);
    expect(isCustomerNameMissing({ ...nameless, name: 'X' })).toBe(false);
    expect(isCustomerNameMissing({ type: 'br' })).toBe(false);
    expect(isCustomerNameMissing(undefined)).toBe(false);
  });

  it('carries the whole description, line breaks and other scripts included', () => {
    const description = `1ª linha\n“2” — 日本語 🎉 & <${'x'.repeat(900)}>`;
    const xml = build({ description });
    expect(xml).toContain(`1ª linha\n“2” — 日本語 🎉 &amp; &lt;${'x'.repeat(900)}&gt;`);
    expect(schemaFaults('DPS', Buffer.from(xml))).toEqual([]);
  });

  it('ends each line of the description with LF, whatever the caller’s system writes', () => {
    const xml = build({ description: 'um\r\ndois\rtrês\nquatro' });
    expect(xml).toContain('<xDescServ>um\ndois\ntrês\nquatro</xDescServ>');
    expect(xml).not.toMatch(/\r|&#xD;/i);
  });

  it('writes the address abroad in Latin letters', () => {
    const address = { street: 'ul. Łąkowa – 1', number: '1', district: 'Śródmieście', city: 'Łódź', state: 'Łódzkie' };
    const customer = {
      type: 'foreign',
      name: 'Żółw',
      taxId: 'PL1',
      address: { ...address, postalCode: '1', country: 'PL' },
    };
    const xml = build({ ...abroad, customer: customer as NonNullable<Accepted['customer']> });
    expect(xml).toContain('<xLgr>ul. Lakowa - 1</xLgr><nro>1</nro><xBairro>Sródmiescie</xBairro>');
    expect(xml).toContain('<xNome>Żółw</xNome>');
    expect(schemaFaults('DPS', Buffer.from(xml))).toEqual([]);
  });

  it.each([
    ['2026-09-15T13:31:00.000Z', '2026-09-15', '2026-09-15T10:30:00-03:00'],
    ['2026-09-15T03:00:30.000Z', '2026-09-15', '2026-09-15T00:00:00-03:00'],
    ['2026-09-15T03:01:00.999Z', '2026-09-15', '2026-09-15T00:00:00-03:00'],
    ['2026-09-15T03:01:01.000Z', '2026-09-15', '2026-09-15T00:00:01-03:00'],
    ['2026-10-01T02:59:59.999Z', '2026-09-30', '2026-09-30T23:58:59-03:00'],
  ])('stamps what was accepted at %s', (acceptedAt, competence, dhEmi) => {
    expect(build({ acceptedAt, competence })).toContain(`<dhEmi>${dhEmi}</dhEmi>`);
  });

  it('passes the official schema for anything that was accepted, and is repeatable', () => {
    fc.assert(
      fc.property(anyAccepted, fc.integer({ min: 1, max: 999_999_999_999_999 }), (accepted, number) => {
        const input = { mode: accepted.mode, series: '49999', number, accepted, currencyCode };
        const { xml } = buildDps(input);
        expect(schemaFaults('DPS', Buffer.from(xml))).toEqual([]);
        expect(buildDps({ ...input, accepted: structuredClone(accepted) }).xml).toBe(xml);
      }),
      { numRuns: 300 },
    );
  });

  itWith('xmllint', 'passes xmllint in every regime', () => {
    for (const taxRegime of ['mei', 'simples', 'normal'] as const) {
      xmllintAccepts(Buffer.from(build({ issuer: { ...issuer, taxRegime } })), 'DPS');
      xmllintAccepts(Buffer.from(build({ ...abroad, issuer: { ...issuer, taxRegime } })), 'DPS');
    }
  });
});

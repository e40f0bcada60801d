import { describe, expect, it } from 'vitest';
import { withRecordedFacts } from '../../../src/app/accept/recorded-facts.js';
import type { Eligible } from '../../../src/domain/company/eligibility.js';
import type { ApproximateTaxes } from '../../../src/domain/company/events.js';
import { invoiceView } from '../../../src/http/invoice-body.js';
import type { RegistryEntry } from '../../../src/ports/tax-registry.js';
import { classification } from '../../../src/tables/catalogue.js';
import { T0 } from '../../support/fixture/invoice.js';
import { acceptedOf, acceptHarness } from '../../support/harness/accept.js';

const eligible = (changes: Partial<Eligible> = {}): Eligible => ({
  line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' },
  issuer: { municipality: '3304557', taxRegime: 'normal', simplesAssessment: 'all', specialRegime: 0 },
  customer: { type: 'br', document: '11111111000191', name: 'Sent' },
  ...changes,
});

const registered = {
  street: 'Av. Rio Branco',
  number: '123',
  district: 'Centro',
  city: 'Niterói',
  state: 'RJ',
  postalCode: '24020077',
};

const entry: RegistryEntry = { cnpj: '11111111000191', legalName: 'CLIENTE REGISTRADO SA', address: registered };

const checkedOf = (given: Eligible) => ({
  eligible: given,
  line: { ...given.line, description: 'A', isDefault: true, isBlocked: false },
  registration: {},
  competence: '2026-11-23',
});

const recorded = (given: Eligible, cIndOp = '100301', found: RegistryEntry | undefined = entry): Promise<Eligible> =>
  withRecordedFacts(checkedOf(given), {
    taxRegistry: { lookup: async () => found },
    ibsCbs: { annexVIII: () => ({ cIndOp: [cIndOp], cClassTrib: ['000001'] }), classification },
    municipalityCode: () => '3303302',
  });

const address = {
  street: 'Av. Rio Branco',
  number: '123',
  district: 'Centro',
  municipality: '3303302',
  postalCode: '24020077',
};

describe('what an acceptance records of the tables and the tax registry', () => {
  it('is operation, name and address where the document declares IBS and CBS by the customer’s address', async () => {
    const { ibsCbs, customer } = await recorded(eligible());
    expect(ibsCbs).toEqual({ cIndOp: '100301', cClassTrib: '000001' });
    expect(customer).toEqual({ type: 'br', document: '11111111000191', name: 'CLIENTE REGISTRADO SA', address });
  });

  it('is the address also where the document declares no IBS and CBS, or not by the customer', async () => {
    const simples = eligible({ issuer: { ...eligible().issuer, taxRegime: 'simples' } });
    for (const { customer } of [await recorded(simples), await recorded(eligible(), '050101')])
      expect(customer).toEqual({ type: 'br', document: '11111111000191', name: 'CLIENTE REGISTRADO SA', address });
    expect(await recorded(simples)).not.toHaveProperty('ibsCbs');
    expect((await recorded(simples)).line).toEqual(eligible().line);
  });

  it('is no address that the document could not carry whole', async () => {
    const tooLong: RegistryEntry = { ...entry, address: { ...registered, street: 'A'.repeat(256) } };
    expect((await recorded(eligible(), '050101', tooLong)).customer).not.toHaveProperty('address');
  });

  it('is the name that was sent when the registry knows nobody', async () => {
    const unknown = async () => undefined;
    const { customer } = await withRecordedFacts(checkedOf(eligible()), {
      taxRegistry: { lookup: unknown },
      ibsCbs: { annexVIII: () => undefined, classification },
      municipalityCode: () => undefined,
    });
    expect(customer).toEqual(eligible().customer);
  });

  it.each(['NOME \u0001 RUIM', 'NOME \ufffe RUIM', 'NOME \ud800 RUIM'])(
    'is the name that was sent when no document can carry the registry’s: %j',
    async (legalName) => {
      const { customer } = await recorded(eligible(), '050101', { ...entry, legalName });
      expect(customer).toEqual(eligible().customer);
    },
  );

  it('is never asked for about a person', async () => {
    const customer = { type: 'br', document: '12345678909', name: 'Maria' } as const;
    expect((await recorded(eligible({ customer }))).customer).toEqual(customer);
  });

  it('is accepted with them, and shows nobody the address', async () => {
    const harness = acceptHarness();
    const { registration } = harness.company.current;
    harness.company.current = { ...harness.company.current, registration: { ...registration, taxRegime: 'normal' } };
    harness.deps.taxRegistry = { lookup: async () => entry };
    const invoice = acceptedOf(await harness.post({ customer: { document: '11111111000191' } }));
    expect(invoiceView(invoice, T0).customer).toEqual({
      document: '11111111000191',
      name: 'CLIENTE REGISTRADO SA',
      type: 'br',
    });
    const [stored] = await harness.acceptances();
    expect(stored?.data.ibsCbs).toEqual({ cIndOp: '100301', cClassTrib: '000001' });
    expect(stored?.data.line).not.toHaveProperty('ibsCbs');
    expect(stored?.data.customer).toMatch(/^sealed:/);
    expect(JSON.stringify(stored?.data)).not.toContain('Rio Branco');
    expect(invoice.facts.customer).toHaveProperty('address', address);
  });

  it('is where the ISSQN is due, for a customer abroad alone', async () => {
    const line = { cnae: '8111700', serviceCode: '071001', nbs: '118021000' };
    const customer: Eligible['customer'] = {
      type: 'foreign',
      name: 'ACME',
      taxId: '1',
      address: {
        street: 'Main',
        number: '1',
        district: 'D',
        city: 'Austin',
        state: 'TX',
        postalCode: '1',
        country: 'US',
      },
    };
    expect((await recorded(eligible({ line, customer }))).line).toEqual({ ...line, issqnDue: 'where_performed' });
    expect((await recorded(eligible({ line }))).line).not.toHaveProperty('issqnDue');
    expect((await recorded(eligible({ customer }))).line).toEqual(eligible().line);
  });

  describe('about approximate taxes', () => {
    const general = { from: '2026-11-01', until: '2026-11-23', federal: '13.45', state: '0.00', municipal: '2.90' };
    const ofService = { ...general, serviceCode: '010101', federal: '15.00' };
    const taxesOf = async (rows: readonly ApproximateTaxes[], competence = '2026-11-23') => {
      const checked = { ...checkedOf(eligible()), registration: { approximateTaxes: rows }, competence };
      return (
        await withRecordedFacts(checked, {
          taxRegistry: { lookup: async () => undefined },
          ibsCbs: { annexVIII: () => ({ cIndOp: [], cClassTrib: [] }), classification },
          municipalityCode: () => undefined,
        })
      ).issuer.approximateTaxes;
    };

    it('is the row of the service, else that of all services, on the days that it covers', async () => {
      const parts = { federal: '13.45', state: '0.00', municipal: '2.90' };
      expect(await taxesOf([general, ofService])).toEqual({ ...parts, federal: '15.00' });
      expect(await taxesOf([general])).toEqual(parts);
      expect(await taxesOf([{ ...general, serviceCode: '020101' }])).toBeUndefined();
      expect([await taxesOf([general], '2026-11-24'), await taxesOf([general], '2026-10-31')]).toEqual([
        undefined,
        undefined,
      ]);
    });
  });
});

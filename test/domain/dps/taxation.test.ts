import { describe, expect, it } from 'vitest';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { brokenCodes } from '../../support/fixture/broken-codes.js';
import { address } from '../../support/fixture/company.js';
import { type Accepted, acceptedFacts } from '../../support/fixture/dps-facts.js';

const abroad: Partial<Accepted> = {
  issuer: { ...acceptedFacts().issuer, taxRegime: 'normal', specialRegime: 6 },
  customer: {
    type: 'foreign',
    name: 'ACME',
    taxIdAbsenceReason: 'exempt',
    address,
  },
  foreignAmount: { currency: 'USD', amountInCents: 500 },
};

const built = (line: Accepted['line']) => {
  const accepted = acceptedFacts({ ...abroad, line });
  const { xml } = buildDps({ mode: 'test', series: '1', number: 1, accepted, currencyCode: () => '220' });
  return { xml, broken: brokenCodes(xml, accepted) };
};

describe('the ISSQN of a service to a customer abroad', () => {
  it('is not due on an export, whose result is in the customer’s country (scenario 58)', () => {
    const { xml, broken } = built({ cnae: '6201501', serviceCode: '010101', nbs: '115022000' });
    expect(xml).toContain('<tribISSQN>3</tribISSQN><cPaisResult>US</cPaisResult><tpRetISSQN>1</tpRetISSQN>');
    expect(xml).toContain('<regEspTrib>0</regEspTrib>');
    expect(broken).toEqual([]);
  });

  it('is due where LC 116 puts it at the place of performance, with foreign trade all the same (scenario 68)', () => {
    const { xml, broken } = built({
      cnae: '8111700',
      serviceCode: '071001',
      nbs: '118021000',
      issqnDue: 'where_performed',
    });
    expect(xml).toContain('<tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN></tribMun>');
    expect(xml).toContain('<regEspTrib>6</regEspTrib>');
    expect(xml).toContain('<comExt>');
    expect(broken.filter((code) => code !== 'E0316')).toEqual([]);
  });

  it('would be refused there as an export with its country (E0529, E0591)', () => {
    expect(built({ cnae: '8111700', serviceCode: '071001', nbs: '115022000' }).broken).toEqual(['E0529', 'E0591']);
  });
});

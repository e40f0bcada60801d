import { describe, expect, it } from 'vitest';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { brokenCodes } from '../../support/fixture/broken-codes.js';
import { acceptedFacts } from '../../support/fixture/dps-facts.js';

const RATE_CODES = ['E0600', 'E0602', 'E0604', 'E0617', 'E0619', 'E0625', 'E0631', 'E0635', 'E0640'];

const regimes = [
  { taxRegime: 'mei', simplesAssessment: 'none', specialRegime: 0 },
  { taxRegime: 'simples', simplesAssessment: 'all', specialRegime: 0 },
  { taxRegime: 'simples', simplesAssessment: 'federal_only', specialRegime: 0 },
  { taxRegime: 'simples', simplesAssessment: 'none', specialRegime: 0 },
  { taxRegime: 'simples', simplesAssessment: 'none', specialRegime: 6 },
  { taxRegime: 'normal', simplesAssessment: 'none', specialRegime: 0 },
  { taxRegime: 'normal', simplesAssessment: 'none', specialRegime: 6 },
] as const;

/** ADR 18: the layout asks for a rate only where the note is refused all the same, so none is ever declared. */
describe('the ISSQN rate of a DPS', () => {
  const codesOf = (regime: (typeof regimes)[number], isActive: boolean): readonly string[] => {
    const { issuer, ...others } = acceptedFacts();
    const facts = { ...others, issuer: { ...issuer, ...regime } };
    const { xml } = buildDps({ mode: 'test', series: '1', number: 1, accepted: facts, currencyCode: () => undefined });
    expect(xml).not.toContain('<pAliq>');
    return brokenCodes(xml, facts, { adherent: isActive });
  };

  it.each(regimes)(
    'is not asked for where the convênio is active: $taxRegime $simplesAssessment $specialRegime',
    (regime) => {
      expect(codesOf(regime, true).filter((code) => RATE_CODES.includes(code))).toEqual([]);
    },
  );

  it.each(regimes)(
    'is asked for elsewhere only beside a refusal that no rate cures: $taxRegime $simplesAssessment $specialRegime',
    (regime) => {
      const codes = codesOf(regime, false);
      const isAsked = codes.some((code) => RATE_CODES.includes(code));
      expect(isAsked).toBe(
        regime.specialRegime === 0 && regime.taxRegime !== 'mei' && regime.simplesAssessment !== 'all',
      );
      if (isAsked) expect(codes).toContain('E0038');
    },
  );
});

import type { CompanyId, Mode } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import type { ParametersAnswer } from '../../ports/municipal-parameters.js';

/**
 * Chooses the company whose certificate asks for the parameters of a municipality. Kept in memory: after a start each certificate that is not taken
 * costs one more question.
 */
export const createAskers = (clock: Clock) => {
  const faultAt = new Map<string, Instant>();
  const faultOf = (mode: Mode, companyId: CompanyId): Instant => faultAt.get(`${mode}/${companyId}`) ?? '';
  return {
    /** The first of `companies` whose certificate was at fault never, or else longest ago. Throws when there are none. */
    choose: (mode: Mode, companies: readonly CompanyId[]): CompanyId =>
      companies.reduce((best, one) => (faultOf(mode, one) < faultOf(mode, best) ? one : best)),
    note: (mode: Mode, companyId: CompanyId, answer: ParametersAnswer): void => {
      const key = `${mode}/${companyId}`;
      if (answer.kind === 'known') faultAt.delete(key);
      else if (answer.mayLieWithCertificate === true) faultAt.set(key, clock.now());
    },
  };
};

export type Askers = ReturnType<typeof createAskers>;

import { createParametersCache } from '../adapters/municipal-parameters/cache.js';
import type { AcceptDeps } from '../app/issue/accept-deps.js';
import { shortCache } from '../app/short-cache.js';
import type { Company } from '../domain/company/company.js';
import type { Catalogue } from '../domain/company/line-selection.js';
import { demandsNow } from '../domain/municipality/demands.js';
import type { Mode } from '../domain/shared/ids.js';
import { currencyCodes, isCurrency, isCustomerCountry } from '../tables/foreign-trade.js';
import { municipalityByName } from '../tables/municipalities.js';
import { OPERATOR_CACHE_MS } from './operator-cache.js';
import type { Parts } from './service.js';

/** Refreshed once a day, and nobody decides by it at once. */
const PARAMETERS_CACHE_MS = 5_000;

/** An operator's word, then the parameters API's as it was last told; nobody waits for either, and unknown demands nothing. */
export const eligibilityFacts = (
  { engines, clock }: Pick<Parts, 'engines' | 'clock'>,
  catalogueOf: (company: Company) => Promise<Catalogue>,
): AcceptDeps['eligibilityFacts'] => {
  const operatorDemands = shortCache(OPERATOR_CACHE_MS, clock, engines.readModel.municipalityDemands);
  const cache = createParametersCache(engines.pool);
  const keptOf = {
    live: shortCache(PARAMETERS_CACHE_MS, clock, (ibge) => cache.of('live', ibge)),
    test: shortCache(PARAMETERS_CACHE_MS, clock, (ibge) => cache.of('test', ibge)),
  };
  const demandsOf = async (ibge: string, { registration }: Company, mode: Mode) => {
    const [operator, kept] = await Promise.all([operatorDemands(ibge), keptOf[mode](ibge)]);
    return { ibge, ...demandsNow(operator, kept, registration.taxRegime, clock.now()) };
  };
  return async (known, mode) => {
    const found = municipalityByName(known.registration.city, known.registration.state);
    const [municipality, catalogue] = await Promise.all([
      found === undefined ? undefined : demandsOf(found.ibge, known, mode),
      catalogueOf(known),
    ]);
    return { municipality, catalogue, isCountry: isCustomerCountry, isCurrency, currencies: currencyCodes() };
  };
};

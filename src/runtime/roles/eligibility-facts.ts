import { createParametersCache } from '../../adapters/municipal-parameters/cache.js';
import type { AcceptDeps } from '../../app/accept/accept-deps.js';
import { overlaidCatalogue } from '../../domain/catalog/catalog.js';
import type { Mode } from '../../domain/common/ids.js';
import { brasiliaDate, type Instant } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import type { Catalogue } from '../../domain/company/line-selection.js';
import { demandsNow } from '../../domain/municipality/demands.js';
import {
  administeredCodes,
  type CachedParameters,
  onlyMunicipalCode,
  questionKeyOf,
} from '../../domain/municipality/parameters.js';
import { shortCache } from '../../lib/short-cache.js';
import type { Clock } from '../../ports/clock.js';
import { currencyCodes, isCurrency, isCustomerCountry, shippedCatalogue } from '../../tables/catalogue.js';
import { municipalityCode } from '../../tables/municipalities.js';
import { OPERATOR_CACHE_MS } from '../engines/companies.js';
import type { Engines } from '../engines/engines.js';

/** The shipped catalogue, overlaid by the lines that operators imported for the company's CNAEs. */
export const companyCatalogue = (
  { readModel }: Pick<Engines, 'readModel'>,
  clock: Clock,
): ((company: Company) => Promise<Catalogue>) => {
  const imported = shortCache(OPERATOR_CACHE_MS, clock, async (cnaes) =>
    overlaidCatalogue(shippedCatalogue, await readModel.catalogLines(cnaes.split(','))),
  );
  return ({ registration }) => imported(registration.activities.map(({ cnae }) => cnae).join());
};

type FactEngines = Pick<Engines, 'pool'> & { readModel: Pick<Engines['readModel'], 'municipalityDemands'> };

/** The parameters are refreshed once a day, so a short delay does no harm. */
const PARAMETERS_CACHE_MS = 5_000;

/** An operator's entry goes before the stored answer of the parameters API. No request waits for the API, and unknown demands nothing. */
export const eligibilityFacts = (
  { engines, clock }: { engines: FactEngines; clock: Clock },
  catalogueOf: (company: Company) => Promise<Catalogue>,
): AcceptDeps['eligibilityFacts'] => {
  const operatorDemands = shortCache(OPERATOR_CACHE_MS, clock, engines.readModel.municipalityDemands);
  const cache = createParametersCache(engines.pool);
  const keptOf = {
    live: shortCache(PARAMETERS_CACHE_MS, clock, (ibge) => cache.of('live', ibge)),
    test: shortCache(PARAMETERS_CACHE_MS, clock, (ibge) => cache.of('test', ibge)),
  };
  const onlyCodeOf = createCodeMemo();
  const ibgeOf = createIbgeMemo();
  const demandsOf = async (ibge: string, { registration }: Company, mode: Mode) => {
    const [operator, kept] = await Promise.all([operatorDemands(ibge), keptOf[mode](ibge)]);
    const now = clock.now();
    return {
      ibge,
      ...demandsNow(operator, kept, registration.taxRegime, now),
      onlyMunicipalCode: (serviceCode: string) =>
        onlyCodeOf(kept, serviceCode, now, (service) => {
          const questionKey = questionKeyOf({ kind: 'aliquota', service });
          // A lost row costs time only: the refresher comes to the line without the row too.
          void cache.noteNeed(mode, ibge, questionKey, now).catch(() => undefined);
        }),
    };
  };
  return async (known, mode) => {
    const ibge = ibgeOf(known.registration);
    const [municipality, catalogue] = await Promise.all([
      ibge === undefined ? undefined : demandsOf(ibge, known, mode),
      catalogueOf(known),
    ]);
    return { municipality, catalogue, isCountry: isCustomerCountry, isCurrency, currencies: currencyCodes() };
  };
};

/** The code of a registration's municipality, looked up once for each time that the registration is read. */
const createIbgeMemo = () => {
  const codes = new WeakMap<Company['registration'], string | undefined>();
  return (registration: Company['registration']): string | undefined => {
    const code = codes.get(registration) ?? municipalityCode(registration.city, registration.state);
    codes.set(registration, code);
    return code;
  };
};

/** Keeps each result as long as the parameters it was made of, for the day. `onUnknown` gets a service without an answer, once for each result. */
const createCodeMemo = () => {
  const known = new WeakMap<readonly CachedParameters[], Map<string, string | undefined>>();
  return (
    kept: readonly CachedParameters[],
    serviceCode: string,
    now: Instant,
    onUnknown: (service: string) => void,
  ): string | undefined => {
    const codes = known.get(kept) ?? new Map<string, string | undefined>();
    known.set(kept, codes);
    const day = brasiliaDate(now);
    const asked = `${serviceCode}|${day}`;
    if (!codes.has(asked)) {
      const there = administeredCodes({ serviceCode }, kept, day, now);
      codes.set(asked, onlyMunicipalCode(there));
      if (there.next !== undefined) onUnknown(there.next);
    }
    return codes.get(asked);
  };
};

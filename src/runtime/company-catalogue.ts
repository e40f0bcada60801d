import { shortCache } from '../app/short-cache.js';
import { overlaidCatalogue } from '../domain/catalog/catalog.js';
import type { Company } from '../domain/company/company.js';
import type { Catalogue } from '../domain/company/line-selection.js';
import type { Clock } from '../ports/clock.js';
import { shippedCatalogue } from '../tables/catalogue.js';
import type { Engines } from './engines.js';
import { OPERATOR_CACHE_MS } from './operator-cache.js';

/** The shipped catalogue under what operators imported for the company's CNAEs. */
export const companyCatalogue = (
  { readModel }: Pick<Engines, 'readModel'>,
  clock: Clock,
): ((company: Company) => Promise<Catalogue>) => {
  const imported = shortCache(OPERATOR_CACHE_MS, clock, async (cnaes) =>
    overlaidCatalogue(shippedCatalogue, await readModel.catalogLines(cnaes.split(','))),
  );
  return ({ registration }) => imported(registration.activities.map(({ cnae }) => cnae).join());
};

import { askTaxRegistry } from '../adapters/tax-registry/ask.js';
import { openCarried } from '../app/event-store/codec.js';
import { shortCache } from '../app/short-cache.js';
import { type LocalEntry, registryStream } from '../domain/registry/entry.js';
import type { Clock } from '../ports/clock.js';
import type { RegistryEntry, TaxRegistry } from '../ports/tax-registry.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';
import { OPERATOR_CACHE_MS } from './operator-cache.js';

/** The registry is asked during the POST: it gets this long and no longer (design section 5). */
const PATIENCE_MS = 500;

type LocalSources = Pick<Engines, 'readModel' | 'sealingKeys'>;

/** What operators entered comes first, then the companies of this service; `TAX_REGISTRY_URL` is asked for the others. */
export const openTaxRegistry = (config: Config, sources: LocalSources, clock: Clock): TaxRegistry => {
  const known = shortCache(OPERATOR_CACHE_MS, clock, async (cnpj) => {
    const entry = await sources.readModel.registryEntry(cnpj);
    return (entry && (await opened(cnpj, entry, sources))) ?? (await servedCompany(cnpj, sources));
  });
  return {
    lookup: async (cnpj) => {
      const local = await known(cnpj);
      if (local !== undefined || config.taxRegistryUrl === undefined) return local;
      return await askTaxRegistry(config.taxRegistryUrl, cnpj, PATIENCE_MS);
    },
  };
};

/** Undefined when the key of the entry is gone. */
const opened = async (
  cnpj: string,
  entry: LocalEntry,
  { sealingKeys }: LocalSources,
): Promise<RegistryEntry | undefined> => {
  const stream = registryStream(cnpj);
  const legalName = await openCarried(entry.legalName, stream, 'legalName', sealingKeys);
  const address = await openCarried(entry.address, stream, 'address', sealingKeys);
  if (typeof legalName !== 'string') return undefined;
  return {
    cnpj,
    legalName,
    ...(address === undefined ? {} : { address: address as NonNullable<LocalEntry['address']> }),
  };
};

const servedCompany = async (cnpj: string, { readModel }: LocalSources): Promise<RegistryEntry | undefined> => {
  const found = (await readModel.company(cnpj))?.state;
  return found?.kind === 'company' ? { cnpj, legalName: found.registration.legalName } : undefined;
};

import { findRegistryEntry, type UnusableAddress } from '../../adapters/tax-registry/registry-look-up.js';
import { openCopiedField } from '../../app/event-store/codec.js';
import { present } from '../../domain/common/present.js';
import { domesticAddress } from '../../domain/registry/entry.js';
import { type EntryAddress, type LocalEntry, registryStream } from '../../domain/registry/events.js';
import { countedReports } from '../../lib/reminder.js';
import { shortCache } from '../../lib/short-cache.js';
import type { Clock } from '../../ports/clock.js';
import type { RegistryEntry, TaxRegistry } from '../../ports/tax-registry.js';
import { municipalityCode } from '../../tables/municipalities.js';
import type { Config } from '../config/config.js';
import type { Logger } from '../config/logger.js';
import { OPERATOR_CACHE_MS } from '../engines/companies.js';
import type { Engines } from '../engines/engines.js';

/** Milliseconds. The registry is asked during the POST (ADR 10). */
const PATIENCE_MS = 500;

type LocalSources = Pick<Engines, 'readModel' | 'sealingKeys'>;

/**
 * Asks entries of operators first, then `TAX_REGISTRY_URL`. An address that an entry does not have comes from there too: without the customer's
 * address a note cannot declare IBS and CBS (ADR 46). Companies of this service are no source: an answer would tell every caller who else is served.
 */
export const openTaxRegistry = (
  { taxRegistryUrl: url }: Pick<Config, 'taxRegistryUrl'>,
  sources: LocalSources,
  clock: Clock,
  onUnusable: UnusableAddress,
  find = findRegistryEntry,
): TaxRegistry => {
  const known = shortCache(OPERATOR_CACHE_MS, clock, async (cnpj) => {
    const entry = await sources.readModel.registryEntry(cnpj);
    return entry && (await opened(cnpj, entry, sources));
  });
  return {
    lookup: async (cnpj) => {
      const local = await known(cnpj);
      // An entry that an older version recorded was not compared with the layout.
      if (local?.address !== undefined && !isCarried(local.address)) onUnusable([]);
      if (local?.address !== undefined || url === undefined) return local;
      const found = await find(url, cnpj, PATIENCE_MS, onUnusable);
      if (found?.address !== undefined && !isCarried(found.address)) onUnusable([]);
      return local === undefined ? found : present({ ...local, address: found?.address });
    },
  };
};

const isCarried = (address: EntryAddress): boolean => domesticAddress(address, municipalityCode) !== undefined;

/** Logs addresses that no note can carry, at most once a minute: each invoice to that customer asks again. No line names the customer. */
export const warnOfUnusableAddresses = (logger: Logger): UnusableAddress =>
  countedReports(WARN_EVERY_MS, (unusable, members) =>
    logger.warn({ msg: 'an address of the tax registry is left out: no note can carry it', members, unusable }),
  );

const WARN_EVERY_MS = 60_000;

/** Undefined when the key of the entry was destroyed. */
const opened = async (
  cnpj: string,
  entry: LocalEntry,
  { sealingKeys }: LocalSources,
): Promise<RegistryEntry | undefined> => {
  const stream = registryStream(cnpj);
  const legalName = await openCopiedField(entry.legalName, stream, 'legalName', sealingKeys);
  const address = await openCopiedField(entry.address, stream, 'address', sealingKeys);
  if (typeof legalName !== 'string') return undefined;
  return {
    cnpj,
    legalName,
    ...(address === undefined ? {} : { address: address as NonNullable<LocalEntry['address']> }),
  };
};

import type { Company } from '../../domain/company/company.js';
import type { InvoiceFacts } from '../../domain/invoice/state.js';
import { dottedService } from '../../domain/municipality/parameters.js';
import type { Clock } from '../../ports/clock.js';
import type { ParametersCache } from '../../ports/municipal-parameters.js';
import { municipalityByName } from '../../tables/municipalities.js';

/** Refusals that contradict the stored answers about a service: it is not administered with the code of the note, or has no incidence there. */
const CODES: ReadonlySet<string> = new Set(['E0312', 'E0314', 'E0540']);

type Deps = {
  cache: Pick<ParametersCache, 'askAgain'>;
  company(companyId: string): Promise<Company | undefined>;
  clock: Clock;
};

/** Has the refresher ask again about the service of a refused invoice, so that operators need not wait a day for the municipality's new codes. */
export const askAgainAboutService = async (
  { mode, companyId, serviceCode }: InvoiceFacts,
  codes: readonly string[],
  { cache, company, clock }: Deps,
): Promise<void> => {
  if (serviceCode === undefined || !codes.some((code) => CODES.has(code))) return;
  const registration = (await company(companyId))?.registration;
  if (registration === undefined) return;
  const found = municipalityByName(registration.city, registration.state);
  if (found !== undefined) await cache.askAgain(mode, found.ibge, dottedService(serviceCode), clock.now());
};

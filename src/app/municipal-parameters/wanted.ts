import type { Company } from '../../domain/company/company.js';
import type { Catalogue } from '../../domain/company/line-selection.js';
import { dottedService } from '../../domain/municipality/parameters.js';
import type { CompanyId, Mode } from '../../domain/shared/ids.js';
import { type Instant, isBefore } from '../../domain/shared/time.js';
import type { Wanted } from './next-question.js';

export type WantedDeps = {
  companies(): Promise<readonly { companyId: CompanyId; company: Company }[]>;
  /** 7-digit IBGE code; undefined when city and state resolve to none. */
  ibgeOf(city: string, state: string): string | undefined;
  catalogueOf(company: Company): Promise<Catalogue>;
  modes: readonly Mode[];
};

/** Of each municipality: the services of the default lines of the enabled companies there, and one of them to ask. */
export const wantedOf = async (deps: WantedDeps, now: Instant): Promise<readonly Wanted[]> => {
  const municipalities = new Map<string, { companyId: CompanyId; services: Set<string> }>();
  for (const { companyId, company } of await deps.companies()) {
    const { registration, certificate } = company;
    const ibge = deps.ibgeOf(registration.city, registration.state);
    if (ibge === undefined || !company.enabled || certificate === undefined) continue;
    if (!isBefore(now, certificate.notAfter)) continue;
    const known = municipalities.get(ibge) ?? { companyId, services: new Set() };
    municipalities.set(ibge, known);
    const catalogue = await deps.catalogueOf(company);
    for (const service of servicesOf(company, catalogue)) known.services.add(service);
  }
  return [...municipalities].flatMap(([ibge, { companyId, services }]) =>
    deps.modes.map((mode) => ({ mode, ibge, companyId, services: [...services].sort() })),
  );
};

const servicesOf = ({ registration }: Company, catalogue: Catalogue): readonly string[] =>
  registration.activities.flatMap(({ cnae }) =>
    catalogue
      .linesOf(cnae)
      .filter(({ isDefault, isBlocked, serviceCode }) => isDefault && !isBlocked && /^\d{6}$/.test(serviceCode))
      .map(({ serviceCode, municipalCode }) => dottedService(serviceCode, municipalCode)),
  );

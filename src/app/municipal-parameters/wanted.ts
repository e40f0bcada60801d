import type { CatalogueLine } from '../../domain/catalog/events.js';
import type { CompanyId, Mode } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import { hasValidCertificate } from '../../domain/company/eligibility.js';
import { chosenMunicipalCode, type Registration } from '../../domain/company/events.js';
import type { Catalogue } from '../../domain/company/line-selection.js';
import { dottedService } from '../../domain/municipality/parameters.js';
import { createShortTurns } from '../../lib/short-turns.js';
import type { CertificateRefusal } from '../../ports/certificate-refusals.js';

/** The parameters needed of one municipality, and the companies whose certificates may be used to ask. */
export type Wanted = {
  mode: Mode;
  ibge: string;
  /** At least one. */
  companies: readonly CompanyId[];
  /** Dotted service codes of the default lines of companies there, with `000` and with the codes that companies chose. */
  services: readonly string[];
  /** The same of the other lines that a request may name. */
  otherServices: readonly string[];
};

type WantedDeps = {
  companies(): Promise<readonly { companyId: CompanyId; company: Company }[]>;
  /** 7-digit IBGE code; undefined when no municipality has this city and state. */
  ibgeOf(city: string, state: string): string | undefined;
  catalogueOf(company: Company): Promise<Catalogue>;
  /** The refusals of certificates by the authorizer that stand. */
  refusals(): Promise<readonly CertificateRefusal[]>;
  modes: readonly Mode[];
};

/** A company with the id of its certificate. */
type Holder = { companyId: CompanyId; certificateId: string };

type Municipality = { holders: Holder[]; services: Set<string>; otherServices: Set<string> };

/**
 * For each municipality: the services of the activity lines that requests of its enabled companies may name, and the companies to ask with: those with
 * a valid certificate that the authorizer of the mode does not refuse, or all with a valid one where each is refused.
 */
export const wantedOf = async (deps: WantedDeps, now: Instant): Promise<readonly Wanted[]> => {
  const municipalities = new Map<string, Municipality>();
  const shortTurn = createShortTurns();
  for (const { companyId, company } of await deps.companies()) {
    await shortTurn();
    const { registration, certificate } = company;
    const ibge = deps.ibgeOf(registration.city, registration.state);
    if (ibge === undefined || !company.enabled || certificate === undefined) continue;
    if (!hasValidCertificate(company, now)) continue;
    const known = municipalities.get(ibge) ?? { holders: [], services: new Set(), otherServices: new Set() };
    municipalities.set(ibge, known);
    known.holders.push({ companyId, certificateId: certificate.certificateId });
    const lines = linesOf(company, await deps.catalogueOf(company));
    for (const { isDefault, serviceCode } of lines)
      for (const service of servicesOf(registration, serviceCode))
        (isDefault ? known.services : known.otherServices).add(service);
  }
  const refusals = await deps.refusals();
  const wanted: Wanted[] = [];
  for (const [ibge, { holders, services, otherServices }] of municipalities) {
    await shortTurn();
    const others = [...otherServices].filter((service) => !services.has(service)).sort();
    const defaults = [...services].sort();
    for (const mode of deps.modes)
      wanted.push({
        mode,
        ibge,
        services: defaults,
        otherServices: others,
        companies: askingCompanies(mode, holders, refusals),
      });
  }
  return wanted;
};

const askingCompanies = (
  mode: Mode,
  holders: readonly Holder[],
  refusals: readonly CertificateRefusal[],
): readonly CompanyId[] => {
  const refused = new Set(refusals.filter((one) => one.mode === mode).map(holderKey));
  const taken = holders.filter((holder) => !refused.has(holderKey(holder)));
  return (taken.length > 0 ? taken : holders).map(({ companyId }) => companyId);
};

/** A certificate that was stored since the refusal is not refused. */
const holderKey = ({ companyId, certificateId }: Holder): string => `${companyId}/${certificateId}`;

const linesOf = ({ registration }: Company, catalogue: Catalogue): readonly CatalogueLine[] =>
  registration.activities.flatMap(({ cnae }) =>
    catalogue.linesOf(cnae).filter(({ isBlocked, serviceCode }) => !isBlocked && /^\d{6}$/.test(serviceCode)),
  );

const servicesOf = (registration: Registration, serviceCode: string): readonly string[] => {
  const chosen = chosenMunicipalCode(registration, serviceCode);
  return [dottedService(serviceCode), ...(chosen === undefined ? [] : [dottedService(serviceCode, chosen)])];
};

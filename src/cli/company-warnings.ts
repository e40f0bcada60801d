import { overlaidCatalogue } from '../domain/catalog/catalog.js';
import { isCnpj } from '../domain/common/cnpj.js';
import { type Mode, modes } from '../domain/common/ids.js';
import { addSeconds, brasiliaDate, DAY_SECONDS, type Instant } from '../domain/common/time.js';
import { unreachable } from '../domain/common/unreachable.js';
import type { Company } from '../domain/company/company.js';
import { approximateTaxesAt, chosenMunicipalCode, type Registration } from '../domain/company/events.js';
import { EXPORT_CLASSIFICATIONS } from '../domain/company/ibs-cbs.js';
import type { Catalogue } from '../domain/company/line-selection.js';
import { isDueWherePerformed, unmetDemandOf } from '../domain/company/service-rules.js';
import { mayHaveSpecialRegime } from '../domain/dps/provider.js';
import {
  administeredCodes,
  type CachedParameters,
  dottedService,
  isWithoutEmitter,
  isWithoutIncidence,
  municipalCodeProblem,
  onlyMunicipalCode,
  questionKeyOf,
  usableConvenio,
} from '../domain/municipality/parameters.js';
import { counted } from '../lib/counted.js';
import { knownIn } from '../ports/municipal-parameters.js';
import { shippedCatalogue } from '../tables/catalogue.js';
import { municipalityByName, municipalityCode, nearestMunicipality } from '../tables/municipalities.js';
import type { Check, Session } from './session.js';

type Sources = Pick<Session, 'readModel' | 'parameters' | 'clock'>;

/** The catalogue for the activities of a company, with what an operator has imported. */
export const catalogueOf = async (
  { registration: { activities } }: Pick<Company, 'registration'>,
  { readModel }: Pick<Sources, 'readModel'>,
): Promise<Catalogue> =>
  overlaidCatalogue(shippedCatalogue, await readModel.catalogLines(activities.map(({ cnae }) => cnae)));

const linesOf = async (company: Pick<Company, 'registration'>, sources: Sources) => {
  const catalogue = await catalogueOf(company, sources);
  return company.registration.activities.flatMap(({ cnae }) => catalogue.linesOf(cnae));
};

/** The line of each activity that an invoice without `service_code` uses; none for an activity without a default. */
const defaultLines = async (company: Pick<Company, 'registration'>, sources: Sources) =>
  (await linesOf(company, sources)).filter(({ isDefault }) => isDefault);

/** Services that the API cannot issue for a company's activities, or only where they are performed in its municipality (README, "Limits"). */
export const activityWarnings = async (
  company: Pick<Company, 'registration'>,
  sources: Sources,
): Promise<readonly string[]> =>
  (await defaultLines(company, sources)).flatMap(({ cnae, serviceCode }) => {
    const service = `CNAE ${cnae}, service ${serviceCode}`;
    const unmet = unmetDemandOf(serviceCode);
    if (unmet !== undefined)
      return [`${service}: not issued here, because it demands ${unmet.demand} (${unmet.ruleCode})`];
    return isDueWherePerformed(serviceCode)
      ? [
          `${service}: its ISSQN is due where it is performed, and the API declares the company's municipality: what is performed elsewhere is issued at the national portal`,
        ]
      : [];
  });

/** The activities of whose requests the API refuses some or all: the catalogue has no line of the CNAE, or none that is the default (LINE-2). */
export const lineWarnings = (
  { activities }: Pick<Registration, 'activities'>,
  { linesOf: linesIn }: Pick<Catalogue, 'linesOf'>,
): readonly string[] =>
  activities.flatMap(({ cnae, isMain }) => {
    const found = linesIn(cnae);
    if (found.some(({ isDefault }) => isDefault)) return [];
    const name = `CNAE ${cnae}${isMain ? ' (main)' : ''}`;
    const refusal = `the API refuses requests ${isMain ? 'without cnae and service_code' : 'that name it without service_code'}`;
    return found.length === 0
      ? [
          `${name}: the catalogue has no service for this number, so nothing is issued with it, and ${refusal} (422 nfse.cnae_missing_ctribnac): check the number, or give it lines with nfse catalog import`,
        ]
      : [
          `${name}: none of its services is the default, so ${refusal} (422 nfse.cnae_without_default): mark one with nfse catalog import`,
        ];
  });

/** Values for services that no activity of the company has. A file with them was accepted before, so it stays valid. */
export const unusedServiceWarnings = (
  { activities, ibsCbs, municipalCodes = [], approximateTaxes = [] }: Registration,
  { linesOf: linesIn, isServiceCode }: Pick<Catalogue, 'linesOf' | 'isServiceCode'>,
): readonly string[] => {
  const services = new Set(activities.flatMap(({ cnae }) => linesIn(cnae)).map(({ serviceCode }) => serviceCode));
  const places = [
    ...(ibsCbs?.services ?? []).map(({ serviceCode: code }) => ({ code, place: `ibs_cbs.${code}` })),
    ...municipalCodes.map(({ serviceCode: code }) => ({ code, place: `municipal_codes.${code}` })),
    ...approximateTaxes.flatMap(({ serviceCode: code }) =>
      code === undefined ? [] : [{ code, place: `approximate_taxes of service_code ${code}` }],
    ),
  ];
  const unused = places
    .filter(({ code }) => !services.has(code))
    .map(({ code, place }) => {
      const why = isServiceCode(code)
        ? 'no activity of the company has this service'
        : 'no service of the national list has this code';
      return `${place} does not count: ${why}`;
    });
  // A table has a row for each period.
  return [...new Set(unused)];
};

/** Values that no note declares under the tax regime of the company. */
export const unusedTaxWarnings = (registration: Registration): readonly string[] => {
  const { taxRegime, specialRegime, approximateTaxPercent } = registration;
  const isIdle = specialRegime !== 0 && !mayHaveSpecialRegime(registration);
  const isMei = taxRegime === 'mei';
  return [
    ...(isIdle ? [`special_regime ${specialRegime} does not count: ${isMei ? NONE_OF_MEI : NONE_IN_SIMPLES}`] : []),
    ...(isMei && approximateTaxPercent !== undefined
      ? ['approximate_tax_percent does not count: a MEI declares no single percentage, but what approximate_taxes has']
      : []),
  ];
};

const NONE_OF_MEI = 'a MEI has none, and its notes declare 0';

const NONE_IN_SIMPLES =
  'notes declare 0 while Simples assesses all taxes; a company that pays a fixed ISSQN has simples_assessment federal_only: ask the accountant';

/** A CNPJ with wrong check digits: Sefin refuses each note of the company. */
export const cnpjWarnings = ({ cnpj }: Pick<Registration, 'cnpj'>): readonly string[] =>
  isCnpj(cnpj) ? [] : [`cnpj: the check digits of ${cnpj} are wrong: Sefin refuses every note of the company (E0080)`];

/** A city whose name no municipality has: the API answers 422 nfse.municipality_not_covered to each of the company's requests. */
export const placeWarnings = ({ city, state }: Pick<Registration, 'city' | 'state'>): readonly string[] => {
  if (municipalityByName(city, state) !== undefined) return [];
  const near = nearestMunicipality(city, state);
  const meant = near === undefined ? '' : `; the nearest is ${near.name}/${near.uf}`;
  return [
    `city and state: no municipality is called ${city}/${state}${meant}. The API refuses the company's invoices (422 nfse.municipality_not_covered) until the company file is put again`,
  ];
};

/** Lei 12.741: without a percentage in the file a note declares 0.00. A MEI then declares none. */
export const approximateTaxWarnings = ({
  taxRegime,
  approximateTaxPercent,
  approximateTaxes,
}: Registration): readonly string[] =>
  taxRegime === 'mei' || approximateTaxPercent !== undefined || approximateTaxes !== undefined
    ? []
    : [
        'approximate_tax_percent and approximate_taxes are missing: every note and PDF declares 0.00 % of approximate taxes (Lei 12.741); ask the accountant for the percentage',
      ];

/** Classifications of exports that notes to customers in Brazil declare too. No fault, because a company may have customers abroad only. */
export const exportClassificationWarnings = ({ ibsCbs }: Pick<Registration, 'ibsCbs'>): readonly string[] =>
  (ibsCbs?.declare === true ? ibsCbs.services : [])
    .filter(({ classTrib }) => EXPORT_CLASSIFICATIONS.some((ofExports) => ofExports === classTrib))
    .map(
      ({ serviceCode, classTrib }) =>
        `ibs_cbs.${serviceCode}: class_trib ${classTrib} is of exports, and notes to customers in Brazil declare it too: put it into export_class_trib, and the classification of sales in Brazil into class_trib`,
    );

/** A day without approximate taxes is reported this many days before. */
const REPORTED_DAYS = 30;

/** The first day from today to the 30th after it that a company's table of approximate taxes does not cover, or covers for some services only. */
export const approximateTableWarnings = (
  { taxRegime, approximateTaxPercent = '0.00', approximateTaxes }: Registration,
  now: Instant,
): readonly string[] => {
  if (approximateTaxes === undefined) return [];
  const days = Array.from({ length: REPORTED_DAYS + 1 }, (_, n) => brasiliaDate(addSeconds(now, n * DAY_SECONDS)));
  const uncovered = days.find(
    (day) => approximateTaxesAt({ approximateTaxes }, EVERY_OTHER_SERVICE, day) === undefined,
  );
  if (uncovered === undefined) return [];
  const instead = taxRegime === 'mei' ? 'no approximate taxes' : `${approximateTaxPercent} %`;
  return [
    `approximate_taxes has no row of all services for ${uncovered}: a note of a service without a row then declares ${instead} (Lei 12.741)`,
  ];
};

/** No service has this code, so that only a row of all services covers it. */
const EVERY_OTHER_SERVICE = '';

/** A text for each mode in which the municipality has no national emitter: its municipal codes say nothing then. A MEI issues there all the same. */
export const emitterWarnings = async (
  { registration }: Pick<Company, 'registration'>,
  { parameters, clock }: Pick<Sources, 'parameters' | 'clock'>,
): Promise<readonly { mode: Mode; text: string }[]> => {
  const ibge = municipalityCode(registration.city, registration.state);
  if (ibge === undefined || registration.taxRegime === 'mei') return [];
  const entries = await parameters.entriesOf(ibge);
  return modes.flatMap((mode) => {
    const kept = knownIn(entries.filter((entry) => entry.mode === mode));
    return hasNoEmitter(kept, clock.now())
      ? [{ mode, text: `its municipality ${ibge} ${NO_EMITTER} (${mode} mode)` }]
      : [];
  });
};

const hasNoEmitter = (kept: readonly CachedParameters[], now: Instant): boolean => {
  const convenio = usableConvenio(kept, now);
  return convenio !== undefined && isWithoutEmitter(convenio);
};

const NO_EMITTER =
  'has no active convênio or no national emitter: Sefin refuses the notes of the company (E0038, E0039), which are issued in the system of the municipality';

/**
 * What is known of the municipal codes: a text for each service of a default line, and one that counts those of the other lines, which are no fault
 * because requests may never name them. `mode` says whose parameters: those of the restricted environment are test data.
 */
export const municipalCodeWarnings = async (
  { registration }: Pick<Company, 'registration'>,
  sources: Sources,
): Promise<readonly { mode: Mode; isFault: boolean; text: string }[]> => {
  const ibge = municipalityCode(registration.city, registration.state);
  // Rules E0312 and E0314 do not apply to a MEI.
  if (ibge === undefined || registration.taxRegime === 'mei') return [];
  const entries = await sources.parameters.entriesOf(ibge);
  const now = sources.clock.now();
  const lines = (await linesOf({ registration }, sources)).filter(({ isBlocked }) => !isBlocked);
  const services = new Set(lines.filter(({ isDefault }) => isDefault).map(({ serviceCode }) => serviceCode));
  const others = new Set(lines.map(({ serviceCode }) => serviceCode).filter((code) => !services.has(code)));
  return modes.flatMap((mode) => {
    const kept = knownIn(entries.filter((entry) => entry.mode === mode));
    if (hasNoEmitter(kept, now)) return [];
    // The answers are thousands where services have municipal codes, and each finding is about those of one service.
    const findingOf = (serviceCode: string): CodeFinding | undefined => {
      const key = questionKeyOf({ kind: 'aliquota', service: dottedService(serviceCode, '') });
      const ofService = kept.filter(({ questionKey }) => questionKey.startsWith(key));
      return codeFinding(serviceCode, chosenMunicipalCode(registration, serviceCode), ofService, now);
    };
    const findings = [...services].flatMap((serviceCode) => findingOf(serviceCode) ?? []);
    const refusals = [...others].flatMap((serviceCode) => findingOf(serviceCode)?.refusal ?? []);
    return [
      ...findings.map(({ text, refusal }) => ({
        mode,
        isFault: mode === 'live' && refusal !== undefined,
        text: `${text} (${mode} mode)`,
      })),
      ...(refusals.length === 0
        ? []
        : [{ mode, isFault: false, text: `${otherLinesText(refusals, ibge)} (${mode} mode)` }]),
    ];
  });
};

/** `refusal`: why Sefin refuses a note, in words that are the same for all services with this problem; absent where a code goes out by itself. */
type CodeFinding = { text: string; refusal?: string };

/** What a municipality's answers say of a service's municipal code; undefined for nothing. The walk ends at a gap, so texts name its last code. */
export const codeFinding = (
  serviceCode: string,
  chosen: string | undefined,
  kept: readonly CachedParameters[],
  now: Instant,
): CodeFinding | undefined => {
  const there = administeredCodes({ serviceCode, chosen }, kept, brasiliaDate(now), now);
  const only = chosen === undefined ? onlyMunicipalCode(there) : undefined;
  const service = dottedService(serviceCode, chosen ?? only);
  if (isWithoutIncidence(service, kept, brasiliaDate(now), now))
    return {
      text: `service ${serviceCode}: the municipality says that ${service} has no incidence of ISS, but notes of this service declare ISS: Sefin refuses them (E0540)`,
      refusal: 'without incidence of ISS (E0540)',
    };
  const asked = `000 to ${there.last}`;
  const choice = there.codes.includes('000') ? '000' : `${there.codes.join(', ') || 'none'} of ${asked}`;
  const problem = municipalCodeProblem(there, chosen);
  switch (problem) {
    case undefined:
      return only === undefined
        ? undefined
        : { text: `service ${serviceCode}: ${only} goes out: the only one of ${asked}` };
    case 'choose':
      return {
        text: `service ${serviceCode}: the municipality administers ${choice}: choose one in municipal_codes of the company file, or Sefin refuses the note (E0312)`,
        refusal: 'with several codes and no choice in municipal_codes (E0312)',
      };
    case 'none_found':
      return {
        text: `service ${serviceCode}: no code of ${asked} was found; another may exist: ask the municipality and put its code into municipal_codes of the company file, or Sefin refuses the note (E0312)`,
        refusal: 'with no municipal code found, where another may exist (E0312)',
      };
    case 'not_administered':
      return {
        text: `service ${serviceCode}: the municipality does not administer the municipal code ${chosen}: Sefin refuses the note (E0314); it administers ${choice}`,
        refusal: 'with a chosen code that is not administered (E0314)',
      };
    default:
      return unreachable(problem);
  }
};

/** A company of some activities has hundreds of other lines, so their services are counted and not named. */
const otherLinesText = (refusals: readonly string[], ibge: string): string => {
  const counts = [...new Set(refusals)]
    .sort()
    .map((one) => `${refusals.filter((other) => other === one).length} ${one}`);
  return `lines that only service_code reaches: Sefin refuses the notes of ${counted(refusals.length, 'service')}: ${counts.join(', ')}; nfse municipality show ${ibge} has the codes`;
};

/** Lines of one kind that doctor prints. */
const SHOWN = 20;

/** The first 20 checks, faults first. A line counts the others, and is a fault when one of them is. */
export const firstChecks = (name: string, checks: readonly Check[]): readonly Check[] => {
  const sorted = [...checks.filter(({ ok }) => !ok), ...checks.filter(({ ok }) => ok)];
  const others = sorted.slice(SHOWN);
  if (others.length === 0) return sorted;
  const detail = counted(others.length, 'more line');
  return [...sorted.slice(0, SHOWN), { name, ok: others.every(({ ok }) => ok), detail }];
};

import type { CatalogueLine } from '../../domain/catalog/events.js';
import type { CompanyId, Mode } from '../../domain/common/ids.js';
import { addSeconds, brasiliaDate, type Instant, isBefore, isWithin } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import { hasValidCertificate } from '../../domain/company/eligibility.js';
import { chosenMunicipalCode, type Registration } from '../../domain/company/events.js';
import type { Catalogue } from '../../domain/company/line-selection.js';
import {
  administeredCodes,
  afterEnds,
  CONVENIO,
  dottedService,
  OTHER_LINES_REFRESH_SECONDS,
  type ParameterQuestion,
  questionKeyOf,
  REFRESH_SECONDS,
} from '../../domain/municipality/parameters.js';
import type { CertificateRefusal } from '../../ports/certificate-refusals.js';
import type { Clock } from '../../ports/clock.js';
import {
  knownIn,
  type MunicipalParametersApi,
  type ParametersCache,
  type ParametersEntry,
} from '../../ports/municipal-parameters.js';
import type { Askers } from './askers.js';

export type RefreshDeps = {
  api: MunicipalParametersApi;
  cache: ParametersCache;
  clock: Clock;
  askers: Askers;
  /** Modes whose environment this process can ask. */
  modes: readonly Mode[];
  /** What the registered companies need; companies without a valid certificate cannot ask. */
  wanted(): Promise<readonly Wanted[]>;
  onAnswer(mode: Mode, outcome: 'told' | 'no_proof', reason: string | undefined): void;
};

/**
 * Asks the one question whose turn it is, if any, and caches its answer; no request waits for it. An answer that proves nothing leaves the cache
 * as it is.
 */
export const refreshOne = async (deps: RefreshDeps): Promise<'asked' | 'nothing due'> => {
  const { api, askers, cache, clock, onAnswer } = deps;
  const wanted = await deps.wanted();
  const due = nextQuestion(wanted, await cache.all(), clock.now());
  if (due === undefined) {
    for (const mode of deps.modes) await cache.keepOnly(mode, ibgesOf(wanted, mode));
    return 'nothing due';
  }
  const { mode, ibge, companies, question } = due;
  const companyId = askers.choose(mode, companies);
  const questionKey = questionKeyOf(question);
  // The instant of the question: an answer that comes after midnight is of the day before.
  const asked = clock.now();
  const answer = await api.ask({ mode, companyId }, ibge, question, brasiliaDate(asked));
  askers.note(mode, companyId, answer);
  if (answer.kind === 'known') {
    await cache.keep(mode, ibge, { questionKey, known: answer.known, knownAt: asked });
    onAnswer(mode, 'told', undefined);
  } else {
    await cache.noteFailure(mode, ibge, questionKey, answer.reason, clock.now());
    onAnswer(mode, 'no_proof', answer.reason);
  }
  return 'asked';
};

const ibgesOf = (wanted: readonly Wanted[], mode: Mode): readonly string[] =>
  wanted.filter((one) => one.mode === mode).map(({ ibge }) => ibge);

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

type DueQuestion = Omit<Wanted, 'services' | 'otherServices'> & { question: ParameterQuestion };

/** Pause after a question without a usable answer; doubles each time, up to six hours. */
const RETRY_SECONDS = { first: 60, longest: 6 * 3600 };

/**
 * The order of the questions. The codes of a service decide nothing before the last of them is answered, so the next code of a service with answers,
 * or of one that a request needs, comes before other services.
 */
const TURNS = { convenio: 0, defaultLine: 1, begunLine: 2, otherLine: 3 };

/**
 * The question whose turn it is: the convênio of all municipalities, then default lines, then other lines; in each of these, never answered questions
 * first, then the question with the oldest answer. Undefined when every answer is young enough or was asked for a moment ago.
 */
export const nextQuestion = (
  wanted: readonly Wanted[],
  entries: readonly ParametersEntry[],
  now: Instant,
): DueQuestion | undefined => {
  const kept = groupedBy(entries, ({ mode, ibge }) => placeKey(mode, ibge));
  let best: { due: DueQuestion; rank: string } | undefined;
  for (const { services, otherServices, ...one } of wanted) {
    const there = kept.get(placeKey(one.mode, one.ibge)) ?? [];
    const known = new Map(there.map((entry) => [entry.questionKey, entry]));
    const rates = groupedBy(there.filter(isOfRate), ({ questionKey }) => nationalPartOf(dottedIn(questionKey)));
    const ends = [...rates.values()].map((ofService) => afterEnds(knownIn(ofService), brasiliaDate(now), now));
    const [due, waiting] = [new Set(ends.flatMap((one) => one.due)), new Set(ends.flatMap((one) => one.waiting))];
    for (const { question, isOther } of questionsOf(services, otherServices, rates, now)) {
      const questionKey = questionKeyOf(question);
      if (waiting.has(questionKey)) continue;
      const entry = known.get(questionKey);
      const refreshSeconds = isOther ? OTHER_LINES_REFRESH_SECONDS : REFRESH_SECONDS;
      if (entry !== undefined && !isDue(entry, refreshSeconds, due, now)) continue;
      const { knownAt = '', askedAt = '', failures = 0 } = entry ?? {};
      const turn = turnOf(question, isOther, knownAt === '' ? rates : undefined);
      const rank = `${turn}/${knownAt}/${failures === 0 ? '' : askedAt}`;
      if (best === undefined || rank < best.rank) best = { due: { ...one, question }, rank };
    }
  }
  return best?.due;
};

const placeKey = (mode: Mode, ibge: string): string => `${mode}/${ibge}`;

const groupedBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
};

/** The entries about rates, by the national part of their services. */
type Rates = ReadonlyMap<string, readonly ParametersEntry[]>;

const RATE = 'aliquota/';

const isOfRate = ({ questionKey }: ParametersEntry): boolean => questionKey.startsWith(RATE);

const dottedIn = (questionKey: string): string => questionKey.slice(RATE.length);

/** `01.07.01` of `01.07.01.000`. */
const nationalPartOf = (service: string): string => service.slice(0, 8);

/** `rates` is undefined for a question that was answered before: its service waits no longer. */
const turnOf = (question: ParameterQuestion, isOther: boolean, rates: Rates | undefined): number => {
  if (question.kind === 'convenio') return TURNS.convenio;
  if (!isOther) return TURNS.defaultLine;
  const ofService = 'service' in question ? rates?.get(nationalPartOf(question.service)) : undefined;
  return ofService?.some(({ failures }) => failures === 0) ? TURNS.begunLine : TURNS.otherLine;
};

/** Special regimes are asked for default lines only: they decide nothing, and other lines are many. */
const questionsOf = (
  services: readonly string[],
  otherServices: readonly string[],
  rates: Rates,
  now: Instant,
): readonly { question: ParameterQuestion; isOther: boolean }[] => {
  const ofDefaults: readonly ParameterQuestion[] = [
    CONVENIO,
    { kind: 'retencoes' },
    ...rateQuestions(services, rates, now),
    ...services.map((service): ParameterQuestion => ({ kind: 'regimes_especiais', service })),
  ];
  return [
    ...ofDefaults.map((question) => ({ question, isOther: false })),
    ...rateQuestions(otherServices, rates, now).map((question) => ({ question, isOther: true })),
  ];
};

const rateQuestions = (services: readonly string[], rates: Rates, now: Instant): readonly ParameterQuestion[] =>
  [...new Set([...services, ...furtherCodes(services, rates, now)])].map((service) => ({ kind: 'aliquota', service }));

/** The municipal codes that are asked for because the national code alone is not administered: those that are known, and the next one. */
const furtherCodes = (services: readonly string[], rates: Rates, now: Instant): readonly string[] => {
  const national = services.filter((service) => service.endsWith('.000'));
  return national.flatMap((service) => {
    const ofService = rates.get(nationalPartOf(service)) ?? [];
    const serviceCode = service.replaceAll('.', '').slice(0, 6);
    const { next } = administeredCodes({ serviceCode }, knownIn(ofService), brasiliaDate(now), now);
    const asked = ofService.map(({ questionKey }) => dottedIn(questionKey));
    return next === undefined ? asked : [...asked, next];
  });
};

/** `ended`: the questions that are due because a rate of their service has ended. */
const isDue = (
  { questionKey, known, knownAt, askedAt, failures }: ParametersEntry,
  refreshSeconds: number,
  ended: ReadonlySet<string>,
  now: Instant,
): boolean => {
  if (failures > 0) {
    const pause = Math.min(RETRY_SECONDS.first * 2 ** Math.min(failures - 1, 20), RETRY_SECONDS.longest);
    return !isWithin(now, askedAt, addSeconds(askedAt, pause));
  }
  if (known === undefined || knownAt === undefined || !isBefore(now, addSeconds(knownAt, refreshSeconds))) return true;
  // A refusal has contradicted the answer.
  if (isBefore(knownAt, askedAt)) return true;
  return ended.has(questionKey);
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
  for (const { companyId, company } of await deps.companies()) {
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
  return [...municipalities].flatMap(([ibge, { holders, services, otherServices }]) => {
    const others = [...otherServices].filter((service) => !services.has(service));
    return deps.modes.map((mode) => ({
      mode,
      ibge,
      companies: askingCompanies(mode, holders, refusals),
      services: [...services].sort(),
      otherServices: others.sort(),
    }));
  });
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

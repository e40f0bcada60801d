import type { CompanyId, Mode } from '../../domain/common/ids.js';
import { addSeconds, brasiliaDate, type Instant, isBefore } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import { chosenMunicipalCode } from '../../domain/company/events.js';
import type { Catalogue } from '../../domain/company/line-selection.js';
import {
  administeredCodes,
  CONVENIO,
  dottedService,
  hasEnded,
  type ParameterQuestion,
  questionKeyOf,
  REFRESH_SECONDS,
} from '../../domain/municipality/parameters.js';
import type { Clock } from '../../ports/clock.js';
import {
  knownIn,
  type MunicipalParametersApi,
  type ParametersCache,
  type ParametersEntry,
} from '../../ports/municipal-parameters.js';

export type RefreshDeps = {
  api: MunicipalParametersApi;
  cache: ParametersCache;
  clock: Clock;
  /** Modes whose environment this process can ask. */
  modes: readonly Mode[];
  /** What the registered companies need; companies without a certificate cannot ask. */
  wanted(): Promise<readonly Wanted[]>;
  onAnswer(mode: Mode, outcome: 'told' | 'no_proof', reason: string | undefined): void;
};

/**
 * Asks the one question whose turn it is, if any, and caches its answer; no request waits for it. An answer that proves nothing leaves the cache
 * as it is.
 */
export const refreshOne = async (deps: RefreshDeps): Promise<'asked' | 'nothing due'> => {
  const { api, cache, clock, onAnswer } = deps;
  const wanted = await deps.wanted();
  const due = nextQuestion(wanted, await cache.all(), clock.now());
  if (due === undefined) {
    for (const mode of deps.modes) await cache.keepOnly(mode, ibgesOf(wanted, mode));
    return 'nothing due';
  }
  const { mode, ibge, companyId, question } = due;
  const questionKey = questionKeyOf(question);
  // The instant of the question: an answer that comes after midnight is of the day before.
  const asked = clock.now();
  const answer = await api.ask({ mode, companyId }, ibge, question, brasiliaDate(asked));
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

/** The parameters needed of one municipality, and the company whose certificate is used to ask. */
export type Wanted = {
  mode: Mode;
  ibge: string;
  companyId: CompanyId;
  /** Dotted service codes of the activity lines that companies there use, with `000` and with the codes that companies chose. */
  services: readonly string[];
};

type DueQuestion = Omit<Wanted, 'services'> & { question: ParameterQuestion };

/** Pause after a question without a usable answer; doubles each time, up to six hours. */
const RETRY_SECONDS = { first: 60, longest: 6 * 3600 };

/**
 * The question whose turn it is: never answered questions first, the convênio of all municipalities before any rate; then the question with the
 * oldest answer. Undefined when every answer is young enough or was asked for a moment ago.
 */
export const nextQuestion = (
  wanted: readonly Wanted[],
  entries: readonly ParametersEntry[],
  now: Instant,
): DueQuestion | undefined => {
  const known = new Map(entries.map((entry) => [keyOf(entry.mode, entry.ibge, entry.questionKey), entry]));
  let best: { due: DueQuestion; rank: string } | undefined;
  for (const { services, ...one } of wanted) {
    const kept = entries.filter((entry) => entry.mode === one.mode && entry.ibge === one.ibge);
    for (const question of questionsOf(services, kept, now)) {
      const entry = known.get(keyOf(one.mode, one.ibge, questionKeyOf(question)));
      if (entry !== undefined && !isDue(entry, now)) continue;
      const rank = `${question.kind === 'convenio' ? 0 : 1}/${entry?.knownAt ?? ''}/${entry?.askedAt ?? ''}`;
      if (best === undefined || rank < best.rank) best = { due: { ...one, question }, rank };
    }
  }
  return best?.due;
};

const keyOf = (mode: Mode, ibge: string, questionKey: string): string => `${mode}/${ibge}/${questionKey}`;

const questionsOf = (
  services: readonly string[],
  entries: readonly ParametersEntry[],
  now: Instant,
): readonly ParameterQuestion[] => [
  CONVENIO,
  { kind: 'retencoes' },
  ...services.flatMap((service): ParameterQuestion[] => [
    { kind: 'aliquota', service },
    { kind: 'regimes_especiais', service },
  ]),
  ...furtherCodes(services, entries, now).map((service): ParameterQuestion => ({ kind: 'aliquota', service })),
];

/** The municipal codes that are asked for because the national code alone is not administered: those that are known, and the next one. */
const furtherCodes = (
  services: readonly string[],
  entries: readonly ParametersEntry[],
  now: Instant,
): readonly string[] => {
  const kept = knownIn(entries);
  const national = services.filter((service) => service.endsWith('.000'));
  return national.flatMap((service) => {
    const { next } = administeredCodes(
      { serviceCode: service.replaceAll('.', '').slice(0, 6) },
      kept,
      brasiliaDate(now),
      now,
    );
    const asked = entries
      .filter(({ questionKey }) => questionKey.startsWith(`aliquota/${service.slice(0, 9)}`))
      .map(({ questionKey }) => questionKey.slice('aliquota/'.length));
    return [...new Set([...asked, ...(next === undefined ? [] : [next])])].filter((one) => !services.includes(one));
  });
};

const isDue = ({ known, knownAt, askedAt, failures }: ParametersEntry, now: Instant): boolean => {
  if (failures > 0) {
    const pause = Math.min(RETRY_SECONDS.first * 2 ** Math.min(failures - 1, 20), RETRY_SECONDS.longest);
    return !isBefore(now, addSeconds(askedAt, pause));
  }
  if (known === undefined || knownAt === undefined || !isBefore(now, addSeconds(knownAt, REFRESH_SECONDS))) return true;
  return hasEnded({ known, knownAt }, brasiliaDate(now));
};

type WantedDeps = {
  companies(): Promise<readonly { companyId: CompanyId; company: Company }[]>;
  /** 7-digit IBGE code; undefined when no municipality has this city and state. */
  ibgeOf(city: string, state: string): string | undefined;
  catalogueOf(company: Company): Promise<Catalogue>;
  modes: readonly Mode[];
};

/** For each municipality: the services of the default activity lines of its enabled companies, and one company to ask with. */
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
      .flatMap(({ serviceCode }) => {
        const chosen = chosenMunicipalCode(registration, serviceCode);
        return [dottedService(serviceCode), ...(chosen === undefined ? [] : [dottedService(serviceCode, chosen)])];
      }),
  );

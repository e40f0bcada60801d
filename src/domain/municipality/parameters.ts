import {
  brasiliaDate,
  DAY_SECONDS,
  epochMs,
  type FiscalDate,
  type InForce,
  type Instant,
  isInForce,
} from '../common/time.js';

/**
 * One answer of the national parameters API about a municipality in one environment (docs/national-system.md#parameters-api). A flag that the
 * answer did not hold is absent and unknown.
 */
export type KnownParameters =
  | { kind: 'convenio'; isActive: false }
  | {
      kind: 'convenio';
      isActive: true;
      /** `aderenteAmbienteNacional`: the municipality shares documents, which does not say where they are issued. */
      sharesDocuments?: boolean;
      /** `aderenteEmissorNacional`: its companies issue through Sefin (otherwise E0039). */
      nationalEmitter?: boolean;
      /** `situacaoEmissaoPadraoContribuintesRFB`: companies known by the CNPJ alone may issue, without an entry in CNC (E0084). */
      rfbContributors?: boolean;
    }
  /**
   * `percent` with two places; absent where the answer tells no rate. Without rates, the municipality does not administer this service (E0312).
   */
  | { kind: 'aliquota'; rates: readonly (InForce & { percent?: string; incidence?: boolean })[] }
  | { kind: 'regimes_especiais'; regimes: readonly (InForce & { regime: string; situation: number })[] }
  /** `article6`: those whom article 6 of LC 116 names withhold the tax. `municipal`: number of further rules by municipal law. */
  | { kind: 'retencoes'; article6: boolean; municipal: number };

/** One question to the API. `service` is dotted, nine digits: cTribNac and the municipal complement, as in `01.07.01.000`. */
export type ParameterQuestion =
  | { kind: 'convenio' }
  | { kind: 'retencoes' }
  | { kind: 'aliquota' | 'regimes_especiais'; service: string };

export const CONVENIO: ParameterQuestion = { kind: 'convenio' };

/** `01.07.01.000` for cTribNac `010701`; without a municipal code the complement is `000`. */
export const dottedService = (serviceCode: string, municipalCode = '000'): string =>
  `${serviceCode.slice(0, 2)}.${serviceCode.slice(2, 4)}.${serviceCode.slice(4, 6)}.${municipalCode}`;

/** Key of a question's answer in the cache, the same for every day that was asked for. */
export const questionKeyOf = (question: ParameterQuestion): string =>
  'service' in question ? `${question.kind}/${question.service}` : question.kind;

/** The last answer to one question, and its instant. */
export type CachedParameters = { questionKey: string; known: KnownParameters; knownAt: Instant };

/** Age at which an answer is asked for again. */
export const REFRESH_SECONDS = DAY_SECONDS;

/** The same of lines that are no default of their CNAE: a company may have dozens, of which its requests name few. */
export const OTHER_LINES_REFRESH_SECONDS = 3 * DAY_SECONDS;

/** Age at which an operator gets a notice: refreshing has failed for days. */
export const STALE_SECONDS = 3 * DAY_SECONDS;

/** Age from which an answer decides nothing: the restricted environment's parameters are wiped and set again from time to time. */
export const USED_SECONDS = 7 * DAY_SECONDS;

/** Age in seconds; 0 where a clock was set back. */
export const ageSeconds = (knownAt: Instant, now: Instant): number =>
  Math.max(0, Math.floor((epochMs(now) - epochMs(knownAt)) / 1000));

/** The convênio while it may be used; undefined when unknown or too old. */
export const usableConvenio = (
  kept: readonly CachedParameters[],
  now: Instant,
): Extract<KnownParameters, { kind: 'convenio' }> | undefined => {
  for (const { known, knownAt } of kept) {
    if (known.kind === 'convenio' && ageSeconds(knownAt, now) <= USED_SECONDS) return known;
  }
  return undefined;
};

/** Whether a convênio rules out notes of Sefin in its municipality, other than those of a MEI (E0038, E0039). */
export const isWithoutEmitter = (known: KnownParameters): boolean =>
  known.kind === 'convenio' && (!known.isActive || known.nationalEmitter === false);

/** The complement of the national code without a municipal one. */
const NATIONAL = '000';

/**
 * So many municipal codes in a row without a rate end the walk. A code may follow a wider gap, and then the company has to name that code: a walk to
 * 999 would take 50 minutes of calls (docs/adr/0048-the-municipal-code-belongs-to-the-company.md).
 */
const LAST_GAP = 5;

/**
 * The complements of one service that a municipality administers, as far as it was asked: `000` when the national code alone is enough, otherwise its
 * municipal codes. `last` is the last complement of the walk that was asked for, and `000` before the first answer; a code after `last` may exist.
 * `next` is the dotted service that must be asked for before the walk ends.
 */
type AdministeredCodes = { codes: readonly string[]; last: string; next?: string };

/**
 * Walks the complements of a service, because the API lists no codes. `000` is first. When the municipality does not administer `000`, the walk
 * continues with `001`, `002` and so on, until five in a row have no rate. The code that the company chose is always looked at. `kept` are the cached
 * answers of the municipality; an answer that is too old counts as none.
 */
export const administeredCodes = (
  { serviceCode, chosen }: { serviceCode: string; chosen?: string | undefined },
  kept: readonly CachedParameters[],
  day: FiscalDate,
  now: Instant,
): AdministeredCodes => {
  const ratesOf = ratesIn(kept, day, now);
  const isAdministered = (complement: string): boolean | undefined => {
    const rates = ratesOf(dottedService(serviceCode, complement));
    return rates === undefined ? undefined : rates.length > 0;
  };
  const codes: string[] = [];
  let last = NATIONAL;
  for (let at = 0, gap = 0; at < COMPLEMENTS.length && gap < LAST_GAP && !codes.includes(NATIONAL); at += 1) {
    const complement = COMPLEMENTS[at] ?? NATIONAL;
    const found = isAdministered(complement);
    if (found === undefined) return { codes, last, next: dottedService(serviceCode, complement) };
    gap = found || complement === NATIONAL ? 0 : gap + 1;
    if (found) codes.push(complement);
    last = complement;
  }
  if (chosen === undefined || codes.includes(chosen)) return { codes, last };
  const isChosenThere = isAdministered(chosen);
  if (isChosenThere === undefined) return { codes, last, next: dottedService(serviceCode, chosen) };
  return { codes: isChosenThere ? [...codes, chosen] : codes, last };
};

type Rates = Extract<KnownParameters, { kind: 'aliquota' }>['rates'];

const ratesOn = (rates: Rates, day: FiscalDate): Rates => rates.filter((rate) => isInForce(rate, day));

/**
 * Whether all rates that were in force on the day of the answer have ended before `day`. What follows them is unknown: the API was asked for an
 * earlier day.
 */
const hasEnded = ({ known, knownAt }: Pick<CachedParameters, 'known' | 'knownAt'>, day: FiscalDate): boolean =>
  known.kind === 'aliquota' &&
  ratesOn(known.rates, day).length === 0 &&
  ratesOn(known.rates, brasiliaDate(knownAt)).length > 0;

/**
 * What ended rates ask of the answers about one service, as their keys. `ofService` are the answers of all its codes. An answer of a day that is not
 * after the end is asked for again, because its code may have begun since. The ended rates wait until no such answer is left: they alone show the end,
 * and count until then (`ratesIn`), so no other code looks like the only one meanwhile.
 */
export const afterEnds = (
  ofService: readonly CachedParameters[],
  day: FiscalDate,
  now: Instant,
): { due: readonly string[]; waiting: readonly string[] } => {
  const ended = ofService.filter((one) => hasEnded(one, day));
  if (ended.length === 0) return { due: [], waiting: [] };
  const end = ended.map((one) => endBefore(day, one)).reduce(latest);
  const outdated = ofService.filter(
    (one) => !ended.includes(one) && brasiliaDate(one.knownAt) <= end && ageSeconds(one.knownAt, now) <= USED_SECONDS,
  );
  const [due, waiting] = outdated.length === 0 ? [ended, []] : [outdated, ended];
  return { due: due.map(({ questionKey }) => questionKey), waiting: waiting.map(({ questionKey }) => questionKey) };
};

/** The last day before `day` on which a rate of the answer ended; empty without one, as after a clock was set back. */
const endBefore = (day: FiscalDate, { known, knownAt }: CachedParameters): string =>
  (known.kind === 'aliquota' ? ratesOn(known.rates, brasiliaDate(knownAt)) : [])
    .flatMap(({ until }) => until ?? [])
    .filter((until) => until < day)
    .reduce(latest, '');

const latest = (one: string, other: string): string => (one > other ? one : other);

/**
 * The rates of a dotted service that are in force on the day; undefined where they are unknown or too old. Rates that have ended since the
 * answer still count, until the municipality has been asked again: otherwise its other code would look like the only one.
 */
const ratesIn = (
  kept: readonly CachedParameters[],
  day: FiscalDate,
  now: Instant,
): ((service: string) => Rates | undefined) => {
  const answers = new Map(kept.map((one) => [one.questionKey, one]));
  return (service) => {
    const answer = answers.get(questionKeyOf({ kind: 'aliquota', service }));
    if (answer?.known.kind !== 'aliquota' || ageSeconds(answer.knownAt, now) > USED_SECONDS) return undefined;
    return ratesOn(answer.known.rates, hasEnded(answer, day) ? brasiliaDate(answer.knownAt) : day);
  };
};

/** Whether the municipality says that this dotted service has no incidence of ISS, which no note of this service declares (E0540). */
export const isWithoutIncidence = (
  service: string,
  kept: readonly CachedParameters[],
  day: FiscalDate,
  now: Instant,
): boolean => {
  const rates = ratesIn(kept, day, now)(service) ?? [];
  return rates.length > 0 && rates.every(({ incidence }) => incidence === false);
};

/** `000`, and `001` to `999`. */
const COMPLEMENTS = Array.from({ length: 1000 }, (_, index) => String(index).padStart(3, '0'));

/**
 * The one municipal code that the walk over a service found; undefined until the walk has ended, where the national code is enough, and where the
 * company has to choose.
 */
export const onlyMunicipalCode = ({ codes: [only, ...others], next }: AdministeredCodes): string | undefined =>
  next === undefined && others.length === 0 && only !== NATIONAL ? only : undefined;

/**
 * Why the municipal code of a service needs a person; undefined when it does not. `codes` are those to choose from. `none_found`: the walk found no
 * code, which does not say that no code exists. `not_administered`: the municipality was asked for the chosen code and does not administer that code.
 */
export const municipalCodeProblem = (
  { codes, next }: AdministeredCodes,
  chosen: string | undefined,
): 'choose' | 'none_found' | 'not_administered' | undefined => {
  if (chosen !== undefined) return next === undefined && !codes.includes(chosen) ? 'not_administered' : undefined;
  if (next !== undefined) return undefined;
  return codes.length > 1 ? 'choose' : codes.length === 0 ? 'none_found' : undefined;
};

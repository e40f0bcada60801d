import { addSeconds, brasiliaDate, type Instant, isBefore, isWithin } from '../../domain/common/time.js';
import {
  administeredCodes,
  afterEnds,
  CONVENIO,
  OTHER_LINES_REFRESH_SECONDS,
  type ParameterQuestion,
  questionKeyOf,
  REFRESH_SECONDS,
} from '../../domain/municipality/parameters.js';
import { groupedBy } from '../../lib/grouped-by.js';
import { knownIn, type ParametersEntry } from '../../ports/municipal-parameters.js';
import type { Wanted } from './wanted.js';

/** `rank`: the less goes first. */
export type RankedQuestion = { question: ParameterQuestion; rank: string };

/** Pause after a question without a usable answer; doubles each time, up to six hours. */
const RETRY_SECONDS = { first: 60, longest: 6 * 3600 };

/**
 * The order of the questions. The codes of a service decide nothing before the last of them is answered, so the next code of a service with answers,
 * or of one that a request needs, comes before other services.
 */
const TURNS = { convenio: 0, defaultLine: 1, begunLine: 2, otherLine: 3 };

/**
 * The question of one municipality and mode whose turn it is there, undefined when every answer is young enough or was asked for a moment ago. `there`:
 * the entries of the same municipality and mode. Of several municipalities the one with the least rank is next: the convênio of all, then default
 * lines, then other lines; in each of these, never answered questions first, then the question with the oldest answer.
 */
export const nextQuestionOf = (
  place: Wanted,
  there: readonly ParametersEntry[],
  now: Instant,
): RankedQuestion | undefined => {
  let best: RankedQuestion | undefined;
  const known = new Map(there.map((entry) => [entry.questionKey, entry]));
  const rates = groupedBy(there.filter(isOfRate), ({ questionKey }) => nationalPartOf(dottedIn(questionKey)));
  const ends = [...rates.values()].map((ofService) => afterEnds(knownIn(ofService), brasiliaDate(now), now));
  const [due, waiting] = [new Set(ends.flatMap((one) => one.due)), new Set(ends.flatMap((one) => one.waiting))];
  for (const { question, isOther } of questionsOf(place.services, place.otherServices, rates, now)) {
    const questionKey = questionKeyOf(question);
    if (waiting.has(questionKey)) continue;
    const entry = known.get(questionKey);
    const refreshSeconds = isOther ? OTHER_LINES_REFRESH_SECONDS : REFRESH_SECONDS;
    if (entry !== undefined && !isDue(entry, refreshSeconds, due, now)) continue;
    const { knownAt = '', askedAt = '', failures = 0 } = entry ?? {};
    const turn = turnOf(question, isOther, knownAt === '' ? rates : undefined);
    const rank = `${turn}/${knownAt}/${failures === 0 ? '' : askedAt}`;
    if (best === undefined || rank < best.rank) best = { question, rank };
  }
  return best;
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

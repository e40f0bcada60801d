import type { CompanyId, Mode } from '../../domain/common/ids.js';
import { addSeconds, brasiliaDate, type Instant, isWithin } from '../../domain/common/time.js';
import { questionKeyOf } from '../../domain/municipality/parameters.js';
import { createShortTurns } from '../../lib/short-turns.js';
import type { Clock } from '../../ports/clock.js';
import type {
  MunicipalParametersApi,
  ParametersAnswer,
  ParametersCache,
  ParametersEntry,
} from '../../ports/municipal-parameters.js';
import { nextQuestionOf, type RankedQuestion } from './questions.js';
import type { Wanted } from './wanted.js';

export type RefreshDeps = {
  api: MunicipalParametersApi;
  cache: ParametersCache;
  clock: Clock;
  /** Modes whose environment this process can ask. */
  modes: readonly Mode[];
  /** What the registered companies need; companies without a valid certificate cannot ask. */
  wanted(): Promise<readonly Wanted[]>;
  onAnswer(mode: Mode, outcome: 'told' | 'no_proof', reason: string | undefined): void;
  /** Ends a reading early, and the question that it was for. */
  signal: AbortSignal;
};

/**
 * Returns a function that asks the one question whose turn it is, if any, and caches its answer; no request waits for it. An answer that proves nothing
 * leaves the cache as it is. `lead`: the leadership of this process; the next one reads the cache again.
 */
export const createRefresher = (deps: RefreshDeps): ((lead: AbortSignal) => Promise<'asked' | 'nothing due'>) => {
  const { api, cache, clock, onAnswer, signal } = deps;
  const askers = createAskers(clock);
  let reading: Reading | undefined;

  const current = async (lead: AbortSignal): Promise<Reading> => {
    const kept = reading;
    reading = undefined;
    if (kept === undefined || kept.lead !== lead || !isWithin(clock.now(), kept.at, kept.until))
      return await read(deps, lead);
    // An answer may make other questions of its municipality due, and a request may have noted one.
    const asked = kept.asked;
    if (asked !== undefined) {
      const entries = (await cache.entriesOf(asked.wanted.ibge)).filter(({ mode }) => mode === asked.wanted.mode);
      asked.next = nextQuestionOf(asked.wanted, entries, clock.now());
    }
    return kept;
  };

  return async (lead) => {
    const isOver = (): boolean => lead.aborted || signal.aborted;
    const now = await current(lead);
    if (isOver()) return 'nothing due';
    reading = now;
    const place = firstOf(now.places);
    now.asked = place;
    if (place?.next === undefined) return 'nothing due';
    const { mode, ibge, companies } = place.wanted;
    const { question } = place.next;
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
};

/**
 * Chooses the company whose certificate asks for the parameters of a municipality. Kept in memory: after a start each certificate that is not taken
 * costs one more question.
 */
const createAskers = (clock: Clock) => {
  const faultAt = new Map<string, Instant>();
  const faultOf = (mode: Mode, companyId: CompanyId): Instant => faultAt.get(`${mode}/${companyId}`) ?? '';
  return {
    /** The first of `companies` whose certificate was at fault never, or else longest ago. Throws when there are none. */
    choose: (mode: Mode, companies: readonly CompanyId[]): CompanyId =>
      companies.reduce((best, one) => (faultOf(mode, one) < faultOf(mode, best) ? one : best)),
    note: (mode: Mode, companyId: CompanyId, answer: ParametersAnswer): void => {
      const key = `${mode}/${companyId}`;
      if (answer.kind === 'known') faultAt.delete(key);
      else if (answer.mayLieWithCertificate === true) faultAt.set(key, clock.now());
    },
  };
};

type Place = { wanted: Wanted; next: RankedQuestion | undefined };

/** What one reading of the companies and of the cache found; it serves the questions until `until`. */
type Reading = {
  lead: AbortSignal;
  at: Instant;
  until: Instant;
  places: readonly Place[];
  /** Asked about since, so that its next question is another one. */
  asked?: Place | undefined;
};

/** A second for so many questions and entries: few are read again for each question, 60,000 serve a minute. */
const READ_PER_SECOND = 1_000;

/** A new company, a request that lacks an answer and a contradicted answer are noticed within it. */
const LONGEST_SECONDS = 60;

const read = async ({ cache, clock, modes, signal, ...deps }: RefreshDeps, lead: AbortSignal): Promise<Reading> => {
  const shortTurn = createShortTurns();
  const at = clock.now();
  const wanted = await deps.wanted();
  const places = new Map(wanted.map((one): [string, Place] => [placeKey(one), { wanted: one, next: undefined }]));
  const unread = new Set(places.values());
  let size = 0;
  const rank = (place: Place, entries: readonly ParametersEntry[]): void => {
    unread.delete(place);
    size += entries.length + place.wanted.services.length + place.wanted.otherServices.length;
    place.next = nextQuestionOf(place.wanted, entries, at);
  };
  for await (const entries of cache.all()) {
    await shortTurn();
    if (lead.aborted || signal.aborted) break;
    const [first] = entries;
    const place = first === undefined ? undefined : places.get(placeKey(first));
    if (place !== undefined) rank(place, entries);
  }
  for (const place of unread) {
    await shortTurn();
    if (lead.aborted || signal.aborted) break;
    rank(place, []);
  }
  const result = { lead, at, places: [...places.values()] };
  const seconds = Math.min(Math.floor(size / READ_PER_SECOND), LONGEST_SECONDS);
  if (!lead.aborted && !signal.aborted && firstOf(result.places)?.next === undefined)
    for (const mode of modes) await cache.keepOnly(mode, ibgesOf(wanted, mode));
  return { ...result, until: addSeconds(at, seconds) };
};

const placeKey = ({ mode, ibge }: { mode: Mode; ibge: string }): string => `${mode}/${ibge}`;

/** The place whose question is next: the first of those with the least rank. Of places without a question any. */
const firstOf = (places: readonly Place[]): Place | undefined => {
  let first: Place | undefined;
  for (const place of places)
    if (place.next !== undefined && (first?.next === undefined || place.next.rank < first.next.rank)) first = place;
  return first;
};

const ibgesOf = (wanted: readonly Wanted[], mode: Mode): readonly string[] =>
  wanted.filter((one) => one.mode === mode).map(({ ibge }) => ibge);

import { placeOfQuestion } from '../../domain/municipality/parameters.js';
import type { Mode } from '../../domain/shared/ids.js';
import { brasiliaDate } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { MunicipalParametersApi, ParametersCache } from '../../ports/municipal-parameters.js';
import { nextQuestion, type Wanted } from './next-question.js';

export type RefreshDeps = {
  api: MunicipalParametersApi;
  cache: ParametersCache;
  clock: Clock;
  /** Those that this process can ask. */
  modes: readonly Mode[];
  /** What the registered companies need to be known; those without a certificate cannot ask. */
  wanted(): Promise<readonly Wanted[]>;
  onAnswer(mode: Mode, outcome: 'told' | 'no_proof', reason: string | undefined): void;
};

/**
 * Asks the one question whose turn it is, if any, and keeps its answer: no request ever waits for it. An answer that proves
 * nothing leaves what is kept.
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
  const place = placeOfQuestion(question);
  const answer = await api.ask({ mode, companyId }, ibge, question, brasiliaDate(clock.now()));
  const at = clock.now();
  if (answer.kind === 'told') await cache.keep(mode, ibge, { place, told: answer.told, toldAt: at });
  else await cache.noteFailure(mode, ibge, place, answer.reason, at);
  onAnswer(mode, answer.kind, answer.kind === 'told' ? undefined : answer.reason);
  return 'asked';
};

const ibgesOf = (wanted: readonly Wanted[], mode: Mode): readonly string[] =>
  wanted.filter((one) => one.mode === mode).map(({ ibge }) => ibge);

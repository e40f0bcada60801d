import type { Mode } from '../domain/common/ids.js';
import type { FiscalDate, Instant } from '../domain/common/time.js';
import type { CachedParameters, KnownParameters, ParameterQuestion } from '../domain/municipality/parameters.js';
import type { Caller } from './authorizer.js';

/**
 * `no_proof`: HTML, 429, 5xx, silence or an unreadable body say nothing about the municipality, so the cached answer stays. `mayLieWithCertificate`:
 * the company's certificate cannot be used, or the API seems to refuse it, so another company may get an answer.
 */
export type ParametersAnswer =
  | { kind: 'known'; known: KnownParameters }
  | { kind: 'no_proof'; reason: string; mayLieWithCertificate?: true };

/** The municipal parameters API of the ADN. Asks once, within its time limit, and never throws for an answer of the API. */
export type MunicipalParametersApi = {
  /** `ibge` is the municipality's 7-digit code, `competence` the day whose rates and rules are asked for. */
  ask(caller: Caller, ibge: string, question: ParameterQuestion, competence: FiscalDate): Promise<ParametersAnswer>;
};

/** The cache entry of one question, also when the API never answered. */
export type ParametersEntry = {
  mode: Mode;
  ibge: string;
  /** As `questionKeyOf` gives it. */
  questionKey: string;
  known?: KnownParameters;
  /** Instant of the cached answer. */
  knownAt?: Instant;
  /**
   * When the question was last asked, answered or not. Until it was asked: when a request first needed its answer. Later than `knownAt` without a
   * failure: since when it is to be asked again.
   */
  askedAt: Instant;
  /** Unanswered questions in a row. */
  failures: number;
  /** Why the last question had no answer. */
  reason?: string;
};

/** The answers among the entries. */
export const knownIn = (entries: readonly ParametersEntry[]): readonly CachedParameters[] =>
  entries.flatMap(({ questionKey, known, knownAt }) =>
    known === undefined || knownAt === undefined ? [] : [{ questionKey, known, knownAt }],
  );

/** The last answers, in the database. Losing them costs repeated questions only. */
export type ParametersCache = {
  of(mode: Mode, ibge: string): Promise<readonly CachedParameters[]>;
  /** All entries of one municipality, unanswered questions included. */
  entriesOf(ibge: string): Promise<readonly ParametersEntry[]>;
  /** All entries, those of one municipality and mode at a time. They are many, so they are read a few at a time. */
  all(): AsyncIterable<readonly ParametersEntry[]>;
  /** The entries about the convênio, of all municipalities. */
  convenios(): Promise<readonly ParametersEntry[]>;
  keep(mode: Mode, ibge: string, known: CachedParameters): Promise<void>;
  /** Leaves the cached answer as it is. */
  noteFailure(mode: Mode, ibge: string, questionKey: string, reason: string, at: Instant): Promise<void>;
  /** Notes a question whose answer a request needs; changes no entry. The refresher then asks it before those of other lines. */
  noteNeed(mode: Mode, ibge: string, questionKey: string, at: Instant): Promise<void>;
  /**
   * Makes the answered questions about the rates of a service due, with all its municipal codes. An answer that is younger than an hour stays, so that
   * many refusals cost one call for each question in an hour. `service`: dotted, of any municipal code.
   */
  askAgain(mode: Mode, ibge: string, service: string, at: Instant): Promise<void>;
  /** Removes the municipalities that are not named: no company is there any more. */
  keepOnly(mode: Mode, ibges: readonly string[]): Promise<void>;
};

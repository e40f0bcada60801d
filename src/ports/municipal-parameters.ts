import type { KeptParameters, ParameterQuestion, ToldParameters } from '../domain/municipality/parameters.js';
import type { Mode } from '../domain/shared/ids.js';
import type { FiscalDate, Instant } from '../domain/shared/time.js';
import type { Caller } from './authorizer.js';

/** `no_proof`: HTML, 429, 5xx, silence or an unreadable body say nothing of the municipality; what is kept stays. */
export type ParametersAnswer = { kind: 'told'; told: ToldParameters } | { kind: 'no_proof'; reason: string };

/** The municipal parameters API of the ADN. Asks once, within its own time limit, and never throws for what the other side did. */
export type MunicipalParametersApi = {
  /** `ibge` is the municipality's 7-digit code, `competence` the day that rates and rules are asked for. */
  ask(caller: Caller, ibge: string, question: ParameterQuestion, competence: FiscalDate): Promise<ParametersAnswer>;
};

/** One question's place in the cache, also when it was never answered. */
export type ParametersEntry = {
  mode: Mode;
  ibge: string;
  place: string;
  told?: ToldParameters;
  /** Of the answer that is kept. */
  toldAt?: Instant;
  /** Of the last question, answered or not. */
  askedAt: Instant;
  /** Questions in a row that were not answered. */
  failures: number;
  /** Why the last one was not. */
  reason?: string;
};

/** The last answers, kept in R. Losing them costs questions, nothing else. */
export type ParametersCache = {
  of(mode: Mode, ibge: string): Promise<readonly KeptParameters[]>;
  /** Everything of one municipality, questions without an answer included. */
  entriesOf(ibge: string): Promise<readonly ParametersEntry[]>;
  all(): Promise<readonly ParametersEntry[]>;
  keep(mode: Mode, ibge: string, told: KeptParameters): Promise<void>;
  /** Leaves what is kept as it is. */
  noteFailure(mode: Mode, ibge: string, place: string, reason: string, at: Instant): Promise<void>;
  /** Forgets the municipalities that are not named: no company is there any more. */
  keepOnly(mode: Mode, ibges: readonly string[]): Promise<void>;
};

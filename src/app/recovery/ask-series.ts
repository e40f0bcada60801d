import { dpsId } from '../../domain/common/access-key.js';
import type { CompanyId, Mode, StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import type { Registration } from '../../domain/company/events.js';
import { MAX_DPS_NUMBER } from '../../domain/dps-number/dps-number.js';
import type { Limits } from '../../domain/invoice/limits.js';
import type { AuthorizedNote, Authorizer, Caller } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { DocumentSigner, SigningIdentity } from '../../ports/documents.js';
import type { EventLog } from '../../ports/event-log.js';
import type { HeldNumbersRead } from '../../ports/held-numbers.js';
import type { EventStore } from '../event-store/event-store.js';

/**
 * Where a walk begins besides the end of the log: a number from which notes may have been made by events that the log has lost. `municipality` is a
 * 7-digit IBGE code; without it each city counts that the log has for the company.
 */
export type StartingPoint = {
  companyId: CompanyId;
  mode: Mode;
  series: string;
  number: number;
  municipality?: string;
};

/** What log recovery works with. */
export type RecoveryDeps = {
  log: Pick<EventLog, 'readAll' | 'read'>;
  store: EventStore;
  authorizer: Authorizer;
  signer: DocumentSigner;
  clock: Clock;
  /** The instant by the clock of the database, which all processes share. */
  databaseNow(): Promise<Instant>;
  limits: Limits;
  actor: `support:${string}`;
  /** The company's opened certificate; undefined when the company has none that can be opened. */
  identityOf(caller: Caller): Promise<SigningIdentity | undefined>;
  currencyCode(iso: string): string | undefined;
  /** 7-digit IBGE code of the city that the company is registered in. */
  municipalityOf(registration: Pick<Registration, 'city' | 'state'>): string | undefined;
  /** Rows of the read model, which may be newer than the log and so may know a note. */
  byAccessKeys(keys: readonly string[]): Promise<readonly { accessKey: string; stream: StreamName }[]>;
  /** The companies of the read model. */
  companyRows(): Promise<readonly Pick<Company, 'registration' | 'certificate'>[]>;
  heldNumbers: HeldNumbersRead;
  /** Modes of a simulator whose ledger is not available. There is nothing to ask, and no note of such a mode is a fiscal document. */
  modesWithoutLedger: readonly Mode[];
  /** Whether the company's certificate is one that only a simulator accepts: no authorizer has a note of the company then. */
  isForSimulator(companyId: CompanyId): Promise<boolean>;
  /** Modes that the operator leaves out. Each must be a mode without a ledger, so that a rehearsal asks no authorizer by mistake. */
  withoutAuthorizer: readonly Mode[];
  /** Companies that the operator leaves out. Each stays disabled until a later comparison. */
  withoutCompanies: readonly CompanyId[];
  /** Starting points that the operator named. */
  named: readonly StartingPoint[];
  /** When the log was last seen to have lost events, or to be restored: the sends that it has lost began before. */
  lostBefore: Instant;
  /** How many absent numbers in a row end the search in a series. */
  span: number;
  waitUntil(at: Instant): Promise<void>;
  onProgress(text: string): void;
};

/** A series of one company's DPS ids under one city. */
export type SeriesToCompare = {
  mode: Mode;
  companyId: CompanyId;
  /** 7-digit IBGE code. */
  municipality: string;
  series: string;
  /** What the series would give next; without events of it, where it would begin. */
  nextNumber: number;
  /** The numbers at which walks begin, in ascending order. */
  starts: readonly number[];
  /** Numbers before the end of the log that are asked for, each alone; see `KnownSeries`. */
  taken: readonly number[];
};

export type FoundNote = { number: number; note: AuthorizedNote };

/** Consecutive numbers that were asked for, both ends included. */
export type NumberRange = { from: number; to: number };

/** What was asked and answered for one series. */
export type SeriesAnswers = { found: readonly FoundNote[]; absent: readonly number[]; walks: readonly NumberRange[] };

/** One answer was inconclusive; `unproven` says why. `certificateRefused`: it refuses the company's certificate, so asking again changes nothing. */
export type NoProof = { unproven: string; certificateRefused?: true };

type Answers = Omit<SeriesAnswers, 'walks'>;

/** Look-ups at once, as many as one issuing process makes. */
const AT_ONCE = 8;

/**
 * Asks for each number that the log has as allocated and that became no note, then from each start on until `span` in a row are absent. Numbers may be left out,
 * when an invoice never got to its attempt. A start inside a walk begins no other.
 */
export const askSeries = async (wanted: SeriesToCompare, deps: RecoveryDeps): Promise<SeriesAnswers | NoProof> => {
  const taken = await askAll(wanted.taken, wanted, deps);
  if ('unproven' in taken) return taken;
  let answers: SeriesAnswers = { ...taken, walks: [] };
  for (const from of wanted.starts) {
    if (answers.walks.some(({ to }) => from <= to)) continue;
    const walked = await askFrom(from, wanted, deps);
    if ('unproven' in walked) return walked;
    answers = { ...joined(answers, walked), walks: [...answers.walks, { from, to: walked.to }] };
  }
  return answers;
};

/**
 * Asks for the absent numbers once more, later: a note that was just registered may have been hidden from the first look-up. A walk that ends sooner
 * than `span` after such a note continues. Returns everything that was found so far, and what is absent now.
 */
export const askAgain = async (
  wanted: SeriesToCompare,
  { found, absent, walks }: SeriesAnswers,
  deps: RecoveryDeps,
): Promise<SeriesAnswers | NoProof> => {
  const again = await askAll(absent, wanted, deps);
  if ('unproven' in again) return again;
  let answers = joined({ found, absent: [] }, again);
  const longer: NumberRange[] = [];
  for (const { from, to } of walks) {
    const within = again.found.filter(({ number }) => number >= from && number <= to);
    const furthest = Math.max(0, ...within.map(({ number }) => number));
    const walked = furthest === 0 ? { found: [], absent: [], to } : await askFrom(to + 1, wanted, deps, to - furthest);
    if ('unproven' in walked) return walked;
    answers = joined(answers, walked);
    longer.push({ from, to: walked.to });
  }
  return { ...answers, walks: longer };
};

/** A walk that became longer may run into the next one, so a note may be found twice. */
const joined = (one: Answers, other: Answers): Answers => {
  const notes = new Map([...one.found, ...other.found].map((found) => [found.number, found]));
  return { found: [...notes.values()], absent: [...new Set([...one.absent, ...other.absent])] };
};

const askFrom = async (
  first: number,
  wanted: SeriesToCompare,
  deps: RecoveryDeps,
  absentBefore = 0,
): Promise<(Answers & { to: number }) | NoProof> => {
  const found: FoundNote[] = [];
  const absent: number[] = [];
  let inARow = absentBefore;
  let next = first;
  while (inARow < deps.span && next <= MAX_DPS_NUMBER) {
    const size = Math.min(AT_ONCE, deps.span - inARow, MAX_DPS_NUMBER - next + 1);
    const numbers = Array.from({ length: size }, (_, index) => next + index);
    const asked = await askAll(numbers, wanted, deps);
    if ('unproven' in asked) return asked;
    found.push(...asked.found);
    absent.push(...asked.absent);
    const last = Math.max(0, ...asked.found.map(({ number }) => number));
    inARow = last === 0 ? inARow + size : next + size - 1 - last;
    next += size;
  }
  return { found, absent, to: next - 1 };
};

const askAll = async (
  numbers: readonly number[],
  wanted: SeriesToCompare,
  deps: RecoveryDeps,
): Promise<Answers | NoProof> => {
  const found: FoundNote[] = [];
  const absent: number[] = [];
  for (let from = 0; from < numbers.length; from += AT_ONCE) {
    const answers = await Promise.all(
      numbers.slice(from, from + AT_ONCE).map(async (number) => ({ number, answer: await ask(number, wanted, deps) })),
    );
    for (const { number, answer } of answers) {
      if (answer.kind === 'inconclusive')
        return { unproven: answer.reason, ...(answer.certificateRefused && { certificateRefused: true }) };
      if (answer.kind === 'found') found.push({ number, note: answer.found });
      else absent.push(number);
    }
  }
  return { found, absent };
};

const ask = (
  number: number,
  { mode, companyId, municipality, series }: SeriesToCompare,
  { authorizer }: RecoveryDeps,
) => authorizer.findByDps({ mode, companyId }, dpsId({ municipality, cnpj: companyId, series, number }));

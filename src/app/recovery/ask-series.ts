import { type DpsId, dpsId } from '../../domain/common/access-key.js';
import type { CompanyId, Mode } from '../../domain/common/ids.js';
import { addSeconds, type Instant } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import type { Registration } from '../../domain/company/events.js';
import { MAX_DPS_NUMBER } from '../../domain/dps-number/dps-number.js';
import type { Limits } from '../../domain/invoice/limits.js';
import type { AuthorizedNote, Authorizer, Caller } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { DocumentSigner, SigningIdentity } from '../../ports/documents.js';
import type { EventLog } from '../../ports/event-log.js';
import type { HeldNumbersRead } from '../../ports/held-numbers.js';
import type { ReadModel } from '../../ports/read-model.js';
import type { EventStore } from '../event-store/event-store.js';
import type { NoteKey } from './known-work.js';

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
  byAccessKeys: ReadModel['byAccessKeys'];
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
  /** DPS ids of the attempts that the log has under these numbers. */
  attempted: ReadonlySet<DpsId>;
};

export type FoundNote = { number: number; note: AuthorizedNote };

/** Consecutive numbers that were asked for, both ends included. */
export type NumberRange = { from: number; to: number };

/** A look-up that proved nothing, and why. */
export type Doubt = { number: number; dpsId: DpsId; why: string };

/** What was asked and answered for one series. `held`: numbers of notes that the log has. `doubts` are of attempts that the log has. */
export type SeriesAnswers = {
  found: readonly FoundNote[];
  held: readonly number[];
  absent: readonly number[];
  doubts: readonly Doubt[];
  walks: readonly NumberRange[];
};

/** One answer was inconclusive; `unproven` says why. `certificateRefused`: it refuses the company's certificate, so asking again changes nothing. */
export type NoProof = { unproven: Doubt; certificateRefused?: true };

type Answers = Omit<SeriesAnswers, 'walks'>;

const NO_ANSWERS: Answers = { found: [], held: [], absent: [], doubts: [] };

/** `isInLog` says of a note whether the log has it, so that no document of such a note is kept. It may be false where that was not asked. */
type AskDeps = Pick<RecoveryDeps, 'authorizer' | 'clock' | 'span' | 'waitUntil'> & {
  isInLog(note: NoteKey & { amount: string }): boolean;
};

/** Look-ups at once, as many as one issuing process makes. */
const AT_ONCE = 8;

/** Between two look-ups of one number of which the first proved nothing. */
const RETRY_SECONDS = 5;

const RETRIES = 2;

/**
 * Asks from each start on until `span` in a row are absent, and for each number that the log has as allocated and that became no note. Numbers may be
 * left out, when an invoice never got to its attempt. A start inside a walk begins no other. The walks come first, because an authorizer that is away
 * ends them at once.
 */
export const askSeries = async (wanted: SeriesToCompare, deps: AskDeps): Promise<SeriesAnswers | NoProof> => {
  let answers: SeriesAnswers = { ...NO_ANSWERS, walks: [] };
  for (const from of wanted.starts) {
    if (answers.walks.some(({ to }) => from <= to)) continue;
    const walked = await askFrom(from, wanted, deps);
    if ('unproven' in walked) return walked;
    answers = { ...joined(answers, walked), walks: [...answers.walks, { from, to: walked.to }] };
  }
  const { doubts, ...proven } = answers;
  const taken = await askPatiently([...wanted.taken, ...doubts.map(({ number }) => number)], wanted, deps);
  if ('unproven' in taken) return taken;
  return { ...joined({ ...proven, doubts: [] }, taken), walks: answers.walks };
};

/**
 * Asks for the absent numbers once more, later: a note that was just registered may have been hidden from the first look-up. A walk that ends sooner
 * than `span` after such a note continues. Returns everything that was found so far, and what is absent or in doubt now.
 */
export const askAgain = async (
  wanted: SeriesToCompare,
  { found, held, absent, doubts, walks }: SeriesAnswers,
  deps: AskDeps,
): Promise<SeriesAnswers | NoProof> => {
  const again = await askPatiently([...absent, ...doubts.map(({ number }) => number)], wanted, deps);
  if ('unproven' in again) return again;
  let answers = joined({ found, held, absent: [], doubts: [] }, again);
  const longer: NumberRange[] = [];
  for (const { from, to } of walks) {
    const furthest = furthestOf(numbersOf(again).filter((number) => number >= from && number <= to));
    const walked = furthest === 0 ? { ...NO_ANSWERS, to } : await askFrom(to + 1, wanted, deps, to - furthest);
    if ('unproven' in walked) return walked;
    answers = joined(answers, walked);
    longer.push({ from, to: walked.to });
  }
  return { ...answers, walks: longer };
};

/** Numbers under which there is a note. */
export const numbersOf = ({ found, held }: Pick<Answers, 'found' | 'held'>): readonly number[] => [
  ...found.map(({ number }) => number),
  ...held,
];

/** The greatest of the numbers, which may be more than a call takes arguments; 0 without one. */
export const furthestOf = (numbers: readonly number[]): number =>
  numbers.reduce((furthest, number) => Math.max(furthest, number), 0);

/** What was asked for: the taken numbers and the walks, in ascending order. Ranges that touch are one. */
export const askedFor = (taken: readonly number[], walks: readonly NumberRange[]): readonly NumberRange[] => {
  const alone = taken.map((number) => ({ from: number, to: number }));
  const ranges: NumberRange[] = [];
  for (const { from, to } of [...alone, ...walks].sort((one, other) => one.from - other.from)) {
    const last = ranges.at(-1);
    if (last === undefined || from > last.to + 1) ranges.push({ from, to });
    else last.to = Math.max(last.to, to);
  }
  return ranges;
};

/** A number may be asked for twice: a walk that became longer may run into the next one, and a taken number may be inside a walk. */
const joined = (one: Answers, other: Answers): Answers => {
  const notes = new Map([...one.found, ...other.found].map((found) => [found.number, found]));
  const doubts = new Map([...one.doubts, ...other.doubts].map((doubt) => [doubt.number, doubt]));
  return {
    found: [...notes.values()],
    held: [...new Set([...one.held, ...other.held])],
    absent: [...new Set([...one.absent, ...other.absent])],
    doubts: [...doubts.values()],
  };
};

const askFrom = async (
  first: number,
  wanted: SeriesToCompare,
  deps: AskDeps,
  absentBefore = 0,
): Promise<(Answers & { to: number }) | NoProof> => {
  const all: Answers[] = [];
  let inARow = absentBefore;
  let next = first;
  while (inARow < deps.span && next <= MAX_DPS_NUMBER) {
    const size = Math.min(AT_ONCE, deps.span - inARow, MAX_DPS_NUMBER - next + 1);
    const numbers = Array.from({ length: size }, (_, index) => next + index);
    const asked = await askAll(numbers, wanted, deps);
    if ('unproven' in asked) return asked;
    all.push(asked);
    // A number in doubt was used.
    const last = furthestOf([...numbersOf(asked), ...asked.doubts.map(({ number }) => number)]);
    inARow = last === 0 ? inARow + size : next + size - 1 - last;
    next += size;
  }
  return {
    found: all.flatMap(({ found }) => found),
    held: all.flatMap(({ held }) => held),
    absent: all.flatMap(({ absent }) => absent),
    doubts: all.flatMap(({ doubts }) => doubts),
    to: next - 1,
  };
};

/** Asks again for what is in doubt, because one answer of many may be lost. */
const askPatiently = async (
  numbers: readonly number[],
  wanted: SeriesToCompare,
  deps: AskDeps,
): Promise<Answers | NoProof> => {
  let answers = await askAll([...new Set(numbers)], wanted, deps);
  for (let retry = 0; retry < RETRIES; retry += 1) {
    if ('unproven' in answers || answers.doubts.length === 0) break;
    await deps.waitUntil(addSeconds(deps.clock.now(), RETRY_SECONDS));
    const { doubts, ...proven } = answers;
    const again = await askAll(
      doubts.map(({ number }) => number),
      wanted,
      deps,
    );
    answers = 'unproven' in again ? again : joined({ ...proven, doubts: [] }, again);
  }
  return answers;
};

/** A look-up of an attempt that the log has may prove nothing: its invoice is looked up after the pause too, and its number is not given again. */
const askAll = async (
  numbers: readonly number[],
  wanted: SeriesToCompare,
  deps: AskDeps,
): Promise<Answers | NoProof> => {
  const found: FoundNote[] = [];
  const held: number[] = [];
  const absent: number[] = [];
  const doubts: Doubt[] = [];
  for (let from = 0; from < numbers.length; from += AT_ONCE) {
    const answers = await Promise.all(
      numbers.slice(from, from + AT_ONCE).map(async (number) => ({ number, ...(await ask(number, wanted, deps)) })),
    );
    for (const { number, id, answer } of answers) {
      if (answer.kind === 'inconclusive') {
        const doubt = { number, dpsId: id, why: answer.reason };
        if (answer.certificateRefused) return { unproven: doubt, certificateRefused: true };
        if (!wanted.attempted.has(id)) return { unproven: doubt };
        doubts.push(doubt);
      } else if (answer.kind === 'absent') absent.push(number);
      else {
        const { mode, companyId } = wanted;
        const { accessKey, content } = answer.found;
        if (deps.isInLog({ mode, companyId, accessKey, amount: content.amount })) held.push(number);
        else found.push({ number, note: answer.found });
      }
    }
  }
  return { found, held, absent, doubts };
};

const ask = async (
  number: number,
  { mode, companyId, municipality, series }: SeriesToCompare,
  { authorizer }: Pick<RecoveryDeps, 'authorizer'>,
) => {
  const id = dpsId({ municipality, cnpj: companyId, series, number });
  return { id, answer: await authorizer.findByDps({ mode, companyId }, id) };
};

import { dpsId } from '../../domain/common/access-key.js';
import type { CompanyId, Mode, StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Registration } from '../../domain/company/events.js';
import { MAX_DPS_NUMBER } from '../../domain/dps-number/dps-number.js';
import type { Limits } from '../../domain/invoice/limits.js';
import type { AuthorizedNote, Authorizer, Caller } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { DocumentSigner, SigningIdentity } from '../../ports/documents.js';
import type { EventLog } from '../../ports/event-log.js';
import type { EventStore } from '../event-store/event-store.js';

/** What log recovery works with. */
export type RecoveryDeps = {
  log: Pick<EventLog, 'readAll' | 'read'>;
  store: EventStore;
  authorizer: Authorizer;
  signer: DocumentSigner;
  clock: Clock;
  limits: Pick<Limits, 'lookupIntervalsSeconds'>;
  actor: `support:${string}`;
  /** The company's opened certificate; undefined when the company has none that can be opened. */
  identityOf(caller: Caller): Promise<SigningIdentity | undefined>;
  currencyCode(iso: string): string | undefined;
  /** 7-digit IBGE code of the city that the company is registered in. */
  municipalityOf(registration: Registration): string | undefined;
  /** Rows of the read model, which may be newer than the log and so may know a note. */
  byAccessKeys(keys: readonly string[]): Promise<readonly { accessKey: string; stream: StreamName }[]>;
  /** Modes of a simulator whose ledger is not available. There is nothing to ask, and no note of such a mode is a fiscal document. */
  modesWithoutLedger: readonly Mode[];
  /** How many absent numbers in a row end the search in a series. */
  span: number;
  waitUntil(at: Instant): Promise<void>;
  onProgress(text: string): void;
};

/** A series of one company's DPS ids, and the number to begin with. */
export type SeriesToCompare = {
  mode: Mode;
  companyId: CompanyId;
  municipality: string;
  series: string;
  nextNumber: number;
  taken: readonly number[];
};

export type FoundNote = { number: number; note: AuthorizedNote };

/** The notes that were found and the absent numbers; `unproven` when one answer was inconclusive. */
type SeriesAnswers = { found: readonly FoundNote[]; absent: readonly number[] } | { unproven: string };

/** Look-ups at once, as many as one issuing process makes. */
const AT_ONCE = 8;

/**
 * Asks for each number that the log has as allocated but not used, then from the next number on until `span` in a row are absent. Numbers may be
 * left out, when an invoice never got to its attempt.
 */
export const askSeries = async (wanted: SeriesToCompare, deps: RecoveryDeps): Promise<SeriesAnswers> => {
  const taken = await askAll(wanted.taken, wanted, deps);
  if ('unproven' in taken) return taken;
  const beyond = await askFrom(wanted.nextNumber, wanted, deps);
  if ('unproven' in beyond) return beyond;
  return { found: [...taken.found, ...beyond.found], absent: [...taken.absent, ...beyond.absent] };
};

/** Asks for the same numbers once more, later: a note that was just registered may have been hidden from the first look-up. */
export const askAgain = async (
  wanted: SeriesToCompare,
  absent: readonly number[],
  deps: RecoveryDeps,
): Promise<SeriesAnswers> => {
  const again = await askAll(absent, wanted, deps);
  if ('unproven' in again || again.found.length === 0) return again;
  const furthest = Math.max(...again.found.map(({ number }) => number));
  const asked = Math.max(...absent);
  const beyond = await askFrom(asked + 1, wanted, deps, asked - furthest);
  if ('unproven' in beyond) return beyond;
  return { found: [...again.found, ...beyond.found], absent: [...again.absent, ...beyond.absent] };
};

const askFrom = async (
  first: number,
  wanted: SeriesToCompare,
  deps: RecoveryDeps,
  absentBefore = 0,
): Promise<SeriesAnswers> => {
  const found: FoundNote[] = [];
  const absent: number[] = [];
  let inARow = absentBefore;
  for (let next = first; inARow < deps.span && next <= MAX_DPS_NUMBER; ) {
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
  return { found, absent };
};

const askAll = async (
  numbers: readonly number[],
  wanted: SeriesToCompare,
  deps: RecoveryDeps,
): Promise<SeriesAnswers> => {
  const found: FoundNote[] = [];
  const absent: number[] = [];
  for (let from = 0; from < numbers.length; from += AT_ONCE) {
    const answers = await Promise.all(
      numbers.slice(from, from + AT_ONCE).map(async (number) => ({ number, answer: await ask(number, wanted, deps) })),
    );
    for (const { number, answer } of answers) {
      if (answer.kind === 'inconclusive') return { unproven: answer.reason };
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

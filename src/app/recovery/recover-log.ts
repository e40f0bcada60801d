import { noChange } from '../../domain/common/decision.js';
import { type CompanyId, dpsStream, type Mode, parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import { addSeconds } from '../../domain/common/time.js';
import { dpsNumbersFrom, moveNumber } from '../../domain/dps-number/dps-number.js';
import { absenceGapSeconds } from '../../domain/invoice/limits.js';
import { operatorContext } from '../event-store/command-context.js';
import { transact } from '../event-store/transact.js';
import { loadCompany } from '../operator/company/company-commands.js';
import { adoptNote, candidatesOf, invoiceOfNote } from './adopt-note.js';
import { askAgain, askSeries, type FoundNote, type RecoveryDeps, type SeriesToCompare } from './ask-series.js';
import { type KnownWork, keysInLog, readKnownWork } from './known-work.js';

/** A note at the authorizer that no invoice of the log accounts for. `once`: the id of its invoice, where the read model still has it. */
export type UnknownNote = {
  mode: Mode;
  companyId: string;
  series: string;
  number: number;
  accessKey: string;
  authorizedAt: string;
  amount: string;
  once?: string;
};

export type ComparedSeries = {
  mode: Mode;
  companyId: string;
  series: string;
  found: number;
  /** Notes that were recorded on the open invoices that they belong to. */
  adopted: number;
  /** The next number of the series, when it was moved. */
  movedTo?: number;
};

export type Unproven = { companyId: string; mode: Mode; why: string };

/**
 * `isDone`: nothing that is sent from now on can be a second note for what was issued before. Otherwise `unproven` says what could not be
 * compared, or `unknown` has live notes that an operator must account for; then no number was moved.
 */
export type RecoveryReport = {
  isDone: boolean;
  series: readonly ComparedSeries[];
  skipped: readonly Skipped[];
  unknown: readonly UnknownNote[];
  unproven: readonly Unproven[];
};

type Compared = { wanted: SeriesToCompare; found: FoundNote[]; absent: readonly number[] };

/**
 * Compares a restored log with what the authorizer holds, for each company, mode and series. Notes are recorded on the open invoices that they
 * belong to, notes without an invoice are reported, and numbers are moved past every note. A number counts as free only after a proven absence;
 * while one answer proves nothing, nothing is recorded. `acceptUnknown`: the operator has informed the clients, so that they do not repeat
 * requests that the log has lost.
 */
export const compareRestoredLog = async (deps: RecoveryDeps, acceptUnknown: boolean): Promise<RecoveryReport> => {
  const known = await readKnownWork(deps.log);
  const { all, skipped } = await seriesToCompare(known, deps);
  const { compared, unproven } = await compareAll(all, deps);
  if (unproven.length > 0) return { isDone: false, series: [], skipped, unknown: [], unproven };

  const keys = compared.flatMap(({ found }) => found.map(({ note }) => note.accessKey));
  const held = await keysInLog(deps.log, keys);
  const series: ComparedSeries[] = [];
  const unknown: UnknownNote[] = [];
  for (const { wanted, found } of compared) {
    const news = found.filter(({ note }) => !held.has(note.accessKey));
    const { adopted, unknownNotes } = await adoptNotes(wanted, news, known.open, deps);
    const { mode, companyId, series: name } = wanted;
    series.push({ mode, companyId, series: name, found: found.length, adopted });
    unknown.push(...unknownNotes);
  }
  const isDone = acceptUnknown || unknown.every(({ mode }) => mode === 'test');
  if (!isDone) return { isDone, series, skipped, unknown, unproven };
  return { isDone, series: await moveAll(compared, series, deps), skipped, unknown, unproven };
};

const compareAll = async (all: readonly SeriesToCompare[], deps: RecoveryDeps) => {
  const compared: Compared[] = [];
  const unproven: Unproven[] = [];
  for (const wanted of all) {
    deps.onProgress(`${wanted.companyId} ${wanted.mode} series ${wanted.series}: from number ${wanted.nextNumber} on`);
    const walked = await askSeries(wanted, deps);
    if ('unproven' in walked) unproven.push({ companyId: wanted.companyId, mode: wanted.mode, why: walked.unproven });
    else compared.push({ wanted, found: [...walked.found], absent: walked.absent });
  }
  let open = compared;
  // A look-up that finds a note begins the proof again. Each such round finds at least one note, so the loop ends.
  while (unproven.length === 0 && open.length > 0) {
    const at = addSeconds(deps.clock.now(), absenceGapSeconds(deps.limits));
    deps.onProgress(`what was not there is asked for once more at ${at}`);
    await deps.waitUntil(at);
    const more: Compared[] = [];
    for (const one of open) {
      const { wanted } = one;
      const again = await askAgain(wanted, one.absent, deps);
      if ('unproven' in again) {
        unproven.push({ companyId: wanted.companyId, mode: wanted.mode, why: again.unproven });
        continue;
      }
      one.found.push(...again.found);
      one.absent = again.absent;
      if (again.found.length > 0) more.push(one);
    }
    open = more;
  }
  return { compared, unproven };
};

const adoptNotes = async (
  wanted: SeriesToCompare,
  news: readonly FoundNote[],
  open: readonly string[],
  deps: RecoveryDeps,
): Promise<{ adopted: number; unknownNotes: readonly UnknownNote[] }> => {
  const unknownNotes: UnknownNote[] = [];
  let adopted = 0;
  const candidates = news.length === 0 ? [] : await candidatesOf(wanted, open, deps);
  for (const one of news) {
    const owner = await invoiceOfNote(one, wanted, candidates, deps);
    if (owner === undefined) unknownNotes.push(await unknownNoteOf(one, wanted, deps));
    // When the log has the attempt, the issuing protocol finds the note.
    else if (!owner.isKnown && (await adoptNote(owner.stream, one, deps))) adopted += 1;
  }
  return { adopted, unknownNotes };
};

const unknownNoteOf = async (
  { number, note: { accessKey, authorizedAt, content } }: FoundNote,
  { mode, companyId, series }: SeriesToCompare,
  { byAccessKeys }: RecoveryDeps,
): Promise<UnknownNote> => {
  const [row] = await byAccessKeys([accessKey]);
  const invoiceId = row === undefined ? undefined : parseInvoiceStream(row.stream)?.invoiceId;
  return {
    mode,
    companyId,
    series,
    number,
    accessKey,
    authorizedAt,
    amount: content.amount,
    ...(invoiceId === undefined ? {} : { once: publicInvoiceId(invoiceId) }),
  };
};

/** Runs after the notes are recorded, so that no invoice with a note is sent under a later number. */
const moveAll = async (
  compared: readonly Compared[],
  series: readonly ComparedSeries[],
  deps: RecoveryDeps,
): Promise<readonly ComparedSeries[]> => {
  const moved: ComparedSeries[] = [];
  for (const [index, { wanted, found }] of compared.entries()) {
    const seen = series[index];
    if (seen === undefined) continue;
    const movedTo = await moveNumbersPast(wanted, Math.max(0, ...found.map(({ number }) => number)), deps);
    moved.push(movedTo === undefined ? seen : { ...seen, movedTo });
  }
  return moved;
};

/**
 * Moves the series past the last found note, so that no number of a note is given again. Returns the new next number; undefined when the series
 * was there already.
 */
export const moveNumbersPast = async (
  { mode, companyId, series, nextNumber: start }: Omit<SeriesToCompare, 'municipality' | 'taken'>,
  furthestFound: number,
  { store, clock, actor }: Pick<RecoveryDeps, 'store' | 'clock' | 'actor'>,
): Promise<number | undefined> => {
  const stream = dpsStream(mode, companyId, series);
  const outcome = await transact(
    {
      stream,
      read: 'last',
      fold: dpsNumbersFrom(start),
      decide: (numbers, { now }) =>
        furthestFound < numbers.nextNumber ? noChange : moveNumber(numbers, furthestFound + 1, now),
      context: operatorContext('reconcile_numbers', { actor, mode, companyId }),
    },
    { store, clock },
  );
  return outcome.kind === 'appended' ? outcome.state.nextNumber : undefined;
};

/** A company or mode that is not compared, and why that is safe. */
type Skipped = { companyId: CompanyId; mode?: Mode; why: string };

const modes: readonly Mode[] = ['live', 'test'];

/** One entry for each series that a company has or had, according to the log. The read model is not used, because it may belong to another log. */
const seriesToCompare = async (
  { companies, series }: KnownWork,
  deps: RecoveryDeps,
): Promise<{ all: readonly SeriesToCompare[]; skipped: readonly Skipped[] }> => {
  const all: SeriesToCompare[] = [];
  const skipped: Skipped[] = [];
  for (const companyId of companies) {
    const { state } = await loadCompany(companyId, deps.store);
    if (state.kind !== 'company') continue;
    const municipality = deps.municipalityOf(state.registration);
    if (state.certificate === undefined || municipality === undefined) {
      const why = state.certificate === undefined ? 'it has no certificate' : 'its city is in no table';
      skipped.push({ companyId, why: `${why}, so it cannot issue` });
      continue;
    }
    for (const mode of modes) {
      if (deps.modesWithoutLedger.includes(mode)) {
        skipped.push({ companyId, mode, why: "the simulator's ledger is not here; its notes are no fiscal documents" });
        continue;
      }
      const start = state.registration.dps[mode];
      const own = series.filter((one) => one.companyId === companyId && one.mode === mode);
      const isBegun = own.some((one) => one.series === start.series);
      const ofMode = isBegun ? own : [...own, { mode, companyId, ...start, taken: [] }];
      all.push(...ofMode.map((one) => ({ ...one, municipality })));
    }
  }
  return { all, skipped };
};

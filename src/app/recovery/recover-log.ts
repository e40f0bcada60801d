import type { AccessKey } from '../../domain/common/access-key.js';
import { type CompanyId, dpsStream, type Mode } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { addSeconds, DAY_SECONDS, earlierOf, epochMs, type Instant, isBefore } from '../../domain/common/time.js';
import { dpsNumbersFrom, goOnAfterNotes } from '../../domain/dps-number/dps-number.js';
import { absenceGapSeconds } from '../../domain/invoice/limits.js';
import { counted } from '../../lib/counted.js';
import { appendAudit } from '../audit/audit-trail.js';
import { operatorContext } from '../event-store/command-context.js';
import { transact } from '../event-store/transact.js';
import { APPEND_GRACE_SECONDS } from '../issuing/protocol.js';
import { type Repeats, withRepeats } from './accepted-again.js';
import { adoptNotes, type LeftNote } from './adopt-note.js';
import {
  askAgain,
  askedFor,
  askSeries,
  type Doubt,
  type NoProof,
  type NumberRange,
  numbersOf,
  type RecoveryDeps,
  type SeriesAnswers,
  type SeriesToCompare,
} from './ask-series.js';
import { slowerNow } from './end-of-sends.js';
import { holdCompanies, refusalOfEnabled } from './hold-companies.js';
import { type KnownWork, notesInLog, notesInLogOf, readKnownWork } from './known-work.js';
import { heldCompanies } from './recorded-recoveries.js';
import { planComparison, refusalOfLeftOut, type Skipped, type Unaskable } from './series-to-compare.js';
import { holdsPause, importedOtherwise, type UnknownNote, unknownNotesOf } from './unknown-notes.js';

export type ComparedSeries = {
  mode: Mode;
  companyId: CompanyId;
  /** 7-digit IBGE code of the DPS ids. */
  municipality: string;
  series: string;
  /** The numbers that were asked for, in ascending order. A note outside of them was not seen. */
  walked: readonly NumberRange[];
  /** Notes there that the log does not have. */
  found: number;
  /** Notes that were recorded on the open invoices that they belong to. */
  adopted: number;
  /** The next number of the series, when it was moved or its stop was lifted. */
  movedTo?: number;
  /** Whether the stop of a stopped series was lifted. */
  stop?: 'lifted' | 'stays';
};

/** A DPS id whose look-up proves nothing. */
export type Doubtful = { companyId: CompanyId; mode: Mode; series: string } & Doubt;

/** `certificateRefused`: the authorizer refuses the company's certificate. */
export type Unproven = (Doubtful & { certificateRefused?: true }) | Unaskable;

/** What `compareRestoredLog` found. No number was moved unless `isDone`. */
export type RecoveryReport = {
  /**
   * Nothing that is sent from now on can be a second note for a note among the numbers of `series`. A note elsewhere was not seen: under a series, a
   * city or a later number that the log has lost, and that neither the database holds nor an operator named.
   */
  isDone: boolean;
  series: readonly ComparedSeries[];
  skipped: readonly Skipped[];
  /** An operator must account for the live ones. */
  unknown: readonly UnknownNote[];
  /** Look-ups of attempts that the log has, which proved nothing several times. The note of another invoice may be there, where the number was given again. */
  doubtful: readonly Doubtful[];
  /** What could not be compared. */
  unproven: readonly Unproven[];
};

const leftOutOf = (skipped: readonly Skipped[]): readonly CompanyId[] =>
  skipped.filter(({ isHeld }) => isHeld).map(({ companyId }) => companyId);

type Compared = { wanted: SeriesToCompare; answers: SeriesAnswers };

type Reported = Compared & { report: ComparedSeries };

/**
 * Compares a restored log with what the authorizer holds, for each company, mode, series and city. Notes are recorded on the open invoices that
 * they belong to, notes without an invoice are reported, and numbers are moved past every note. A number counts as free only after a proven
 * absence; while one answer about a number without an attempt proves nothing, nothing is recorded. `acceptUnknown`: the operator has informed the
 * clients, so that they do not repeat requests that the log has lost. A note that was accepted in an earlier recovery needs that no more. Issuing stays
 * paused all the same while an open invoice that may be sent has amount and customer of such a live note. Refuses a starting point of the operator at
 * which nothing can be asked.
 */
export const compareRestoredLog = async (
  deps: RecoveryDeps,
  acceptUnknown: boolean,
): Promise<RecoveryReport | { refused: string }> => {
  const takenSince = takenSinceFor(deps);
  const known = await readKnownWork(deps.log, takenSince);
  const plan = await planComparison(known, deps);
  if ('refused' in plan) return plan;
  const { all, skipped, unaskable } = plan;
  // A wait would only delay the report of an obstacle that is known already.
  if (all.length > 0 && unaskable.length === 0) await untilLostSendsAreOver(known, deps);
  // Where an operator named a number that the log has used, most notes from there on are in the log: their documents would fill the memory.
  const ofNamed = await notesInLogOf(deps.log, new Set(deps.named.map(({ companyId }) => companyId)));
  const { compared, unproven } = await compareAll(all, unaskable, {
    ...deps,
    isInLog: (note) => ofNamed.has(note) && ofNamed.importOfOtherAmount(note) === undefined,
  });
  if (unproven.length > 0) return { isDone: false, series: [], skipped, unknown: [], doubtful: [], unproven };
  // The comparison takes minutes, in which a company that is left out may have been enabled.
  const refused = (await refusalOfLeftOut(known, deps)) ?? (await refusalOfEnabled(leftOutOf(skipped), deps.store));
  if (refused !== undefined) return { refused };

  const notes = compared.flatMap(({ wanted: { mode, companyId }, answers: { found } }) =>
    found.map(({ note: { accessKey } }) => ({ mode, companyId, accessKey })),
  );
  const held = await notesInLog(deps.log, notes);
  // A process that had not seen the pause yet may have accepted a request during the comparison.
  const current = notes.length === 0 ? known : await readKnownWork(deps.log, takenSince);
  const news = compared.map(({ wanted, answers }) => {
    const { mode, companyId } = wanted;
    return {
      wanted,
      notes: answers.found.filter(({ note: { accessKey } }) => !held.has({ mode, companyId, accessKey })),
    };
  });
  const { adopted, left: ownerless, withNote } = await adoptNotes(news, current, deps);
  const reported = compared.map(({ wanted, answers }): Reported => {
    const { mode, companyId, municipality, series: name } = wanted;
    const own = adopted.get(wanted) ?? 0;
    const found = own + ownerless.filter((one) => one.wanted === wanted).length;
    const place = { mode, companyId, municipality, series: name, walked: askedFor(wanted.taken, answers.walks) };
    return { wanted, answers, report: { ...place, found, adopted: own } };
  });
  const mayBeRepeats = current.open.filter((stream) => !withNote.has(stream));
  const left: (LeftNote & Repeats)[] = [];
  for (const { wanted } of compared) {
    const own = ownerless.filter((one) => one.wanted === wanted);
    for (const one of await withRepeats(own, wanted, mayBeRepeats, deps)) left.push(one);
  }
  const imported = compared.flatMap(({ wanted, answers }) => answers.found.map((one) => ({ wanted, found: one })));
  const unknown = [...(await unknownNotesOf(left, deps)), ...(await importedOtherwise(imported, held, deps.store))];
  const doubtful = compared.flatMap(({ wanted: { companyId, mode, series: name }, answers }) =>
    answers.doubts.map((doubt) => ({ companyId, mode, series: name, ...doubt })),
  );
  const isDone =
    unknown.every((note) => !holdsPause(note, acceptUnknown)) &&
    doubtful.every(({ mode }) => mode === 'test' || acceptUnknown);
  const series = isDone ? await moveAll(reported, deps) : reported.map(({ report }) => report);
  return { isDone, series, skipped, unknown, doubtful, unproven };
};

/**
 * How long a process may have given numbers again before the loss was seen: as after a restore that was marked days later. Each look-up for such a
 * number may fail, and the operator must judge each one that fails, so not all numbers of the log are asked for that became no note.
 */
const GIVEN_AGAIN_SECONDS = 7 * DAY_SECONDS;

/** A loss that lies ahead was seen by a clock that was ahead. */
const takenSinceFor = ({ clock, lostBefore }: RecoveryDeps): Instant =>
  addSeconds(earlierOf(clock.now(), lostBefore), -GIVEN_AGAIN_SECONDS);

/**
 * An absence counts only after the deadline of the send (docs/architecture.md#never-twice, 6), and the deadlines of the sends that the log has lost are
 * lost with them. The last of these sends may have begun just before the loss was seen, with the longest limit that this command or the log knows.
 * Another clock than this command's recorded the loss, so the wait is measured from the slower clock.
 */
const untilLostSendsAreOver = async ({ longestSendSeconds }: KnownWork, deps: RecoveryDeps): Promise<void> => {
  const { clock, limits, lostBefore, onProgress, waitUntil } = deps;
  const now = await slowerNow(deps);
  const from = addSeconds(
    earlierOf(now, lostBefore),
    Math.max(APPEND_GRACE_SECONDS + limits.sendSeconds, longestSendSeconds),
  );
  if (!isBefore(now, from)) return;
  const seconds = Math.ceil((epochMs(from) - epochMs(now)) / 1_000);
  onProgress(
    `a send that the log has lost may be under way until ${from}: nothing is asked for before then, in ${counted(seconds, 'second')}`,
  );
  await waitUntil(addSeconds(clock.now(), seconds));
};

/** Asks for all, also when a company cannot be asked for, so that one run reports every obstacle. */
const compareAll = async (
  all: readonly SeriesToCompare[],
  unaskable: readonly Unaskable[],
  deps: RecoveryDeps & Parameters<typeof askSeries>[1],
): Promise<{ compared: readonly Compared[]; unproven: readonly Unproven[] }> => {
  const compared: Compared[] = [];
  const unproven: Unproven[] = [...unaskable];
  for (const wanted of all) {
    const { companyId, mode, series, municipality } = wanted;
    const starts = wanted.starts.join(' and ');
    deps.onProgress(`${companyId} ${mode} series ${series}, city ${municipality}: from number ${starts} on`);
    const answers = await askSeries(wanted, deps);
    if ('unproven' in answers) unproven.push(unprovenOf(wanted, answers));
    else compared.push({ wanted, answers });
  }
  let open = compared.map((one) => ({ one, quietRounds: 0 }));
  // A look-up that finds a note begins the proof again. The loop ends: there are as many such rounds as notes at most, and the others are counted.
  while (unproven.length === 0 && open.length > 0) {
    const at = addSeconds(deps.clock.now(), absenceGapSeconds(deps.limits));
    deps.onProgress(`what was not there is asked for once more at ${at}`);
    await deps.waitUntil(at);
    const more: typeof open = [];
    for (const { one, quietRounds } of open) {
      const again = await askAgain(one.wanted, one.answers, deps);
      if ('unproven' in again) {
        unproven.push(unprovenOf(one.wanted, again));
        continue;
      }
      const isMore = numbersOf(again).length > numbersOf(one.answers).length;
      const absentOnce = absentAfterDoubt(one.answers, again);
      const isLast = quietRounds === MOST_QUIET_ROUNDS;
      one.answers = isLast && !isMore ? { ...again, doubts: [...again.doubts, ...absentOnce] } : again;
      if (isMore) more.push({ one, quietRounds: 0 });
      else if (absentOnce.length > 0 && !isLast) more.push({ one, quietRounds: quietRounds + 1 });
    }
    open = more;
  }
  return { compared, unproven };
};

/** Doubts that alternate between numbers end here: what was not absent twice stays in doubt, and the operator judges it. */
const MOST_QUIET_ROUNDS = 5;

/** The doubts whose number is absent now. One absence proves nothing, so these numbers need a second look-up. */
const absentAfterDoubt = ({ doubts }: SeriesAnswers, { absent }: SeriesAnswers): readonly Doubt[] => {
  const now = new Set(absent);
  return doubts.filter(({ number }) => now.has(number));
};

const unprovenOf = (
  { companyId, mode, series }: SeriesToCompare,
  { unproven, certificateRefused }: NoProof,
): Unproven => present({ companyId, mode, series, ...unproven, certificateRefused });

/**
 * Runs after the notes are recorded, so that no invoice with a note is sent under a later number. All cities of a company share the numbers of a
 * series, so its first entry moves it past the notes of all.
 */
const moveAll = async (reported: readonly Reported[], deps: RecoveryDeps): Promise<readonly ComparedSeries[]> => {
  const streamOf = ({ wanted: { mode, companyId, series: name } }: Compared): string =>
    dpsStream(mode, companyId, name);
  const moved: ComparedSeries[] = [];
  for (const one of reported) {
    const ofSeries = reported.filter((other) => streamOf(other) === streamOf(one)).map(({ answers }) => answers);
    const found = ofSeries.flatMap(numbersOf);
    const isInDoubt = ofSeries.some(({ doubts }) => doubts.length > 0);
    moved.push({ ...one.report, ...(await moveNumbersPast(one.wanted, { found, isInDoubt }, deps)) });
  }
  return moved;
};

type Moved = Pick<ComparedSeries, 'movedTo' | 'stop'>;

/**
 * Moves the series past the last found note, so that no number of a note is given again, and lifts its stop where the comparison has seen the note that
 * stopped it. With `isInDoubt`, a look-up in the series proved nothing, so no stop is lifted unless the series moves.
 */
export const moveNumbersPast = async (
  { mode, companyId, series, nextNumber: start }: Pick<SeriesToCompare, 'mode' | 'companyId' | 'series' | 'nextNumber'>,
  { found, isInDoubt }: { found: readonly number[]; isInDoubt: boolean },
  { store, clock, actor }: Pick<RecoveryDeps, 'store' | 'clock' | 'actor'>,
): Promise<Moved> => {
  const stream = dpsStream(mode, companyId, series);
  let wasStopped = false;
  const outcome = await transact(
    {
      stream,
      read: 'last',
      fold: dpsNumbersFrom(start),
      decide: (numbers, { events: [last], now }) => {
        wasStopped = numbers.blocked;
        const stoppedBy = last?.type === 'DpsSeriesBlocked' && !isInDoubt ? last.data.number : undefined;
        return goOnAfterNotes(numbers, found, stoppedBy, now);
      },
      context: operatorContext('reconcile_numbers', { actor, mode, companyId }),
    },
    { store, clock },
  );
  if (outcome.kind !== 'appended') return wasStopped ? { stop: 'stays' } : {};
  return present({ movedTo: outcome.state.nextNumber, stop: wasStopped ? ('lifted' as const) : undefined });
};

/** Of the access keys in one event, which holds at most some 64 KB of them. */
const MOST_KEYS = 1_000;

/**
 * Records that the comparison is done and which companies it holds. Issuing may resume after that, unless this returns why it stays paused: a held
 * company was enabled meanwhile. Throws what the log throws, and `StreamContended`.
 */
export const recordRecovery = async (
  report: Pick<RecoveryReport, 'series' | 'skipped' | 'unknown'>,
  deps: Pick<RecoveryDeps, 'store' | 'clock' | 'actor'>,
): Promise<string | undefined> => {
  const held = heldAfter(report, await heldCompanies(deps.store));
  const facts = present({
    unknownNotes: report.unknown.length,
    accessKeys: newlyAccepted(report.unknown).slice(0, MOST_KEYS),
    heldCompanies: held.length === 0 ? undefined : held,
  });
  await appendAudit('LogRecovered', facts, deps);
  return await holdCompanies(held, deps);
};

/** Without notes of test mode, which need no acceptance, and without those of an earlier recovery, which would take the place of new ones. */
const newlyAccepted = (unknown: RecoveryReport['unknown']): readonly AccessKey[] =>
  unknown.flatMap(({ mode, accepted, accessKey }) => (mode === 'test' || accepted !== undefined ? [] : [accessKey]));

/**
 * The companies that stay disabled until a later comparison: those that this one leaves out, and those of earlier ones of which it asked for no live
 * note.
 */
export const heldAfter = (
  { series, skipped }: Pick<RecoveryReport, 'series' | 'skipped'>,
  heldBefore: readonly CompanyId[],
): readonly CompanyId[] => {
  const compared = series.filter(({ mode }) => mode === 'live').map(({ companyId }) => companyId);
  return [...new Set([...leftOutOf(skipped), ...heldBefore.filter((companyId) => !compared.includes(companyId))])];
};

import { absenceGapSeconds } from '../../domain/invoice/limits.js';
import { type Mode, parseInvoiceStream, publicInvoiceId } from '../../domain/shared/ids.js';
import { addSeconds } from '../../domain/shared/time.js';
import { adoptNote, candidatesOf, invoiceOfNote } from './adopt-note.js';
import { moveNumbersPast } from './move-numbers.js';
import { keysInLog, readKnownWork } from './read-log.js';
import type { ReconcileDeps, Walk } from './reconcile-deps.js';
import { askAgain, type FoundNote, walkSeries } from './walk-series.js';
import { type Skipped, walksOf } from './walks.js';

/** A note at the authorizer that no invoice of the log accounts for. `once`: what the read model still knows of its invoice. */
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
  /** Notes that were given back to the open invoices that they belong to. */
  adopted: number;
  /** Where the series goes on, when it was moved. */
  movedTo?: number;
};

export type Unproven = { companyId: string; mode: Mode; why: string };

/**
 * `isDone`: nothing that is sent from now on can be a second document of what stood there before. Otherwise `unproven` says what
 * could not be compared, or `unknown` has notes of live mode that somebody must account for first, and no number was moved.
 */
export type Reconciled = {
  isDone: boolean;
  series: readonly ComparedSeries[];
  skipped: readonly Skipped[];
  unknown: readonly UnknownNote[];
  unproven: readonly Unproven[];
};

type Compared = { walk: Walk; found: FoundNote[]; absent: readonly number[] };

/**
 * Compares a log that was put back with what the authorizer holds behind it, for each company, mode and series: notes are given
 * back to the open invoices that they belong to, what no invoice accounts for is told, and numbers are moved past every note. A
 * number counts as free only when it was not there twice, apart as the protocol demands; while one answer proves nothing, nothing
 * is recorded for anybody. `acceptUnknown`: the operator has told the clients, who do not repeat what the log has forgotten.
 */
export const reconcileLog = async (deps: ReconcileDeps, acceptUnknown: boolean): Promise<Reconciled> => {
  const known = await readKnownWork(deps.log);
  const { walks, skipped } = await walksOf(known, deps);
  const { compared, unproven } = await compareAll(walks, deps);
  if (unproven.length > 0) return { isDone: false, series: [], skipped, unknown: [], unproven };

  const keys = compared.flatMap(({ found }) => found.map(({ note }) => note.accessKey));
  const held = await keysInLog(deps.log, keys);
  const series: ComparedSeries[] = [];
  const unknown: UnknownNote[] = [];
  for (const { walk, found } of compared) {
    const news = found.filter(({ note }) => !held.has(note.accessKey));
    const { adopted, strangers } = await giveBack(walk, news, known.open, deps);
    const { mode, companyId, series: name } = walk;
    series.push({ mode, companyId, series: name, found: found.length, adopted });
    unknown.push(...strangers);
  }
  const isDone = acceptUnknown || unknown.every(({ mode }) => mode === 'test');
  if (!isDone) return { isDone, series, skipped, unknown, unproven };
  return { isDone, series: await moveAll(compared, series, deps), skipped, unknown, unproven };
};

const compareAll = async (walks: readonly Walk[], deps: ReconcileDeps) => {
  const compared: Compared[] = [];
  const unproven: Unproven[] = [];
  for (const walk of walks) {
    deps.onProgress(`${walk.companyId} ${walk.mode} series ${walk.series}: from number ${walk.nextNumber} on`);
    const walked = await walkSeries(walk, deps);
    if ('unproven' in walked) unproven.push({ companyId: walk.companyId, mode: walk.mode, why: walked.unproven });
    else compared.push({ walk, found: [...walked.found], absent: walked.absent });
  }
  let open = compared;
  // A look that finds something begins the proof anew; each such look finds at least a note, so it ends.
  while (unproven.length === 0 && open.length > 0) {
    const at = addSeconds(deps.clock.now(), absenceGapSeconds(deps.limits));
    deps.onProgress(`what was not there is asked for once more at ${at}`);
    await deps.waitUntil(at);
    const more: Compared[] = [];
    for (const one of open) {
      const { walk } = one;
      const again = await askAgain(walk, one.absent, deps);
      if ('unproven' in again) {
        unproven.push({ companyId: walk.companyId, mode: walk.mode, why: again.unproven });
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

const giveBack = async (
  walk: Walk,
  news: readonly FoundNote[],
  open: readonly string[],
  deps: ReconcileDeps,
): Promise<{ adopted: number; strangers: readonly UnknownNote[] }> => {
  const strangers: UnknownNote[] = [];
  let adopted = 0;
  const candidates = news.length === 0 ? [] : await candidatesOf(walk, open, deps);
  for (const one of news) {
    const owner = await invoiceOfNote(one, walk, candidates, deps);
    if (owner === undefined) strangers.push(await strangerOf(one, walk, deps));
    // Of an attempt that the log knows, its own protocol finds the note.
    else if (!owner.isKnown && (await adoptNote(owner.stream, one, deps))) adopted += 1;
  }
  return { adopted, strangers };
};

const strangerOf = async (
  { number, note: { accessKey, authorizedAt, content } }: FoundNote,
  { mode, companyId, series }: Walk,
  { byAccessKeys }: ReconcileDeps,
): Promise<UnknownNote> => {
  const [row] = await byAccessKeys([accessKey]);
  const invoiceId = row === undefined ? undefined : parseInvoiceStream(row.stream)?.invoiceId;
  return {
    ...{ mode, companyId, series, number, accessKey, authorizedAt, amount: content.amount },
    ...(invoiceId === undefined ? {} : { once: publicInvoiceId(invoiceId) }),
  };
};

/** After the notes: an invoice that has its note back is not sent under a later number. */
const moveAll = async (
  compared: readonly Compared[],
  series: readonly ComparedSeries[],
  deps: ReconcileDeps,
): Promise<readonly ComparedSeries[]> => {
  const moved: ComparedSeries[] = [];
  for (const [index, { walk, found }] of compared.entries()) {
    const seen = series[index];
    if (seen === undefined) continue;
    const movedTo = await moveNumbersPast(walk, Math.max(0, ...found.map(({ number }) => number)), deps);
    moved.push(movedTo === undefined ? seen : { ...seen, movedTo });
  }
  return moved;
};

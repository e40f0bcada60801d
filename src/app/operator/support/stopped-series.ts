import {
  type CompanyId,
  dpsStream,
  type InvoiceId,
  invoiceStream,
  type Mode,
  modes,
} from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import { type Instant, isBefore } from '../../../domain/common/time.js';
import type { Company } from '../../../domain/company/company.js';
import { isUsedUp } from '../../../domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../domain/dps-number/events.js';
import type { InvoiceEvent } from '../../../domain/invoice/events.js';
import { inGroups } from '../../../lib/in-groups.js';
import { UnknownEventVersion } from '../../event-store/codec.js';
import type { EventStore } from '../../event-store/event-store.js';
import { acceptedNotes, lastRecovery } from '../../recovery/recorded-recoveries.js';

/**
 * A series that sends nothing until an operator moves it (docs/architecture.md#never-twice), or names another one, when it is used up (its last
 * number was given). `comparedAt`: when the last log recovery ended, where that recovery came after the number that has stopped the series was used.
 * `since` is missing where the newest event of the numbers is unreadable and names no time, as one of another program.
 */
export type StoppedSeries = {
  companyId: CompanyId;
  mode: Mode;
  series: string;
  isUsedUp: boolean;
  since?: Instant;
  comparedAt?: Instant;
  unreadable?: Unreadable;
};

/** An event that this program cannot read: the newest one of the numbers, or one that says whether a comparison came after the stop. */
type Unreadable = { of: 'numbers' | 'comparison'; why: string };

/** Commands that compare a log, or a DATA_DIR, of which a copy was put back, in their order. */
export const COMPARE_COPY = ['nfse restore --mark', 'nfse doctor --reconcile'] as const;

type StoppedCure =
  | { kind: 'other_series' }
  | ({ kind: 'unreadable' } & Unreadable)
  | { kind: 'later_number'; comparedAt: Instant | undefined };

/**
 * What lets a stopped series go on, for each reader to word. A later number is right where no copy of the log or of DATA_DIR was put back since
 * `comparedAt`, or ever. Over such a copy it would issue again what the log has forgotten, so `COMPARE_COPY` comes first.
 */
export const stoppedCure = ({
  isUsedUp,
  comparedAt,
  unreadable,
}: Pick<StoppedSeries, 'isUsedUp' | 'comparedAt' | 'unreadable'>): StoppedCure => {
  if (unreadable !== undefined) return { kind: 'unreadable', ...unreadable };
  return isUsedUp ? { kind: 'other_series' } : { kind: 'later_number', comparedAt };
};

/** The advice to move a stopped series by `put`, with what comes first over a copy that was put back. */
export const laterNumberAdvice = (put: string, comparedAt: Instant | undefined): string => {
  const compare = COMPARE_COPY.join(', then ');
  const copy = 'a copy of the log or of DATA_DIR was put back';
  return comparedAt === undefined
    ? `where ${copy}: ${compare}; else ${put}`
    : `${put}. Only where ${copy} after the comparison that ended at ${comparedAt}, first: ${compare}`;
};

/** Why a series is stopped, and the operator's command that helps, as a check and a list of waiting work say them. */
export const stoppedTexts = (
  stopped: Pick<StoppedSeries, 'mode' | 'series' | 'isUsedUp' | 'comparedAt' | 'unreadable'>,
) => {
  const { mode, series } = stopped;
  const cure = stoppedCure(stopped);
  if (cure.kind === 'unreadable' && cure.of === 'numbers')
    return {
      detail: `series ${series} sends nothing: the newest event of its numbers cannot be read (${cure.why})`,
      command: `${UNREADABLE_EVENT}, and then nfse company put FILE.json with another dps.${mode}.series`,
    };
  if (cure.kind === 'other_series')
    return {
      detail: `series ${series} is used up: its last number was given`,
      command: `nfse company put FILE.json with another dps.${mode}.series`,
    };
  const put = `nfse company put FILE.json with a dps.${mode}.next_number after every note of the series`;
  const detail = `series ${series} is stopped: a note that is not ours has one of its numbers; first compare it at the national portal`;
  if (cure.kind === 'later_number') return { detail, command: laterNumberAdvice(put, cure.comparedAt) };
  return {
    detail: `${detail}. Whether the log was compared since cannot be read (${cure.why})`,
    command: `${UNREADABLE_EVENT}, and then ${laterNumberAdvice(put, undefined)}`,
  };
};

/** What helps where this program cannot read an event of the log. */
export const UNREADABLE_EVENT =
  'where a newer version of this program wrote it, run that version; where another program did, nfse api off, take its right to write, nfse audit verify';

/** Reads that run at once where the log says nothing about it. */
const READS = 8;

/** The stopped series of these companies, among the series in use. Reads the last event of each series. */
export const stoppedSeries = async (
  companies: readonly Pick<Company, 'registration'>[],
  store: Pick<EventStore, 'load' | 'lastReadsAtOnce'>,
): Promise<readonly StoppedSeries[]> => {
  const used = companies.flatMap(({ registration: { cnpj, dps } }) =>
    modes.map((mode) => ({ companyId: cnpj, mode, series: dps[mode].series })),
  );
  const stopped = await inGroups(store.lastReadsAtOnce ?? READS, used, async ({ companyId, mode, series }) => {
    const stream = dpsStream(mode, companyId, series);
    const read = await store.load<DpsNumberEvent>(stream, { direction: 'backwards', limit: 1 }).catch(unlessUnreadable);
    if (read instanceof UnknownEventVersion) {
      const unreadable = { of: 'numbers' as const, why: read.message };
      return [present({ companyId, mode, series, isUsedUp: false, since: read.recordedAt, unreadable })];
    }
    const [last] = read.events;
    if (last === undefined) return [];
    const isEnded = isUsedUp(last.data);
    if (!isEnded && last.type !== 'DpsSeriesBlocked') return [];
    const stop = { companyId, mode, series, isUsedUp: isEnded, since: last.data.at };
    if (last.type !== 'DpsSeriesBlocked') return [stop];
    const compared = await comparedSince(stop, last.data, store).catch(unlessUnreadable);
    if (compared instanceof UnknownEventVersion)
      return [{ ...stop, unreadable: { of: 'comparison' as const, why: compared.message } }];
    return [present({ ...stop, comparedAt: compared })];
  });
  return stopped.flat();
};

const unlessUnreadable = (error: unknown): UnknownEventVersion => {
  if (error instanceof UnknownEventVersion) return error;
  throw error;
};

/**
 * When the last log recovery ended, if it came after the stopping number was used, or an operator has accepted the stopping note: a repetition of that
 * comparison would say the same. Undefined where the recovery has left out the company.
 */
const comparedSince = async (
  { companyId, mode, series }: Pick<StoppedSeries, 'companyId' | 'mode' | 'series'>,
  { number, invoiceId }: { number: number; invoiceId: InvoiceId },
  store: Pick<EventStore, 'load'>,
): Promise<Instant | undefined> => {
  const recovery = await lastRecovery(store);
  if (recovery === undefined || recovery.heldCompanies?.includes(companyId) === true) return undefined;
  const acceptanceOf = await acceptedNotes(store);
  const { events } = await store.load<InvoiceEvent>(invoiceStream(mode, companyId, invoiceId), { sealed: true });
  const isCompared = events.some(({ type, data }) => {
    if (type === 'IssuanceAttempted')
      return data.series === series && data.number === number && isBefore(data.attemptedAt, recovery.at);
    if (type !== 'NumberConflictFound') return false;
    return acceptanceOf({ mode, companyId, accessKey: data.accessKey }) !== undefined;
  });
  return isCompared ? recovery.at : undefined;
};

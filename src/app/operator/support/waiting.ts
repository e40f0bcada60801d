import {
  type CompanyId,
  type Mode,
  parseInvoiceStream,
  publicInvoiceId,
  type StreamName,
} from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import type { Instant } from '../../../domain/common/time.js';
import { contentMet } from '../../../domain/invoice/note-met.js';
import { allCameToNothing } from '../../../domain/invoice/state.js';
import type { ReadModel } from '../../../ports/read-model.js';
import type { SupportReads, SupportRow } from '../../../ports/support-reads.js';
import { type ParkedList, type ParkedWork, type WorkQueue, WorkQueueUnavailable } from '../../../ports/work-queue.js';
import { type AuditDeps, appendAudit } from '../../audit/audit-trail.js';
import type { EventStore } from '../../event-store/event-store.js';
import { stoppedSeries, stoppedTexts } from './stopped-series.js';

type WaitingKind = 'indeterminate' | 'cancellation_unconfirmed' | 'cancellation_refused' | 'series_stopped' | 'parked';

/** Something that waits for a person. `id` is of its invoice; a stopped series has none. `since` may be unknown. `command` is the operator's command that ends the wait. */
export type Waiting = {
  kind: WaitingKind;
  id?: string;
  companyId: CompanyId;
  mode: Mode;
  since?: Instant;
  detail: string;
  command: string;
};

/** `count` covers everything, `oldest` the listed ones, the longest waiting first. Without `parkedUnknown` parked work is among them. */
type WaitingList = { count: number; oldest: readonly Waiting[]; parkedUnknown?: string };

type WaitingDeps = {
  supportReads: Pick<SupportReads, 'indeterminate' | 'failedCancellations'>;
  readModel: Pick<ReadModel, 'companies'>;
  store: Pick<EventStore, 'load' | 'lastReadsAtOnce'>;
  queue: Pick<WorkQueue, 'parked'>;
};

/** Everything that waits for support: no program continues it. At most `limit` of each kind are listed. A queue that is down hides only its own. */
export const waitingWork = async (
  { supportReads, readModel, store, queue }: WaitingDeps,
  limit: number,
): Promise<WaitingList> => {
  const [indeterminate, canceling, companies, parked] = await Promise.all([
    supportReads.indeterminate(limit),
    supportReads.failedCancellations(limit),
    readModel.companies(),
    parkedIn(queue),
  ]);
  const stopped = await stoppedSeries(companies, store);
  const oldest = [
    ...indeterminate.oldest.flatMap(indeterminateOf),
    ...canceling.oldest.flatMap(cancellationOf),
    ...stopped.map((one) => {
      const { companyId, mode, since } = one;
      return present({ kind: 'series_stopped' as const, companyId, mode, since, ...stoppedTexts(one) });
    }),
    ...parked.work.slice(0, limit).flatMap(parkedOf),
  ].sort(longestFirst);
  const count = indeterminate.count + canceling.count + stopped.length + parked.count;
  return present({ count, oldest, parkedUnknown: parked.unknown });
};

/** Work of an unknown time comes last. */
const longestFirst = (one: Waiting, other: Waiting): number => {
  if (one.since === undefined || other.since === undefined)
    return Number(one.since === undefined) - Number(other.since === undefined);
  return one.since < other.since ? -1 : 1;
};

/** `unknown`: why the queue cannot say what is parked. */
export type ParkedIn = ParkedList & { unknown?: string };

export const parkedIn = async (queue: WaitingDeps['queue']): Promise<ParkedIn> => {
  try {
    return await queue.parked();
  } catch (error) {
    if (error instanceof WorkQueueUnavailable) return { work: [], count: 0, unknown: error.message };
    throw error;
  }
};

/** The parked work items of all processes. */
export type ParkedQueue = Pick<WorkQueue, 'parked' | 'isParked' | 'retryParked'>;

/** Appends who orders the retry, then retries. False, and nothing appended, when no work item of this stream is parked. */
export const retryParked = async (
  stream: StreamName,
  queue: Pick<ParkedQueue, 'isParked' | 'retryParked'>,
  deps: AuditDeps,
): Promise<boolean> => {
  if (!(await queue.isParked(stream))) return false;
  await appendAudit('ParkedWorkRetried', { subject: stream }, deps);
  return await queue.retryParked(stream);
};

const indeterminateOf = ({ stream, createdAt, state }: SupportRow): readonly Waiting[] => {
  const outcome = state.kind === 'invoice' ? state.outcome : undefined;
  const since = outcome?.status === 'indeterminate' ? outcome.failedAt : createdAt;
  const met = state.kind === 'invoice' ? contentMet(state) : undefined;
  const { detail, as, more } = INDETERMINATE[met ?? 'none'];
  return ofInvoice(stream, (id) => ({
    kind: 'indeterminate',
    since,
    detail,
    command: `nfse invoice resolve ${id} --as ${as} --evidence TEXT (${more})`,
  }));
};

/** By the content of the note under the number of the invoice. */
const INDETERMINATE = {
  none: { detail: 'whether a note exists is not known', as: 'issued', more: 'or --as failed' },
  equal: {
    detail: 'a note with equal content has its number, and is its own where the client made one sale',
    as: 'issued',
    more: 'where that is refused, it stays indeterminate',
  },
  other: {
    detail: 'a note with other content has its number; first compare it at the national portal',
    as: 'failed',
    more: 'only where that note is of another sale, from 24 h after the last attempt; where only a date in its text differs, it stays indeterminate',
  },
} as const;

const cancellationOf = ({ stream, createdAt, state }: SupportRow): readonly Waiting[] => {
  const cancellation = state.kind === 'invoice' ? state.cancellation : undefined;
  const codes = cancellation?.codes ?? [];
  return ofInvoice(stream, (id) => ({
    kind: codes.length === 0 ? 'cancellation_unconfirmed' : 'cancellation_refused',
    since: cancellation?.requestedAt ?? createdAt,
    detail:
      codes.length === 0
        ? `its cancellation failed, ${allCameToNothing(cancellation?.sends ?? []) ? NOT_SENT : MAY_BE_CANCELED}`
        : `its cancellation was refused (${codes.join(' ')}), which the client cannot repeat`,
    command: `nfse invoice resolve ${id} --as canceled --evidence TEXT (or --as valid)`,
  }));
};

const MAY_BE_CANCELED = 'although the note may be canceled';

/** A log that was restored may have lost sends, and the last look-up may have proved nothing: another event may be there all the same. */
const NOT_SENT = 'and the log has no send of it that left: the note is valid unless it was canceled elsewhere';

const parkedOf = ({ stream, kind, reason, parkedAt }: ParkedWork): readonly Waiting[] =>
  ofInvoice(stream, (id) => ({
    kind: 'parked',
    since: parkedAt,
    detail: `its ${kind} work is parked: ${reason}`,
    command: `nfse parked retry ${id}`,
  }));

const ofInvoice = (
  stream: StreamName,
  waiting: (id: string) => Omit<Waiting, 'id' | 'companyId' | 'mode'>,
): readonly Waiting[] => {
  const address = parseInvoiceStream(stream);
  if (address === undefined) return [];
  const id = publicInvoiceId(address.invoiceId);
  return [{ id, companyId: address.companyId, mode: address.mode, ...waiting(id) }];
};

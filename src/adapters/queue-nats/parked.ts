import type { JetStreamManager } from 'nats';
import type { StreamName } from '../../domain/common/ids.js';
import { instantOfStamp } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import { isFromSweep, type ParkedWork, type WorkItem } from '../../ports/work-queue.js';
import { ifFound, isRefused } from './faults.js';
import type { Link, Notify } from './link.js';
import { readFields, readItem } from './message.js';
import { kinds, type Names } from './names.js';

/** A parked work item as stored. */
export type ParkedRecord = ParkedWork & {
  sequence: number;
  /** Sequence of the parked message in its work stream: a higher sequence came later. */
  workSequence: number;
  /** When that work stream was made; undefined in records of older versions. The sequences of a stream that was made later begin at 1 again. */
  workStreamMadeAt: string | undefined;
};

/** A reason longer than that is cut, so that its record fits into a message. */
const MOST_OF_REASON = 1_000;

/** Records that one look at the parked work takes into memory. */
const MOST_LISTED = 2_000;

type Key = Pick<WorkItem, 'kind' | 'stream'>;

export type Parked = ReturnType<typeof createParked>;

/** The stream of parked work items, which keeps the newest of each stream and kind. Calls throw the client's errors. */
export const createParked = (link: Link, names: Names, clock: Clock, notify: Notify) => {
  const find = async (key: Key): Promise<ParkedRecord | undefined> => {
    const { manager } = link.session();
    const found = await findStored(manager, names.parkedStream, { last_by_subj: names.parked(key) });
    return found === undefined ? undefined : readRecord(found, names);
  };

  const workStreamMadeAt = async (): Promise<string> =>
    (await link.session().manager.streams.info(names.workStream)).created;

  /** Whether the work stream got the message with this sequence after the message of the parked record. */
  const isBefore = async (record: ParkedRecord, sequence: number): Promise<boolean> =>
    record.workSequence < sequence ||
    (record.workStreamMadeAt !== undefined && record.workStreamMadeAt !== (await workStreamMadeAt()));

  /** Removes the record unless the work item was parked again meanwhile. */
  const forget = async (record: ParkedRecord): Promise<void> => {
    const through = { filter: names.parked(record), seq: record.sequence + 1 };
    await link.session().manager.streams.purge(names.parkedStream, through);
  };

  /**
   * The oldest records, and the number of all. Another program that may write to our subjects must not fill the memory of each scrape. What is no
   * record is removed as in the work stream, because it would be read again at each look.
   */
  const list = async (): Promise<{ records: readonly ParkedRecord[]; count: number }> => {
    const { manager } = link.session();
    const records: ParkedRecord[] = [];
    let removed = 0;
    // A program that writes faster than this look reads would keep the look from its end.
    const { last_seq: last, messages } = (await manager.streams.info(names.parkedStream)).state;
    for (let sequence = 1; sequence <= last && records.length < MOST_LISTED; ) {
      const found = await findStored(manager, names.parkedStream, { seq: sequence, next_by_subj: names.everyParked });
      if (found === undefined) break;
      const record = readRecord(found, names);
      if (record === undefined) {
        await removeStored(manager, names.parkedStream, found);
        removed += 1;
      } else {
        records.push(record);
      }
      sequence = found.seq + 1;
    }
    if (removed > 0) notify({ kind: 'unreadable_parked', removed });
    return { records, count: records.length < MOST_LISTED ? records.length : messages };
  };

  return {
    park: async ({ kind, stream, messageId }: WorkItem, reason: string, workSequence: number): Promise<void> => {
      const madeAt = await workStreamMadeAt();
      const cut = reason.slice(0, MOST_OF_REASON);
      const record = {
        kind,
        stream,
        messageId,
        reason: cut,
        parkedAt: clock.now(),
        workSequence,
        workStreamMadeAt: madeAt,
      };
      await link.session().js.publish(names.parked({ kind, stream }), JSON.stringify(record));
    },
    /**
     * Removes the waiting work of an item that was parked with this sequence. Newer work stays, and then the parked record is removed instead, because
     * newer work takes up a parked item. Resolves to whether newer work stays.
     */
    clearWork: async (key: Key, sequence: number): Promise<boolean> => {
      const { manager } = link.session();
      const waiting = await findStored(manager, names.workStream, { last_by_subj: names.work(key) });
      if (waiting === undefined) return false;
      const item = readItem(waiting.string(), waiting.subject, names.work);
      const isNewWork = waiting.seq > sequence && item !== undefined && !isFromSweep(item);
      if (!isNewWork) {
        await removeStored(manager, names.workStream, waiting);
        return false;
      }
      const record = await find(key);
      if (record !== undefined && (await isBefore(record, waiting.seq))) await forget(record);
      return true;
    },
    isBefore,
    find,
    findAll: async (stream: StreamName): Promise<readonly ParkedRecord[]> =>
      (await Promise.all(kinds.map((kind) => find({ kind, stream })))).flatMap((record) => record ?? []),
    list,
    forget,
  };
};

const readRecord = (stored: Stored, names: Names): ParkedRecord | undefined => {
  const payload = stored.string();
  const item = readItem(payload, stored.subject, names.parked);
  const { reason, parkedAt, workSequence, workStreamMadeAt } = readFields(payload);
  if (item === undefined || typeof reason !== 'string' || typeof parkedAt !== 'string') return undefined;
  // Readers sort and show it as an instant.
  if (instantOfStamp(parkedAt) !== parkedAt) return undefined;
  return {
    ...item,
    reason: reason.slice(0, MOST_OF_REASON),
    parkedAt,
    sequence: stored.seq,
    workSequence: typeof workSequence === 'number' ? workSequence : 0,
    workStreamMadeAt: typeof workStreamMadeAt === 'string' ? workStreamMadeAt : undefined,
  };
};

/** A message as a stream holds it, with its sequence. */
type Stored = Awaited<ReturnType<JetStreamManager['streams']['getMessage']>>;

/** The last message of a subject, the first from a sequence on whose subject matches, or the one with a sequence. */
type Which = { last_by_subj: string } | { seq: number; next_by_subj: string } | { seq: number };

/** Returns undefined when no message matches. Throws the client's other errors. Servers know `next_by_subj` from 2.9 on. */
export const findStored = (manager: JetStreamManager, stream: string, which: Which): Promise<Stored | undefined> =>
  ifFound(manager.streams.getMessage(stream, which));

/**
 * Removes one message; a missing message is no error. The work stream needs this, because after a purge by subject server 2.9 may never deliver
 * waiting messages of other subjects.
 */
export const removeStored = async (manager: JetStreamManager, stream: string, { seq }: Stored): Promise<void> => {
  try {
    await manager.streams.deleteMessage(stream, seq, false);
  } catch (error) {
    // Servers have several codes for a message that is gone already, and use some of them for other faults too.
    if (!isRefused(error) || (await findStored(manager, stream, { seq })) !== undefined) throw error;
  }
};

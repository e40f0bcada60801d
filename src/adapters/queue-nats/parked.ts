import type { StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { ParkedTap, Tap } from '../../ports/work-queue.js';
import { isNotFound } from './faults.js';
import type { Link, Session } from './link.js';
import { readFields, readTap } from './message.js';
import { kinds, type Names } from './names.js';

/** A parked tap as stored, with its place. */
export type ParkedRecord = ParkedTap & {
  sequence: number;
  /** Place of the parked message in the work stream: what is beyond it came later. */
  workSequence: number;
};

type Key = Pick<Tap, 'kind' | 'stream'>;

/** The stream of parked taps: one for each stream and kind, the newest. Calls throw what the client throws. */
export type Parked = {
  park(tap: Tap, reason: string, workSequence: number): Promise<void>;
  /** Takes everything out of the work stream that waits for this stream and kind. */
  clearWork(key: Key): Promise<void>;
  find(key: Key): Promise<ParkedRecord | undefined>;
  findAll(stream: StreamName): Promise<readonly ParkedRecord[]>;
  list(): Promise<readonly ParkedRecord[]>;
  /** Unless it was parked anew meanwhile. */
  forget(record: ParkedRecord): Promise<void>;
};

export const createParked = (link: Link, names: Names, clock: Clock): Parked => {
  const find = async (key: Key): Promise<ParkedRecord | undefined> => {
    const { manager } = link.session();
    const found = await messageOr404(manager, names.parkedStream, { last_by_subj: names.parked(key) });
    return found === undefined ? undefined : readRecord(found);
  };

  return {
    park: async ({ kind, stream, messageId }, reason, workSequence) => {
      const record = { kind, stream, messageId, reason, parkedAt: clock.now(), workSequence };
      await link.session().js.publish(names.parked({ kind, stream }), JSON.stringify(record));
    },
    // Not by a purge of the subject: after one, server 2.9 may hand out other subjects' waiting messages to nobody.
    clearWork: async (key) => {
      const { manager } = link.session();
      const waiting = await messageOr404(manager, names.workStream, { last_by_subj: names.work(key) });
      if (waiting === undefined) return;
      await manager.streams.deleteMessage(names.workStream, waiting.seq, false).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    },
    find,
    findAll: async (stream) =>
      (await Promise.all(kinds.map((kind) => find({ kind, stream })))).flatMap((record) => record ?? []),
    list: async () => {
      const { manager } = link.session();
      const records: ParkedRecord[] = [];
      for (let sequence = 1; ; ) {
        // The client's type does not know the second field; servers have it from 2.9 on.
        const next = { seq: sequence, next_by_subj: names.parkedSubjects };
        const found = await messageOr404(manager, names.parkedStream, next);
        if (found === undefined) return records;
        const record = readRecord(found);
        if (record !== undefined) records.push(record);
        sequence = found.seq + 1;
      }
    },
    forget: async (record) => {
      const through = { filter: names.parked(record), seq: record.sequence + 1 };
      await link.session().manager.streams.purge(names.parkedStream, through);
    },
  };
};

type Manager = Session['manager'];
type Stored = Awaited<ReturnType<Manager['streams']['getMessage']>>;

const messageOr404 = async (
  manager: Manager,
  stream: string,
  query: Parameters<Manager['streams']['getMessage']>[1],
): Promise<Stored | undefined> => {
  try {
    return await manager.streams.getMessage(stream, query);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

const readRecord = (stored: Stored): ParkedRecord | undefined => {
  const payload = stored.string();
  const tap = readTap(payload);
  const { reason, parkedAt, workSequence } = readFields(payload);
  if (tap === undefined || typeof reason !== 'string' || typeof parkedAt !== 'string') return undefined;
  return {
    ...tap,
    reason,
    parkedAt,
    sequence: stored.seq,
    workSequence: typeof workSequence === 'number' ? workSequence : 0,
  };
};

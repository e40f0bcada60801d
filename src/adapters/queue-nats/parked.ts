import type { StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { ParkedTap, Tap } from '../../ports/work-queue.js';
import type { Link } from './link.js';
import { readFields, readTap } from './message.js';
import { kinds, type Names } from './names.js';
import { findStored, removeStored, type Stored } from './stored.js';

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
    const found = await findStored(manager, names.parkedStream, { last_by_subj: names.parked(key) });
    return found === undefined ? undefined : readRecord(found);
  };

  return {
    park: async ({ kind, stream, messageId }, reason, workSequence) => {
      const record = { kind, stream, messageId, reason, parkedAt: clock.now(), workSequence };
      await link.session().js.publish(names.parked({ kind, stream }), JSON.stringify(record));
    },
    clearWork: async (key) => {
      const { manager } = link.session();
      const waiting = await findStored(manager, names.workStream, { last_by_subj: names.work(key) });
      if (waiting !== undefined) await removeStored(manager, names.workStream, waiting);
    },
    find,
    findAll: async (stream) =>
      (await Promise.all(kinds.map((kind) => find({ kind, stream })))).flatMap((record) => record ?? []),
    list: async () => {
      const { manager } = link.session();
      const records: ParkedRecord[] = [];
      for (let sequence = 1; ; ) {
        const next = { seq: sequence, next_by_subj: names.parkedSubjects };
        const found = await findStored(manager, names.parkedStream, next);
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

import { isReput, type Tap } from '../../ports/work-queue.js';
import { isUnheard, isWrongLastSequence } from './faults.js';
import type { Link } from './link.js';
import { writeTap } from './message.js';
import type { Names } from './names.js';
import type { Parked, ParkedRecord } from './parked.js';

/** Writes taps into the work stream. Calls throw what the client throws. */
export type Taps = {
  put(tap: Tap): Promise<void>;
  /** Puts a parked tap back, although its message id may have been seen a moment ago. */
  unpark(record: ParkedRecord): Promise<void>;
};

export const createTaps = (link: Link, names: Names, parked: Parked): Taps => {
  const publish = async (tap: Tap, messageId: string, onlyIfNoneWaits: boolean): Promise<number> => {
    const session = link.session();
    const send = async (): Promise<number> => {
      const { seq } = await session.js.publish(names.work(tap), writeTap(tap), {
        // Kinds are apart, also where their ids are alike.
        msgID: `${tap.kind} ${messageId}`,
        ...(onlyIfNoneWaits ? { expect: { lastSubjectSequence: 0 } } : {}),
      });
      return seq;
    };
    try {
      return await send();
    } catch (error) {
      if (!isUnheard(error)) throw error;
      // The stream was deleted, or its storage lost: the log will tap again what was in it.
      await link.repair(session);
      return await send();
    }
  };

  /** A tap that waits, pauses or is being handled is left as it is, and so is a parked one. */
  const putAgain = async (tap: Tap): Promise<void> => {
    if ((await parked.find(tap)) !== undefined) return;
    try {
      await publish(tap, tap.messageId, true);
    } catch (error) {
      if (!isWrongLastSequence(error)) throw error;
    }
  };

  const putNew = async (tap: Tap): Promise<void> => {
    const [sequence, record] = await Promise.all([publish(tap, tap.messageId, false), parked.find(tap)]);
    // A tap that came after the one that was parked, not one that was parked since.
    if (record !== undefined && record.workSequence < sequence) await parked.forget(record);
  };

  return {
    put: (tap) => (isReput(tap) ? putAgain(tap) : putNew(tap)),
    unpark: async (record) => {
      await publish(record, `${record.messageId}/unparked/${record.sequence}`, false);
      await parked.forget(record);
    },
  };
};

import type { JetStreamManager } from 'nats';
import { isNotFound } from './faults.js';

/** A message as a stream holds it, with its place. */
export type Stored = Awaited<ReturnType<JetStreamManager['streams']['getMessage']>>;

/** The last of a subject, or the first at or behind a place whose subject matches. */
export type Which = { last_by_subj: string } | { seq: number; next_by_subj: string };

/** Undefined when there is none. Throws what else the client throws. */
export const findStored = async (
  manager: JetStreamManager,
  stream: string,
  which: Which,
): Promise<Stored | undefined> => {
  try {
    // The client's type does not know `next_by_subj`; servers have it from 2.9 on.
    return await manager.streams.getMessage(stream, which);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/**
 * Takes one message out; one that is gone already is no error. For the work stream, where a purge of subjects is not
 * safe: after one, server 2.9 may hand out other subjects' waiting messages to nobody.
 */
export const removeStored = async (manager: JetStreamManager, stream: string, { seq }: Stored): Promise<void> => {
  await manager.streams.deleteMessage(stream, seq, false).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
};

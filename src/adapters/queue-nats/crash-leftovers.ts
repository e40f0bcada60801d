import type { JetStreamManager } from 'nats';
import type { Names } from './names.js';
import { findStored, removeStored } from './stored.js';

/**
 * What a crashed server may have remembered of a consumer and not of its stream, or the other way round. Messages that
 * were answered and are still there would never be delivered and would keep re-puts out: they are removed. A consumer
 * that is ahead of its stream would pass over new messages: it is deleted. True when one was, and has to be made anew.
 */
export const clearCrashLeftovers = async (manager: JetStreamManager, names: Names): Promise<boolean> => {
  const { workStream } = names;
  const consumers = await Promise.all(
    names.consumers.map(async ({ name, filter }) => ({
      name,
      filter,
      answeredUpTo: (await manager.consumers.info(workStream, name)).ack_floor.stream_seq,
    })),
  );
  // Asked after the consumers: of a healthy stream no consumer has answered more than there is.
  const { state } = await manager.streams.info(workStream);
  const removeThrough = async (last: number, from: number, filter: string): Promise<void> => {
    for (let seq = from; seq <= last; ) {
      const found = await findStored(manager, workStream, { seq, next_by_subj: filter });
      if (found === undefined || found.seq > last) return;
      await removeStored(manager, workStream, found);
      seq = found.seq + 1;
    }
  };
  let isDeleted = false;
  for (const { name, filter, answeredUpTo } of consumers) {
    if (answeredUpTo > state.last_seq) {
      await manager.consumers.delete(workStream, name);
      isDeleted = true;
    } else {
      await removeThrough(answeredUpTo, state.first_seq, filter);
    }
  }
  return isDeleted;
};

import { createMemoryQueue } from '../../adapters/queue-memory/memory-queue.js';
import type { Clock } from '../../ports/clock.js';
import type { WorkQueue } from '../../ports/work-queue.js';
import type { Config, Role } from '../config/config.js';
import { type Logger, streamFields } from '../config/logger.js';
import type { Runner } from './runner.js';

/** The queue of this process: NATS between processes, or one in memory that relay and issuer must share. */
export type OpenedQueue = WorkQueue & {
  /** True when work items survive this process, so that the next relay continues from the stored position. */
  isDurable: boolean;
  status(): { ok: true } | { ok: false; reason: string; isConnected?: boolean; isPartial?: boolean };
  /** Another process puts work items from now on. */
  anotherPuts(): void;
  /** What the user of a process that works must be permitted and is not. */
  missingRight(): Promise<string | undefined>;
};

const USED_BY: readonly Role[] = ['relay', 'issuer', 'sweeper'];

export const openWorkQueue = async (
  { natsUrl }: Config,
  roles: readonly Role[],
  { clock, logger, runner }: { clock: Clock; logger: Logger; runner: Runner },
): Promise<OpenedQueue> => {
  if (natsUrl === undefined || !roles.some((role) => USED_BY.includes(role))) {
    return {
      ...createMemoryQueue(clock),
      isDurable: false,
      status: () => ({ ok: true }),
      anotherPuts: () => undefined,
      missingRight: async () => undefined,
    };
  }
  // Imported on use, like the client of the event log.
  const { createNatsQueue } = await import('../../adapters/queue-nats/nats-queue.js');
  let wasOpened = false;
  const queue = await createNatsQueue({
    servers: natsUrl,
    clock,
    notify: ({ kind, ...notice }) => {
      // The first connection is no news: commands make one each, and a process that has none does not start.
      const connected = wasOpened ? 'info' : 'debug';
      const invoice = 'stream' in notice ? streamFields(notice.stream) : {};
      logger[kind === 'connected' ? connected : 'warn']({ msg: 'work queue', notice: kind, ...notice, ...invoice });
    },
  });
  wasOpened = true;
  runner.onStop('work queue', () => queue.close());
  return { ...queue, isDurable: true };
};

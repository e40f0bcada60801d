import { createMemoryQueue } from '../../adapters/queue-memory/memory-queue.js';
import type { QueueNotice } from '../../adapters/queue-nats/link.js';
import type { Clock } from '../../ports/clock.js';
import type { QueueFault, WorkQueue } from '../../ports/work-queue.js';
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
  const lines = createQueueLines(logger);
  const queue = await createNatsQueue({
    servers: natsUrl,
    clock,
    notify: lines.tell,
  });
  lines.opened();
  runner.onStop('work queue', () => queue.close());
  return { ...queue, isDurable: true };
};

type Told = { what: string; cure: string };

/** What a start and doctor say of a fault of NATS. */
export const QUEUE_FAULTS: Readonly<Record<QueueFault, Told>> = {
  unavailable: { what: 'the work queue cannot be reached', cure: 'check NATS_URL and the NATS server' },
  refused: {
    what: 'NATS refuses this user',
    cure: 'check user and password in NATS_URL, and what the NATS server permits the user',
  },
  untrusted: {
    what: 'the TLS of NATS is not trusted, or the server has none',
    cure: 'check tls:// and the host name in NATS_URL, and name a private authority in NODE_EXTRA_CA_CERTS',
  },
  without_jetstream: {
    what: 'NATS gives this user no JetStream',
    cure: 'switch JetStream on in the NATS server, and for the account of the user in NATS_URL',
  },
};

/** A queue that is away for so long needs an operator. */
const LASTS_AFTER_MS = 60_000;

const AWAY: ReadonlySet<QueueNotice['kind']> = new Set(['disconnected', 'connection_failed']);

/**
 * Logs what the work queue says of itself. A connection that is still away after a minute is logged once more, as an error, because the client repeats
 * a state only after ten minutes.
 */
export const createQueueLines = (logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>) => {
  let wasOpened = false;
  let isAway = false;
  let away: NodeJS.Timeout | undefined;
  return {
    tell: ({ kind, ...notice }: QueueNotice): void => {
      const invoice = 'stream' in notice ? streamFields(notice.stream) : {};
      const line = { msg: 'work queue', notice: kind, ...notice, ...invoice };
      if (kind === 'connected') {
        clearTimeout(away);
        away = undefined;
        isAway = false;
        // The first connection is no news: commands make one each, and a process that has none does not start.
        logger[wasOpened ? 'info' : 'debug'](line);
        return;
      }
      logger[isAway && AWAY.has(kind) ? 'error' : 'warn'](line);
      if (!AWAY.has(kind)) return;
      away ??= setTimeout(() => {
        isAway = true;
        logger.error(line);
      }, LASTS_AFTER_MS).unref();
    },
    opened: (): void => {
      wasOpened = true;
    },
  };
};

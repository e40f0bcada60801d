import { deadlines } from '../../projections/deadlines/index.js';
import type { LogPosition } from '../ports/event-log.js';
import { pause } from '../waiting/pause.js';
import { readCheckpoint } from '../workers/projection-checkpoint.js';
import { leaderSession } from '../workers/projection-leader.js';
import { runRelay } from '../workers/relay.js';
import { faultFields } from './logger.js';
import type { Parts } from './service.js';

const RELAY_PAUSE_MS = 500;
const STAND_BY_MS = 1_000;

/**
 * Where a relay begins that has no checkpoint: what is before it is in the rows of `deadlines`, which the refill and the
 * sweeper tap. Read before the refill, so that nothing falls between the two.
 */
export const relayStart = ({ engines }: Parts): Promise<LogPosition | null> => readCheckpoint(engines.pool, deadlines);

/** New work in the log becomes taps until the signal aborts; over a durable queue one relay leads, the others stand by. */
export const relayForEver = (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> =>
  parts.queue.isDurable ? relayAsLeader(start, parts, signal) : relayFrom(start, parts, signal, async () => undefined);

const relayAsLeader = async (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> => {
  const { engines, logger } = parts;
  const session = leaderSession(engines.pool);
  while (!signal.aborted) {
    try {
      const lost = await session.tryLead('relay');
      if (lost !== undefined) {
        const identity = await engines.log.identity();
        const after = (await engines.guards.relay.read(identity)) ?? start;
        const leading = AbortSignal.any([signal, lost]);
        await relayFrom(after, parts, leading, (position) => engines.guards.relay.move(identity, position));
      }
    } catch (error) {
      logger.warn({ msg: 'the relay waits for its engines', ...faultFields(error) });
    }
    await pause(STAND_BY_MS, signal);
  }
  await session.close();
};

const relayFrom = async (
  after: LogPosition | null,
  { engines, logger, queue }: Parts,
  signal: AbortSignal,
  keep: (position: LogPosition) => Promise<void>,
): Promise<void> => {
  let relayed = after;
  const onInterrupted = (error: unknown): void =>
    logger.warn({ msg: 'the relay was interrupted and goes on', ...faultFields(error) });
  while (!signal.aborted) {
    await runRelay({
      log: engines.log,
      queue,
      after: relayed,
      signal,
      onRelayed: async (position) => {
        relayed = position;
        await keep(position);
      },
      onInterrupted,
    }).catch(onInterrupted);
    await pause(RELAY_PAUSE_MS, signal);
  }
};

import { deadlines } from '../../../projections/deadlines.js';
import { asLeader, leaderSession } from '../../adapters/sql/leader-lock.js';
import { pause } from '../../lib/pause.js';
import type { LogPosition } from '../../ports/event-log.js';
import { readCheckpoint } from '../../projector/generations.js';
import { runRelay } from '../../workers/relay.js';
import { faultFields } from '../config/logger.js';
import type { Parts } from './parts.js';

const RELAY_PAUSE_MS = 500;
const STAND_BY_MS = 1_000;

/**
 * The position at which a relay without a checkpoint begins. Earlier work is in the rows of `deadlines`, from which refill and sweeper put it into
 * the queue. Read before the queue is refilled, so that no work is missed between the two.
 */
export const relayStart = ({ engines }: Parts): Promise<LogPosition | null> => readCheckpoint(engines.pool, deadlines);

/** Puts new work into the queue until the signal aborts. Over a durable queue one relay leads. */
export const runRelayRole = (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> =>
  parts.queue.isDurable ? relayAsLeader(start, parts, signal) : relayFrom(start, parts, signal, async () => undefined);

const relayAsLeader = async (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> => {
  const { engines, logger } = parts;
  const session = leaderSession(engines.pool);
  const relay = async (leading: AbortSignal): Promise<void> => {
    const identity = await engines.log.identity();
    const after = (await engines.guards.relay.read(identity)) ?? start;
    await relayFrom(after, parts, leading, (position) => engines.guards.relay.move(identity, position));
  };
  while (!signal.aborted) {
    try {
      await asLeader(session, 'relay', relay, signal);
    } catch (error) {
      logger.warn({ msg: 'the relay failed and is tried again', ...faultFields(error) });
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
    logger.warn({ msg: 'the relay was interrupted and continues', ...faultFields(error) });
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

import { deadlines } from '../../../projections/deadlines.js';
import { asLeader, leaderSession } from '../../adapters/sql/leader-lock.js';
import { pause } from '../../lib/pause.js';
import { createReminder } from '../../lib/reminder.js';
import { isEarlier, type LogPosition } from '../../ports/event-log.js';
import { readCheckpoint } from '../../projector/checkpoints.js';
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
export const runRelayRole = (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> => {
  if (parts.queue.isDurable) return relayAsLeader(start, parts, signal);
  return relayFrom(start, parts, signal, { keep: async () => undefined, readAgain: () => relayStart(parts) });
};

const relayAsLeader = async (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> => {
  const { engines, logger } = parts;
  const session = leaderSession(engines.pool);
  const relay = async (leading: AbortSignal): Promise<void> => {
    const identity = await engines.log.identity();
    const stored = async (): Promise<LogPosition | null> => (await engines.guards.relay.read(identity)) ?? start;
    const keep = (position: LogPosition): Promise<void> => engines.guards.relay.move(identity, position);
    await relayFrom(await stored(), parts, leading, { keep, readAgain: stored });
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

/** `readAgain`: the checkpoint as the database has it now, after a fault that may have come of a failover. */
type RelayPlace = { keep(position: LogPosition): Promise<void>; readAgain(): Promise<LogPosition | null> };

const relayFrom = async (
  after: LogPosition | null,
  { engines, logger, queue }: Parts,
  signal: AbortSignal,
  { keep, readAgain }: RelayPlace,
): Promise<void> => {
  let relayed = after;
  let wasInterrupted = false;
  const reminder = createReminder();
  const onInterrupted = (error: unknown): void => {
    const fields = faultFields(error);
    if (reminder.isDue(`${fields.error} ${fields.code ?? ''}`))
      logger.warn({ msg: 'the relay was interrupted and continues', ...fields });
  };
  const relay = async (): Promise<void> => {
    if (wasInterrupted) {
      relayed = earliest(relayed, await readAgain(), await engines.log.head());
      wasInterrupted = false;
    }
    await runRelay({
      log: engines.log,
      queue,
      after: relayed,
      signal,
      onRelayed: async (position) => {
        relayed = position;
        reminder.reset();
        await keep(position);
      },
      onInterrupted,
    });
  };
  while (!signal.aborted) {
    await relay().catch((error: unknown) => {
      // The log may have lost its end meanwhile, and positions after that end then hold other events.
      wasInterrupted = true;
      onInterrupted(error);
    });
    await pause(RELAY_PAUSE_MS, signal);
  }
};

/**
 * Everything before the earliest of these is in the log and was relayed. Work that was accepted at positions before it, since the log lost its end, is
 * put into the queue by the sweeper.
 */
const earliest = (...places: readonly (LogPosition | null)[]): LogPosition | null =>
  places.reduce((first, place) => (isEarlier(place, first) ? place : first));

import { deadlines } from '../../../projections/deadlines.js';
import { asLeader, leaderSession } from '../../adapters/sql/leader-lock.js';
import { pause } from '../../lib/pause.js';
import { isEarlier, type LogPosition } from '../../ports/event-log.js';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';
import { readCheckpoint } from '../../projector/checkpoints.js';
import { runRelay } from '../../workers/relay.js';
import { createFaultLines, type FaultLines } from '../config/fault-lines.js';
import type { Logger } from '../config/logger.js';
import type { Parts } from './parts.js';

const RELAY_PAUSE_MS = 500;
const STAND_BY_MS = 1_000;
/** Puts that fail one after another before a relay resigns: one alone may be a short silence, after which the same relay continues. */
const FAILED_PUTS = 2;
/** How long a process whose work items were not taken does not lead: longer than the others wait for their next try. */
const STAND_BACK_MS = 3 * STAND_BY_MS;

/** Where a relay without a checkpoint begins: earlier work is in the rows of `deadlines`. Read before the queue is refilled from these rows. */
export const relayStart = ({ engines }: Parts): Promise<LogPosition | null> => readCheckpoint(engines.pool, deadlines);

/** Puts new work into the queue until the signal aborts. Over a durable queue one relay leads. */
export const runRelayRole = (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> => {
  if (parts.queue.isDurable) return relayAsLeader(start, parts, signal);
  return relayFrom(start, parts, signal, {
    keep: async () => undefined,
    readAgain: () => relayStart(parts),
    goesOnAfter: () => true,
    interruptions: interruptionLines(parts.logger),
  });
};

/** A subscription waits for up to two seconds before it reads again. */
const interruptionLines = (logger: Logger): FaultLines =>
  createFaultLines({ logger, msg: 'the relay was interrupted and continues', everyMs: STAND_BACK_MS });

/** A relay that twice cannot put work resigns, and a process without the queue does not try to lead: another process may reach the queue. */
const relayAsLeader = async (start: LogPosition | null, parts: Parts, signal: AbortSignal): Promise<void> => {
  const { engines, logger, queue } = parts;
  const session = leaderSession(engines.pool);
  const interruptions = interruptionLines(logger);
  const faults = createFaultLines({ logger, msg: 'the relay failed and is tried again', everyMs: STAND_BACK_MS });
  let failedPuts = 0;
  const goesOnAfter = (error: unknown): boolean => {
    failedPuts = error instanceof WorkQueueUnavailable ? failedPuts + 1 : 0;
    return failedPuts < FAILED_PUTS;
  };
  const checkpointOf = async (identity: string): Promise<LogPosition | null> =>
    (await engines.guards.relay.read(identity)) ?? start;
  /** Leads. Says where the checkpoint was when this relay resigned; undefined when it ended for another reason. */
  const relay = async (leading: AbortSignal): Promise<Resigned | undefined> => {
    const identity = await engines.log.identity();
    const stored = () => checkpointOf(identity);
    const keep = async (position: LogPosition): Promise<void> => {
      failedPuts = 0;
      await engines.guards.relay.move(identity, position);
    };
    await relayFrom(await stored(), parts, leading, { keep, readAgain: stored, goesOnAfter, interruptions });
    return failedPuts < FAILED_PUTS ? undefined : { at: await stored() };
  };
  /** Until another relay has put what this one could not put: one that leads may fail as this one did. */
  let resigned: Resigned | undefined;
  while (!signal.aborted) {
    failedPuts = 0;
    try {
      if (reachesQueue(queue)) {
        const lead = async (leading: AbortSignal) => ({ resigned: await relay(leading) });
        const led = await asLeader(session, 'relay', lead, signal);
        if (led !== undefined) resigned = led.resigned;
        else if (resigned !== undefined && isEarlier(resigned.at, await checkpointOf(await engines.log.identity()))) {
          resigned = undefined;
          queue.anotherPuts();
        }
      }
    } catch (error) {
      faults.tell(error);
    }
    await pause(failedPuts < FAILED_PUTS ? STAND_BY_MS : STAND_BACK_MS, signal);
  }
  await session.close();
};

/** `at`: the checkpoint when a relay resigned, which only a process whose work items are taken moves on. */
type Resigned = { at: LogPosition | null };

/** A queue that is connected may have refused the last work item. Only another try shows whether it takes the next one. */
const reachesQueue = (queue: Parts['queue']): boolean => {
  const status = queue.status();
  return status.ok || status.isConnected === true || status.isPartial === true;
};

type Relaying = {
  keep(position: LogPosition): Promise<void>;
  /** The checkpoint as the database has it now, after a fault that may have come of a failover. */
  readAgain(): Promise<LogPosition | null>;
  goesOnAfter(error: unknown): boolean;
  /** Of this process, so that an outage begins once, however often it leads meanwhile. */
  interruptions: FaultLines;
};

const relayFrom = async (
  after: LogPosition | null,
  { engines, queue }: Parts,
  signal: AbortSignal,
  { keep, readAgain, goesOnAfter, interruptions }: Relaying,
): Promise<void> => {
  let relayed = after;
  let wasInterrupted = false;
  let goesOn = true;
  const onInterrupted = (error: unknown): void => interruptions.tell(error);
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
        await keep(position);
        interruptions.areOver();
      },
      onInterrupted,
    });
  };
  while (!signal.aborted) {
    await relay().catch((error: unknown) => {
      // The log may have lost its end meanwhile, and positions after that end then hold other events.
      wasInterrupted = true;
      onInterrupted(error);
      goesOn = goesOnAfter(error);
    });
    if (!goesOn) return;
    await pause(RELAY_PAUSE_MS, signal);
  }
};

/** What lies before the earliest of these was relayed. Work accepted there since the log lost its end is put into the queue by the sweeper. */
const earliest = (...places: readonly (LogPosition | null)[]): LogPosition | null =>
  places.reduce((first, place) => (isEarlier(place, first) ? place : first));

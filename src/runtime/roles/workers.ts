import { createPreviousGeneration } from '../../adapters/read-model-postgres/kept-rows.js';
import { createParkedItems, type ParkedItems } from '../../adapters/read-model-postgres/parked-items.js';
import { pause } from '../../lib/pause.js';
import type { ParkedWork, WorkQueue } from '../../ports/work-queue.js';
import { LONGEST_PAUSE_MS } from '../../workers/issuer.js';
import { refillQueue, type Sweeper } from '../../workers/sweeper.js';
import { createFaultLines } from '../config/fault-lines.js';
import { faultFields, streamFields } from '../config/logger.js';
import { isEngineFault } from './faults.js';
import { type IssuingDeps, type OnWorkFault, openIssuingDeps, startIssuer } from './issuer.js';
import type { Parts } from './parts.js';
import { relayStart, runRelayRole } from './relay.js';
import { runAnchorerRole, runKeyDestruction, runSweeper } from './sweeper.js';

/** Starts relay, issuer and sweeper, as far as this process has these roles. */
export const startWorkers = async (parts: Parts): Promise<void> => {
  const { guards, roles, runner, queue } = parts;
  const running: Promise<void>[] = [];
  const onFault = createWorkFaults(parts);
  const issues = roles.includes('issuer');
  const sweeps = roles.includes('sweeper');
  const deps = issues || sweeps ? openIssuingDeps(parts) : undefined;
  // Aborts at the very beginning of a stop: a send that begins while the public API still drains might be cut off at the end.
  const signal = runner.stopping;
  const after = await relayStart(parts);
  runner.onStop('issuing', async () => {
    await Promise.all(running);
  });
  const sweeper = deps && sweeperOf(deps, parts, onFault);
  const hasOwnQueue = issues && !queue.isDurable;
  if (sweeper !== undefined && hasOwnQueue) await refillQueue(sweeper, signal);
  if (roles.includes('relay')) {
    // After a pause the position of the start may be one that the log has lost.
    const relay = async (going: AbortSignal, wasPaused: boolean): Promise<void> =>
      runRelayRole(wasPaused ? await relayStart(parts) : after, parts, going);
    running.push(guards.whileLogCoversCheckpoint(signal, relay));
  }
  if (hasOwnQueue) running.push(showParked(parts, signal));
  if (deps !== undefined && issues) running.push(...startIssuer(deps, parts, onFault, signal));
  if (sweeper !== undefined && sweeps) {
    running.push(guards.whileAppendsAllowed(signal, (stopping) => runSweeper(sweeper, parts, stopping)));
    running.push(guards.whileAppendsAllowed(signal, (stopping) => runAnchorerRole(parts, stopping)));
    running.push(runKeyDestruction(parts, signal));
  }
};

/** Reports faults of work on streams. Where an engine is away, all work fails, and the log does not name each stream. */
export const createWorkFaults = ({ logger, diskSpace }: Pick<Parts, 'logger' | 'diskSpace'>): OnWorkFault => {
  const msg = 'work failed and will be tried again';
  // Where few invoices are open, no other work fails between two tries of one.
  const ofEngines = createFaultLines({ logger, msg, everyMs: LONGEST_PAUSE_MS });
  return (stream, error) => {
    diskSpace.record(error);
    if (isEngineFault(error)) ofEngines.tell(error, {}, streamFields(stream));
    else logger.warn({ msg, ...streamFields(stream), ...faultFields(error) });
  };
};

const sweeperOf = (deps: IssuingDeps, { engines, queue, roles, traces }: Parts, onFault: OnWorkFault): Sweeper => ({
  readModel: engines.readModel,
  log: engines.log,
  cuts: engines.guards.cuts,
  previousGeneration: createPreviousGeneration(engines.pool),
  // A queue in memory that no issuer of this process works on would only grow.
  queue: queue.isDurable || roles.includes('issuer') ? queue : undefined,
  deps: { ...deps, actor: 'timer:sweeper' },
  inTrace: (stream, conclude) => traces.verdict(stream, engines.log, conclude),
  onFault,
});

/** Shows the parked work items of the in-process queue to operator commands, until the signal aborts. */
const showParked = ({ queue, engines, logger }: Parts, signal: AbortSignal): Promise<void> =>
  mirrorParked(queue, createParkedItems(engines.pool), signal, (error) =>
    logger.debug({ msg: 'the list of parked work items could not be written', ...faultFields(error) }),
  );

const LOOK_MS = 1_000;

/** Shows commands what the in-process queue has parked, and does the retries that they request; without a query while nothing is parked. */
export const mirrorParked = async (
  queue: Pick<WorkQueue, 'parked' | 'retryParked'>,
  items: Pick<ParkedItems, 'replace' | 'retriesAsked'>,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  lookMs = LOOK_MS,
): Promise<void> => {
  // Rows of an earlier process do not describe this queue, so the first round always writes.
  let shown = 'unknown';
  while (!signal.aborted) {
    try {
      const { work: parked } = await queue.parked();
      if (textOf(parked) !== shown) await items.replace(parked);
      shown = textOf(parked);
      if (parked.length > 0) for (const stream of await items.retriesAsked()) await queue.retryParked(stream);
    } catch (error) {
      onFault(error);
    }
    await pause(lookMs, signal);
  }
};

const textOf = (parked: readonly ParkedWork[]): string => JSON.stringify(parked);

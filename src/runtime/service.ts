import { createPdfRenderer } from '../adapters/pdf/renderer.js';
import type { EventStore } from '../app/event-store/event-store.js';
import { createInvoiceReader } from '../app/read/invoice-reader.js';
import type { Authorizer } from '../ports/authorizer.js';
import type { Clock } from '../ports/clock.js';
import type { Simulator } from '../simulator/start.js';
import { leaderSession } from '../workers/projection-leader.js';
import { startApi } from './api.js';
import { modesWithoutAuthorizer, openSimulator, simulatedModes } from './authorizers.js';
import type { Config, Role } from './config.js';
import { type Engines, openEngines } from './engines.js';
import { forgetWhatIsOver } from './forgetting.js';
import { startGuardsKeeping } from './guards-keeping.js';
import type { GuardsKeeping } from './guards-standing.js';
import { startIssuing } from './issuing.js';
import { faultFields, type Logger } from './logger.js';
import { createMetrics, type Metrics } from './metrics/metrics.js';
import { startOperations } from './operations.js';
import { startProjecting } from './projecting.js';
import type { ServiceState } from './readiness.js';
import { createRunner } from './runner.js';
import { type OpenedQueue, openWorkQueue } from './work-queue.js';

export type ServiceOptions = {
  config: Config;
  roles: readonly Role[];
  clock: Clock;
  logger: Logger;
  /** When it aborts before everything is up, the start ends between two of its steps. */
  stopAsked?: AbortSignal;
  /** Runs when everything is up, before the service says that it is ready. */
  beforeReady?: (service: Service) => Promise<void>;
  /** Tests stop a process at a point of these; the product passes none. */
  decorateStore?: (store: EventStore) => EventStore;
  decorateAuthorizer?: (authorizer: Authorizer) => Authorizer;
};

export type Service = {
  /** Origin of the public API; empty without the role `api`. */
  url: string;
  opsUrl: string;
  simulator: Simulator | undefined;
  engines: Engines;
  /** Not ready, stop taking, finish sends, close in reverse order (design section 8). */
  stop(): Promise<void>;
};

/** Everything a worker or the api of this process may need. */
export type Parts = ServiceOptions & {
  engines: Engines;
  runner: ReturnType<typeof createRunner>;
  reader: ReturnType<typeof createInvoiceReader>;
  simulator: Simulator | undefined;
  queue: OpenedQueue;
  metrics: Metrics;
  guards: GuardsKeeping;
};

const asIs = <T>(one: T): T => one;

/** Thrown when a start was told to stop; what had been started is stopped. */
export class StoppedWhileStarting extends Error {
  override readonly name = 'StoppedWhileStarting';
}

/** Starts the given roles in one process; throws when one cannot start, after stopping what had. */
export const startService = async (options: ServiceOptions): Promise<Service> => {
  const { logger } = options;
  const runner = createRunner((name, error) =>
    logger.error({ msg: 'stopping failed', part: name, ...faultFields(error) }),
  );
  try {
    return await start(options, runner);
  } catch (error) {
    await runner.stop();
    throw error;
  }
};

const start = async (options: ServiceOptions, runner: Parts['runner']): Promise<Service> => {
  const { config, roles, clock, logger, stopAsked } = options;
  const goOn = (): void => {
    if (stopAsked?.aborted) throw new StoppedWhileStarting();
  };
  goOn();
  const state: ServiceState = { phase: 'starting', halted: new Set() };
  const metrics = createMetrics(simulatedModes(config));
  const { decorateStore = asIs, decorateAuthorizer = asIs } = options;
  const engines = await openEngines({
    ...{ ...options, runner, patience: 'serve' },
    decorateStore: (store) => metrics.measureStore(decorateStore(store)),
  });
  const reader = createInvoiceReader({
    ...{ store: engines.store, log: engines.log, readModel: engines.readModel, keys: engines.sealingKeys, clock },
    testRetentionSeconds: config.limits.testRetentionSeconds,
  });
  forgetWhatIsOver(reader, runner);
  goOn();
  const queue = await openWorkQueue(config, roles, { clock, logger, runner });
  goOn();
  const simulator = needsSimulator(config, roles) ? await openOnlySimulator(options, engines, runner) : undefined;
  const guards = await startGuardsKeeping({ config, clock, logger, engines, runner });
  goOn();
  const parts: Parts = {
    ...{ ...options, engines, runner, reader, simulator, queue, metrics, guards },
    decorateAuthorizer: (authorizer) => metrics.measureAuthorizer(decorateAuthorizer(authorizer)),
  };
  const opsPort = await startOperations(parts, state);
  goOn();
  if (roles.includes('projector')) startProjecting(parts, (name) => state.halted.add(name));
  await startIssuing(parts);
  goOn();
  const url = roles.includes('api') ? await startApi(parts, openPdfRenderer(runner)) : '';
  const opsUrl = `http://${config.ops.host}:${opsPort}`;
  const service: Service = { url, opsUrl, simulator, engines, stop: () => runner.stop() };
  await options.beforeReady?.(service);
  state.phase = 'serving';
  runner.onStop('readiness', () => {
    state.phase = 'draining';
  });
  for (const mode of roles.includes('issuer') ? simulatedModes(config) : []) {
    logger.warn({ msg: `SIMULADO: ${mode} mode is served by the simulator; its notes are no fiscal documents`, mode });
  }
  logger.info({
    msg: 'ready',
    url,
    ops_url: opsUrl,
    roles,
    ...(simulator === undefined ? {} : { simulator: simulator.urls, simulator_control_url: simulator.controlUrl }),
  });
  return service;
};

/** Thrown when another process on this database runs a simulator: two ledgers would "prove" a false absence. */
export class SimulatorElsewhere extends Error {
  override readonly name = 'SimulatorElsewhere';
}

const openOnlySimulator = async (
  { config, clock, logger }: ServiceOptions,
  { pool }: Engines,
  runner: Parts['runner'],
) => {
  // A simulator that was frozen goes on with its ledger when it is thawed: nobody may have begun another meanwhile.
  const session = leaderSession(pool, 'for ever');
  runner.onStop('simulator lock', () => session.close());
  if ((await session.tryLead('simulator')) === undefined) {
    throw new SimulatorElsewhere(
      'another process on this database runs the simulator: set AUTHORIZER_TEST_URL and AUTHORIZER_LIVE_URL, or give this process other roles than issuer',
    );
  }
  return await openSimulator(config, clock, logger, runner);
};

const needsSimulator = (config: Config, roles: readonly Role[]): boolean =>
  roles.includes('issuer') && modesWithoutAuthorizer(config).length > 0;

const openPdfRenderer = (runner: Parts['runner']) => {
  const pdf = createPdfRenderer();
  runner.onStop('pdf workers', () => pdf.close());
  return pdf;
};

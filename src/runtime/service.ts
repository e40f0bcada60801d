import { createPdfRenderer } from '../adapters/pdf/renderer.js';
import { createDrawnPdfs } from '../app/download/download.js';
import { createInvoiceReader } from '../app/read/invoice-reader.js';
import { pause } from '../lib/pause.js';
import { proveAnchorFolder } from './config/anchor-folder.js';
import { type Config, modesWithoutAuthorizer, type Role, simulatedModes } from './config/config.js';
import { faultFields } from './config/logger.js';
import { pdfThreads, thisMachine } from './config/machine.js';
import { unusedDatabase } from './engines/database.js';
import { createDiskSpace } from './engines/disk-space.js';
import { openEngines } from './engines/engines.js';
import { createRunner, type Runner } from './engines/runner.js';
import { openOnlySimulator, prepareSimulator } from './engines/simulator.js';
import { refuseSimulatedLive } from './engines/simulator-notes.js';
import { forkSimulator } from './engines/simulator-process.js';
import { openWorkQueue } from './engines/work-queue.js';
import { createMetrics } from './metrics/metrics.js';
import type { ServiceState } from './operations/readiness.js';
import { startGuardReadiness } from './roles/guarded-work.js';
import type { Parts, Service, ServiceOptions } from './roles/parts.js';
import { createTurns } from './roles/turns.js';
import { openTraces } from './tracing/traces.js';

const identity = <T>(unchanged: T): T => unchanged;

/** Thrown when a start was asked to stop; everything started so far is stopped. */
export class StoppedWhileStarting extends Error {
  override readonly name = 'StoppedWhileStarting';
}

/** Starts the given roles in one process. Throws when a part cannot start, after stopping the parts already started. */
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
  const throwIfStopAsked = (): void => {
    if (stopAsked?.aborted) throw new StoppedWhileStarting();
  };
  throwIfStopAsked();
  if (roles.includes('sweeper') && config.anchorDir !== undefined) await proveAnchorFolder(config.anchorDir);
  const unused = unusedDatabase(config);
  if (unused !== undefined) logger.warn({ msg: unused.detail, cure: unused.cure });
  const state: ServiceState = { phase: 'starting', halted: new Set() };
  const metrics = createMetrics(simulatedModes(config), roles);
  const { decorateStore = identity, decorateAuthorizer = identity } = options;
  const traces = await openTraces(config, roles, logger);
  // First here, so that it is closed last, with the spans of all other parts.
  runner.onStop('traces', () => traces.close());
  const simulated = needsSimulator(config, roles);
  const simulatorProcess = simulated && options.simulatorProcess === true ? forkSimulator(logger, runner) : undefined;
  let loading: ReturnType<typeof loadRoles> | undefined;
  const engines = await openEngines({
    ...options,
    whileOpening: async (isNew) => {
      loading = loadRoles(roles);
      // A fault is reported below, where the code is needed.
      await loading.catch(() => undefined);
      // Only in a new folder, which no other process uses. What fails here fails again, and is reported, when the simulator starts.
      if (!simulated || !isNew || runner.stopping.aborted) return;
      const preparing = prepareSimulator(config, clock).catch(() => undefined);
      runner.onStop('keys of the simulator', () => preparing);
      await preparing;
    },
    runner,
    startedFor: 'serve',
    decorateStore: (store) => metrics.measureStore(traces.store(decorateStore(store))),
  });
  const reader = createInvoiceReader({
    store: engines.store,
    log: engines.log,
    readModel: engines.readModel,
    keys: engines.sealingKeys,
    clock,
    testRetentionSeconds: config.limits.testRetentionSeconds,
  });
  const drawn = createDrawnPdfs(clock);
  evictExpired([reader, drawn], runner);
  if (roles.includes('issuer') && simulatedModes(config).includes('live'))
    await refuseSimulatedLive(engines.pool, engines.store);
  throwIfStopAsked();
  const queue = traces.queue(await openWorkQueue(config, roles, { clock, logger, runner }), engines.log);
  throwIfStopAsked();
  const simulator = simulated ? await openOnlySimulator(options, engines, runner, simulatorProcess) : undefined;
  const guards = await startGuardReadiness({ config, clock, logger, engines, runner });
  throwIfStopAsked();
  const afterReady: (() => Promise<void>)[] = [];
  const parts: Parts = {
    ...options,
    whenReady: (task) => afterReady.push(task),
    engines,
    runner,
    reader,
    drawn,
    simulator,
    queue,
    metrics,
    traces,
    guards,
    diskSpace: createDiskSpace(clock, logger),
    turns: createTurns(),
    decorateAuthorizer: (authorizer) => metrics.measureAuthorizer(traces.authorizer(decorateAuthorizer(authorizer))),
  };
  const { startOperations, startProjector, startWorkers, startApi } = await (loading ?? loadRoles(roles));
  const opsUrl = await startOperations(parts, state);
  throwIfStopAsked();
  startProjector?.(parts, state.halted);
  await startWorkers?.(parts);
  // The operator rows that complete guards need may come from the projector of this process.
  if (startApi !== undefined) await guards.untilSettled();
  throwIfStopAsked();
  const api = await startApi?.(parts, openPdfRenderer(parts));
  const url = api?.url ?? '';
  const leave = async (): Promise<void> => {
    state.phase = 'draining';
    api?.drain();
    if (api !== undefined) await pause(config.stopDelayMs, runner.stopping);
  };
  const service: Service = { url, opsUrl, simulator, engines, leave, stop: () => runner.stop() };
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
    ...(url === '' ? {} : { docs_url: `${url}/docs` }),
    ops_url: opsUrl,
    console_url: `${opsUrl}/console`,
    roles,
    ...(simulator === undefined ? {} : { simulator: simulator.urls, simulator_control_url: simulator.controlUrl }),
  });
  if (options.warmThreads === true) void oneAfterAnother(afterReady, runner.stopping);
  return service;
};

/** One at a time, so that most of the machine is left to clients. */
const oneAfterAnother = async (tasks: readonly (() => Promise<void>)[], stopping: AbortSignal): Promise<void> => {
  for (const task of tasks) if (!stopping.aborted) await task();
};

/** Loads what runs on the engines, as far as `roles` need it. Called while the database starts, or after it has answered. */
const loadRoles = async (roles: readonly Role[]) => {
  const has = (...asked: readonly Role[]): boolean => asked.some((role) => roles.includes(role));
  const isWorker = has('relay', 'issuer', 'sweeper');
  const [operations, projector, workers, signer, api] = await Promise.all([
    import('./operations/operations.js'),
    has('projector') ? import('./roles/projector.js') : undefined,
    isWorker ? import('./roles/workers.js') : undefined,
    isWorker ? import('../adapters/authorizer/document-signer.js') : undefined,
    has('api') ? import('./roles/api.js') : undefined,
  ]);
  signer?.compileSentSchemas();
  return {
    startOperations: operations.startOperations,
    startProjector: projector?.startProjector,
    startWorkers: workers?.startWorkers,
    startApi: api?.startApi,
  };
};

const needsSimulator = (config: Config, roles: readonly Role[]): boolean =>
  roles.includes('issuer') && modesWithoutAuthorizer(config).length > 0;

const openPdfRenderer = ({ runner, whenReady, turns: { presence } }: Parts) => {
  const pdf = createPdfRenderer({ ...pdfThreads(thisMachine()), presence });
  runner.onStop('pdf workers', () => pdf.close());
  whenReady(pdf.warm);
  return pdf;
};

const EVERY_MS = 60_000;

/** Evicts expired invoices and their PDFs from memory every minute, also those that no request reads any more. */
const evictExpired = (memories: readonly { evictExpired(): number }[], { stopping }: Runner): void => {
  const evict = async (): Promise<void> => {
    while (!stopping.aborted) {
      await pause(EVERY_MS, stopping);
      for (const memory of memories) memory.evictExpired();
    }
  };
  // Stopping does not wait for it, because it holds nothing open.
  void evict();
};

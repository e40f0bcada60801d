import { allProjections } from '../../../projections/registry.js';
import { createParametersCache } from '../../adapters/municipal-parameters/cache.js';
import { createMonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { createStoredNotices } from '../../adapters/read-model-postgres/stored-notices.js';
import { openPool } from '../../adapters/sql/pool.js';
import { checkVault } from '../../adapters/vault/certificate-vault.js';
import { stoppedSeries } from '../../app/operator/support/stopped-series.js';
import { createLag } from '../../app/read/lag.js';
import { localOrigin } from '../../http/local-origin.js';
import { shortCache } from '../../lib/short-cache.js';
import { projectionStatus, rowsOfOtherVersions } from '../../projector/status.js';
import { connectionLimits, openFilesLimit, warnOfDrops } from '../config/connection-limits.js';
import { faultFields } from '../config/logger.js';
import { atOwnAddress } from '../config/own-address.js';
import { anchorAges } from '../operator/anchor-check.js';
import { projectionsBehind, recentNotices } from '../operator/checks.js';
import type { Parts } from '../roles/parts.js';
import { openConsole } from './console.js';
import { startOpsServer } from './ops-server.js';
import { createReadiness, type ServiceState } from './readiness.js';

const CONNECTIONS = 4;
const ANSWER_MS = 2_000;

/** The reads of all series are as many as companies and modes, so metrics and console share them. */
const SERIES_KEPT_MS = 60_000;

/** Serves health, metrics and the console on the operations port. Returns the origin to open on this machine. */
export const startOperations = async (parts: Parts, state: ServiceState): Promise<string> => {
  const { config, clock, diskSpace, engines, guards, logger, metrics, queue, roles, runner } = parts;
  const { log, keyring } = engines;
  const db = openOwnPool(parts);
  const watch = createMonitoringReads(db);
  const lag = createLag(log, clock);
  const behind = () => projectionsBehind({ pool: db, log }, clock, lag);
  const statuses = () => projectionStatus(allProjections, { db, log, clock, lag });
  const readiness = createReadiness({
    state,
    watch,
    isDiskFull: diskSpace.isMissing,
    logHead: () => log.head(),
    queueStatus: () => queue.status(),
    projections: async () => ({
      statuses: await statuses(),
      others: await rowsOfOtherVersions(db, allProjections),
    }),
    guards: () => guards.current(),
    vault: () => checkVault(db, keyring),
  });
  // Another process may have the variable without the folder.
  const anchorDir = roles.includes('sweeper') ? config.anchorDir : undefined;
  const allStopped = shortCache(SERIES_KEPT_MS, clock, async () =>
    stoppedSeries(await engines.readModel.companies(), engines.store),
  );
  const readStoppedSeries = () => allStopped('');
  metrics.watch({
    readiness,
    projections: statuses,
    isHalted: (name) => state.halted.has(name) || state.halted.has('projector'),
    parameters: createParametersCache(db),
    stoppedSeries: readStoppedSeries,
    projectionsBehind: behind,
    apiSwitchedOff: engines.readModel.apiSwitchedOff,
    anchorAges: () => anchorAges({ folder: anchorDir, store: engines.store, log, clock }),
    queue,
    watch,
    clock,
  });
  const maxConnections = connectionLimits(openFilesLimit(), config.database.poolSize).ops;
  const listening = startOpsServer(
    { ...config.ops, maxConnections },
    {
      readiness,
      phase: () => state.phase,
      scrape: metrics.scrape,
      metrics: { hosts: config.consoleHosts, token: config.metricsToken },
      console: openConsole(parts, {
        state,
        watch,
        readiness,
        statuses,
        stoppedSeries: readStoppedSeries,
        projectionsBehind: behind,
        notices: () => recentNotices(createStoredNotices(db), clock),
      }),
      onFault: (error) => logger.error({ msg: 'a request to the operations port failed', ...faultFields(error) }),
      onDrop: warnOfDrops(logger, 'operations'),
    },
  );
  const server = await atOwnAddress('OPS_HOST', config.ops.host, listening);
  runner.onStop('operations server', () => server.close());
  return localOrigin(config.ops.host, server.port);
};

/** A pool for probes: they do not wait behind the service's work, take none of its connections, and give up on a silent server. */
const openOwnPool = ({ engines, runner, logger }: Parts) => {
  const { connectionString = '' } = engines.pool.options;
  const pool = openPool({
    connectionString,
    max: CONNECTIONS,
    applicationName: 'nfse-operations',
    statementTimeoutMs: ANSWER_MS,
    connectTimeoutMs: ANSWER_MS,
    answerTimeoutMs: ANSWER_MS,
    onIdleError: () => {
      if (!runner.stopping.aborted) logger.debug({ msg: 'a database connection of the operations port was lost' });
    },
  });
  runner.onStop('operations pool', () => pool.end());
  return pool;
};

import { getRequestListener, RequestError } from '@hono/node-server';
import type { MonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import type { StoredNotice } from '../../adapters/read-model-postgres/stored-notices.js';
import { deriveSecret } from '../../adapters/vault/master-key.js';
import type { SettleCommand, SettleResult } from '../../app/operator/settlement/settle-invoice.js';
import { settleInvoice } from '../../app/operator/settlement/settle-invoice.js';
import type { StoppedSeries } from '../../app/operator/support/stopped-series.js';
import { createLag } from '../../app/read/lag.js';
import { osUser } from '../../cli/run.js';
import type { ProjectionOperations, RebuildResult } from '../../cli/session.js';
import { createConsole } from '../../console/app.js';
import type { ConsoleDeps, RebuildRun, Rebuilds } from '../../console/deps.js';
import { unreadableRequest } from '../../console/guard.js';
import { invoicePrefix } from '../../domain/common/ids.js';
import { counted } from '../../lib/counted.js';
import { shortCache } from '../../lib/short-cache.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog } from '../../ports/event-log.js';
import type { ProjectionStatus } from '../../ports/projection-status.js';
import { modesWithoutAuthorizer } from '../config/config.js';
import { faultFields } from '../config/logger.js';
import { programVersion } from '../config/program-version.js';
import { openAuthorizer } from '../engines/authorizers.js';
import { certificatesOf } from '../engines/companies.js';
import type { Engines } from '../engines/engines.js';
import { createRunner } from '../engines/runner.js';
import { runningSimulator } from '../engines/simulator.js';
import { isSimulatorsNote } from '../engines/simulator-notes.js';
import { projectionOperations } from '../operator/projections.js';
import { sessionOver, settleDepsOf } from '../operator/session.js';
import { openSeconds, stateOf } from '../operator/work-checks.js';
import { downloadTokensOf } from '../roles/api.js';
import { isEngineFault } from '../roles/faults.js';
import type { Parts } from '../roles/parts.js';
import type { Readiness, ServiceState } from './readiness.js';
import { roleHealth } from './role-health.js';

/** Sources that the health pages share with the console. */
type ConsoleSources = {
  state: ServiceState;
  watch: MonitoringReads;
  readiness(): Promise<Readiness>;
  statuses(): Promise<readonly ProjectionStatus[]>;
  stoppedSeries(): Promise<readonly StoppedSeries[]>;
  projectionsBehind(): Promise<readonly string[]>;
  notices(): Promise<readonly StoredNotice[]>;
};

/** Returns the support console as a request listener for the operations port. */
export const openConsole = (parts: Parts, sources: ConsoleSources) => {
  const app = createConsole(consoleDeps(parts, sources));
  return getRequestListener(app.fetch, {
    errorHandler: (error) =>
      error instanceof RequestError ? unreadableRequest() : new Response(undefined, { status: 500 }),
  });
};

/** Milliseconds for which the names of companies on pages may be old. */
const NAMES_KEPT_MS = 10_000;

/** Every page asks how late the rows are, which reads the log for each projection. */
const BEHIND_KEPT_MS = 5_000;

const consoleDeps = (parts: Parts, sources: ConsoleSources): ConsoleDeps => {
  const { config, clock, engines, logger, runner, roles } = parts;
  const session = sessionOver(engines, config, clock, { logger, runner });
  const onFault = (error: unknown): void => logger.error({ msg: 'the console failed', ...faultFields(error) });
  const rebuilds = createRebuilds(projectionOperations(engines, clock, runner.stopping), onFault);
  runner.onStop('rebuilds', () => rebuilds.settled());
  const relayLag = createRelayLag(engines, clock);
  const names = shortCache(
    NAMES_KEPT_MS,
    clock,
    async () =>
      new Map(
        (await engines.readModel.companies()).map(({ registration }) => [registration.cnpj, registration.legalName]),
      ),
  );
  const behind = shortCache(BEHIND_KEPT_MS, clock, () => sources.projectionsBehind());
  const tokens = downloadTokensOf(engines.keyring, config);
  return {
    clock,
    rebuilds,
    onFault,
    store: engines.store,
    log: engines.log,
    sealingKeys: engines.sealingKeys,
    readModel: engines.readModel,
    supportReads: session.supportReads,
    lookups: engines.guards.lookups,
    vault: engines.vault,
    limits: config.limits,
    queue: session.queue,
    simulatedModes: session.simulatedModes,
    isSimulatorsNote,
    version: programVersion(),
    testRetentionSeconds: config.limits.testRetentionSeconds,
    access: {
      token: config.operatorToken,
      secret: () => deriveSecret(engines.keyring.sealing().key, 'console'),
      hosts: config.consoleHosts,
      defaultOperator: osUser(),
    },
    settle: (command, operator) => settle(command, operator, parts),
    refusedCertificates: () => sources.watch.refusedCertificates(),
    projections: sources.statuses,
    projectionsBehind: () => behind(''),
    notices: sources.notices,
    companyNames: () => names(''),
    stoppedSeries: () => unlessLost(sources.stoppedSeries()),
    bodyOf: session.bodyOf,
    downloadToken: (invoice, at) => tokens.issue(invoice, at),
    health: async () => {
      const [readiness, openWork, projections, switchedOff, lag] = await Promise.all([
        sources.readiness(),
        sources.watch.openWork(),
        unlessLost(sources.statuses()),
        engines.readModel.apiSwitchedOff(),
        config.natsUrl === undefined ? undefined : unlessLost(relayLag()),
      ]);
      const now = clock.now();
      const known = { readiness, openWork, projections, switchedOff, relayLag: lag, halted: [...sources.state.halted] };
      return {
        roles: roleHealth({ roles, now, limits: config.limits, ...known }),
        checks: Object.entries(readiness.checks).map(([name, check]) => ({
          name,
          ok: check.ok,
          detail: check.ok ? '' : check.reason,
        })),
        waiting: openWork.map((row) => ({
          what: stateOf(row),
          mode: row.mode,
          count: row.count,
          oldestSeconds: openSeconds(row, now),
        })),
      };
    },
  };
};

/** `unknown` while the log or the database cannot be used, so that a page shows what does not depend on it. */
export const unlessLost = async <T>(asked: Promise<T>): Promise<T | 'unknown'> => {
  try {
    return await asked;
  } catch (error) {
    if (isEngineFault(error)) return 'unknown';
    throw error;
  }
};

/** Opens the authorizer in the operator's name, whom each opening of a certificate records. Starts no simulator, which would lock others out. */
const settle = async (command: SettleCommand, operator: string, parts: Parts): Promise<SettleResult> => {
  const { config, clock, logger } = parts;
  const actor = `support:${operator}` as const;
  const own = createRunner((_name, error) => logger.debug({ msg: 'closing failed', ...faultFields(error) }));
  try {
    const simulated = modesWithoutAuthorizer(config).length > 0;
    const simulator = parts.simulator ?? (simulated ? await runningSimulator(config, clock) : undefined);
    const certificateOf = certificatesOf(parts, actor);
    const opened = openAuthorizer({ config, clock, runner: own, simulator, certificateOf });
    const authorizer = parts.metrics.measureAuthorizer(opened);
    return await settleInvoice(command, settleDepsOf(parts, authorizer, actor));
  } finally {
    await own.stop();
  }
};

/** The reason of a refusal stays in English, as at the command line. */
const endOf = (result: RebuildResult): RebuildRun => {
  if ('refused' in result) return { state: 'refused', detail: [result.refused, result.refused] };
  const { generation, events } = result.done;
  return {
    state: 'done',
    detail: [
      `geração ${generation}, ${counted(events, 'evento')}`,
      `generation ${generation}, ${counted(events, 'event')}`,
    ],
  };
};

/** Rebuilds that the console starts. They run in this process, and the last result of each projection is kept in memory. */
export const createRebuilds = (
  { rebuild, refusal }: Pick<ProjectionOperations, 'rebuild' | 'refusal'>,
  onFault: (error: unknown) => void,
): Rebuilds & { settled(): Promise<void> } => {
  const runs = new Map<string, RebuildRun>();
  const running = new Map<string, Promise<void>>();
  const run = async (name: string): Promise<void> => {
    try {
      const result = await rebuild(name, ({ events }) =>
        runs.set(name, {
          state: 'running',
          detail: [counted(events, 'evento aplicado', 'eventos aplicados'), `${counted(events, 'event')} folded`],
        }),
      );
      runs.set(name, endOf(result));
    } catch (error) {
      onFault(error);
      const detail = [
        'um serviço falhou: comece de novo, e a reconstrução continua onde parou',
        'an engine failed: begin the rebuild again, and it continues where it stopped',
      ] as const;
      runs.set(name, { state: 'refused', detail });
    }
    running.delete(name);
  };
  return {
    begin: (name) => {
      if (running.has(name)) return;
      runs.set(name, { state: 'running', detail: ['acaba de começar', 'has just begun'] });
      running.set(name, run(name));
    },
    refuses: async (name) => {
      const refused = await refusal();
      if (refused !== undefined) runs.set(name, endOf({ refused }));
      return refused !== undefined;
    },
    of: (name) => runs.get(name),
    settled: async () => {
      await Promise.all(running.values());
    },
  };
};

/** Returns a function that says by how many seconds the relay is behind the log, measured by its own checkpoint. */
export const createRelayLag = (
  { log, guards }: { log: EventLog; guards: Pick<Engines['guards'], 'relay'> },
  clock: Clock,
): (() => Promise<number>) => {
  const lag = createLag(log, clock);
  return async () => lag([invoicePrefix.live, invoicePrefix.test], await guards.relay.read(await log.identity()));
};

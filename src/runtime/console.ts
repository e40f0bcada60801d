import { getRequestListener } from '@hono/node-server';
import type { Watch } from '../adapters/read-model-postgres/watch.js';
import { deriveSecret } from '../adapters/vault/master-key.js';
import { createCertificateOpener } from '../app/certificates/open-certificate.js';
import { createLag } from '../app/read/lag.js';
import { settleInvoice } from '../app/settlement/settle-invoice.js';
import type { SettleCommand, SettleResult } from '../app/settlement/settlement.js';
import { osUser } from '../cli/run.js';
import { createConsole } from '../console/app.js';
import type { ConsoleDeps } from '../console/deps.js';
import type { ProjectionStatus } from '../workers/projection-status.js';
import { modesWithoutAuthorizer, openAuthorizer } from './authorizers.js';
import { companyOf } from './issuing.js';
import { faultFields } from './logger.js';
import { createNoticeTeller } from './notices.js';
import { programVersion } from './program-version.js';
import { projectionOperations } from './projection-operations.js';
import type { Readiness, ServiceState } from './readiness.js';
import { createRebuilds } from './rebuilds.js';
import { roleHealth } from './role-health.js';
import { createRunner } from './runner.js';
import type { Parts } from './service.js';
import { sessionOver } from './session.js';
import { runningSimulator } from './session-authorizer.js';
import { openSeconds, stateOf } from './work-checks.js';

/** What the health pages have asked for already. */
export type ConsoleSources = {
  state: ServiceState;
  watch: Watch;
  readiness(): Promise<Readiness>;
  statuses(): Promise<readonly ProjectionStatus[]>;
};

/** The support console as a listener for the operations port. */
export const openConsole = (parts: Parts, sources: ConsoleSources) => {
  const app = createConsole(consoleDeps(parts, sources));
  return getRequestListener(app.fetch);
};

const consoleDeps = (parts: Parts, sources: ConsoleSources): ConsoleDeps => {
  const { config, clock, engines, logger, runner, roles } = parts;
  const session = sessionOver(engines, config, clock, { logger, runner });
  const onFault = (error: unknown): void => logger.error({ msg: 'the console failed', ...faultFields(error) });
  const rebuilds = createRebuilds(projectionOperations(engines, clock, undefined, runner.stopping), onFault);
  runner.onStop('rebuilds', () => rebuilds.settled());
  const lag = createLag(engines.log, clock);
  const relayed = async () => engines.guards.relay.read(await engines.log.identity());
  return {
    ...{ clock, rebuilds, onFault, store: engines.store, log: engines.log, sealingKeys: engines.sealingKeys },
    ...{ readModel: engines.readModel, supportReads: session.supportReads, lookups: engines.guards.lookups },
    ...{ queue: session.queue, simulatedModes: session.simulatedModes, version: programVersion() },
    testRetentionSeconds: config.limits.testRetentionSeconds,
    access: {
      token: config.operatorToken,
      secret: () => deriveSecret(engines.keyring.sealing().key, 'console'),
      hosts: config.consoleHosts,
      defaultOperator: osUser(),
    },
    settle: (command, operator) => settle(command, operator, parts),
    projections: sources.statuses,
    health: async () => {
      const [{ checks }, open, seen] = await Promise.all([
        sources.readiness(),
        sources.watch.openWork(),
        roleHealth({
          ...{ roles, clock, limits: config.limits, lag, relayed: config.natsUrl === undefined ? undefined : relayed },
          ...{ readiness: sources.readiness, projections: sources.statuses, openWork: sources.watch.openWork },
          halted: () => [...sources.state.halted],
          switchedOff: () => engines.readModel.apiSwitchedOff(),
        }),
      ]);
      return {
        roles: seen,
        checks: Object.entries(checks).map(([name, { ok, reason = '' }]) => ({ name, ok, detail: reason })),
        waiting: open.map((row) => ({
          ...{ what: stateOf(row), mode: row.mode, count: row.count, oldestSeconds: openSeconds(row, clock.now()) },
        })),
      };
    },
  };
};

/**
 * The authorizer is opened in the operator's name and closed again: each opening of a certificate is an event of whoever asked.
 * A simulator is only asked where one runs; one of our own would keep it from another process for as long as this one lives.
 */
const settle = async (command: SettleCommand, operator: string, parts: Parts): Promise<SettleResult> => {
  const { config, clock, engines, logger } = parts;
  const { store, vault, guards } = engines;
  const actor = `support:${operator}` as const;
  const own = createRunner((_name, error) => logger.debug({ msg: 'closing failed', ...faultFields(error) }));
  try {
    const simulated = modesWithoutAuthorizer(config).length > 0;
    const simulator = parts.simulator ?? (simulated ? await runningSimulator(config, clock) : undefined);
    const certificateOf = createCertificateOpener({ vault, store, clock, company: companyOf(engines, clock), actor });
    const opened = await openAuthorizer({ config, clock, runner: own, simulator, certificateOf });
    const authorizer = parts.metrics.measureAuthorizer(opened);
    const alarm = createNoticeTeller({ pool: engines.pool, clock, logger, metrics: parts.metrics });
    const deps = { store, clock, actor, limits: config.limits, lookups: guards.lookups, authorizer, alarm };
    return await settleInvoice(command, deps);
  } finally {
    await own.stop();
  }
};

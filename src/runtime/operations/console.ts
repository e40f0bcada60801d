import { getRequestListener } from '@hono/node-server';
import type { MonitoringReads, OpenWork } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { deriveSecret } from '../../adapters/vault/master-key.js';
import type { SettleCommand, SettleResult } from '../../app/operator/settlement/settle-invoice.js';
import { settleInvoice } from '../../app/operator/settlement/settle-invoice.js';
import { createLag, type LagReader } from '../../app/read/lag.js';
import { osUser } from '../../cli/run.js';
import type { ProjectionOperations } from '../../cli/session.js';
import { createConsole } from '../../console/app.js';
import type { ConsoleDeps, RebuildRun, Rebuilds, RoleHealth } from '../../console/deps.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { invoicePrefix } from '../../domain/shared/ids.js';
import { counted } from '../../lib/counted.js';
import type { Clock } from '../../ports/clock.js';
import type { LogPosition } from '../../ports/event-log.js';
import type { ProjectionStatus } from '../../ports/projection-status.js';
import { modesWithoutAuthorizer, type Role } from '../config/config.js';
import { faultFields } from '../config/logger.js';
import { programVersion } from '../config/program-version.js';
import { openAuthorizer } from '../engines/authorizers.js';
import { certificatesOf } from '../engines/companies.js';
import { createNoticeTeller } from '../engines/notices.js';
import { createRunner } from '../engines/runner.js';
import { runningSimulator } from '../engines/simulator.js';
import { projectionOperations } from '../operator/projections.js';
import { sessionOver } from '../operator/session.js';
import { isStuck, openSeconds, stateOf } from '../operator/work-checks.js';
import type { Parts } from '../roles/parts.js';
import type { Readiness, ServiceState } from './readiness.js';

/** Sources that the health pages share with the console. */
type ConsoleSources = {
  state: ServiceState;
  watch: MonitoringReads;
  readiness(): Promise<Readiness>;
  statuses(): Promise<readonly ProjectionStatus[]>;
};

/** Returns the support console as a request listener for the operations port. */
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
    clock,
    rebuilds,
    onFault,
    store: engines.store,
    log: engines.log,
    sealingKeys: engines.sealingKeys,
    readModel: engines.readModel,
    supportReads: session.supportReads,
    lookups: engines.guards.lookups,
    queue: session.queue,
    simulatedModes: session.simulatedModes,
    version: programVersion(),
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
          roles,
          clock,
          limits: config.limits,
          lag,
          relayed: config.natsUrl === undefined ? undefined : relayed,
          readiness: sources.readiness,
          projections: sources.statuses,
          openWork: sources.watch.openWork,
          halted: () => [...sources.state.halted],
          switchedOff: () => engines.readModel.apiSwitchedOff(),
        }),
      ]);
      return {
        roles: seen,
        checks: Object.entries(checks).map(([name, { ok, reason = '' }]) => ({ name, ok, detail: reason })),
        waiting: open.map((row) => ({
          what: stateOf(row),
          mode: row.mode,
          count: row.count,
          oldestSeconds: openSeconds(row, clock.now()),
        })),
      };
    },
  };
};

/**
 * Opens the authorizer in the operator's name and closes it again, because each opening of a certificate records its actor. Asks a simulator only
 * where one runs: starting one here would lock it away from other processes while this process lives.
 */
const settle = async (command: SettleCommand, operator: string, parts: Parts): Promise<SettleResult> => {
  const { config, clock, engines, logger } = parts;
  const { store, guards } = engines;
  const actor = `support:${operator}` as const;
  const own = createRunner((_name, error) => logger.debug({ msg: 'closing failed', ...faultFields(error) }));
  try {
    const simulated = modesWithoutAuthorizer(config).length > 0;
    const simulator = parts.simulator ?? (simulated ? await runningSimulator(config, clock) : undefined);
    const certificateOf = certificatesOf(parts, actor);
    const opened = await openAuthorizer({ config, clock, runner: own, simulator, certificateOf });
    const authorizer = parts.metrics.measureAuthorizer(opened);
    const alarm = createNoticeTeller({ pool: engines.pool, clock, logger, metrics: parts.metrics });
    const deps = { store, clock, actor, limits: config.limits, lookups: guards.lookups, authorizer, alarm };
    return await settleInvoice(command, deps);
  } finally {
    await own.stop();
  }
};

/** Rebuilds that the console starts. They run in this process, and the last result of each projection is kept in memory. */
const createRebuilds = (
  { rebuild }: Pick<ProjectionOperations, 'rebuild'>,
  onFault: (error: unknown) => void,
): Rebuilds & { settled(): Promise<void> } => {
  const runs = new Map<string, RebuildRun>();
  const running = new Map<string, Promise<void>>();
  const run = async (name: string): Promise<void> => {
    try {
      const result = await rebuild(name, ({ events }) =>
        runs.set(name, { state: 'running', detail: `${events} events folded` }),
      );
      if ('refused' in result) runs.set(name, { state: 'refused', detail: result.refused });
      else
        runs.set(name, { state: 'done', detail: `generation ${result.done.generation}, ${result.done.events} events` });
    } catch (error) {
      onFault(error);
      runs.set(name, { state: 'refused', detail: 'an engine failed: begin it again, it continues where it stopped' });
    }
    running.delete(name);
  };
  return {
    begin: (name) => {
      if (running.has(name)) return false;
      runs.set(name, { state: 'running', detail: 'begun' });
      running.set(name, run(name));
      return true;
    },
    of: (name) => runs.get(name),
    settled: async () => {
      await Promise.all(running.values());
    },
  };
};

/** Equal to the lag limit of readiness. */
const LATE_SECONDS = 30;

export type RoleSources = {
  roles: readonly Role[];
  clock: Clock;
  limits: Limits;
  readiness(): Promise<Readiness>;
  switchedOff(): Promise<boolean>;
  projections(): Promise<readonly ProjectionStatus[]>;
  halted(): readonly string[];
  openWork(): Promise<readonly OpenWork[]>;
  lag: LagReader;
  /** Position of the relay; undefined for the in-process queue, which hands work over at once. */
  relayed: (() => Promise<LogPosition | null>) | undefined;
};

/**
 * Health of every role as this process sees it: its own roles from the inside, other roles by the work they leave undone. A role that runs nowhere
 * therefore shows as waiting work, not as a missing heartbeat.
 */
export const roleHealth = async (sources: RoleSources): Promise<readonly RoleHealth[]> => {
  const [api, projector, relay, workers] = await Promise.all([
    apiHealth(sources),
    projectorHealth(sources),
    relayHealth(sources),
    workerHealth(sources),
  ]);
  return [api, projector, relay, ...workers].map((one) => ({ ...one, here: sources.roles.includes(one.role) }));
};

type Seen = Omit<RoleHealth, 'here'> & { role: Role };

const apiHealth = async ({ roles, readiness, switchedOff }: RoleSources): Promise<Seen> => {
  // The switch is known in every process with the console, and readiness does not show it.
  if (await switchedOff()) return { role: 'api', health: 'bad', detail: 'switched off by an operator: nfse api on' };
  if (!roles.includes('api'))
    return { role: 'api', health: 'elsewhere', detail: 'ask /health/ready of a process with this role' };
  const { ready, reasons } = await readiness();
  return { role: 'api', health: ready ? 'ok' : 'bad', detail: ready ? 'takes requests' : reasons.join('; ') };
};

const projectorHealth = async ({ projections, halted }: RoleSources): Promise<Seen> => {
  const all = [...(await projections())].sort((a, b) => b.lagSeconds - a.lagSeconds);
  const furthest = all[0];
  const stopped = halted();
  if (stopped.length > 0) return { role: 'projector', health: 'bad', detail: `halted at ${stopped.join(', ')}` };
  const seconds = Math.round(furthest?.lagSeconds ?? 0);
  const detail = seconds === 0 ? '0 s behind the log' : `${furthest?.name} is ${seconds} s behind the log`;
  return { role: 'projector', health: seconds < LATE_SECONDS ? 'ok' : 'bad', detail };
};

const relayHealth = async ({ relayed, lag }: RoleSources): Promise<Seen> => {
  if (relayed === undefined) return { role: 'relay', health: 'ok', detail: 'the queue is inside the issuer’s process' };
  const seconds = Math.round(await lag([invoicePrefix.live, invoicePrefix.test], await relayed()));
  return { role: 'relay', health: seconds < LATE_SECONDS ? 'ok' : 'bad', detail: `${seconds} s behind the log` };
};

const workerHealth = async ({ openWork, clock, limits }: RoleSources): Promise<readonly Seen[]> => {
  const now = clock.now();
  const rows = await openWork();
  const neverTried = rows.filter(({ started, work }) => !started && work === 'issue');
  const wait = Math.max(0, ...neverTried.map((row) => openSeconds(row, now)));
  const open = rows.reduce((sum, { count }) => sum + count, 0);
  const overdue = rows.filter((row) => isStuck(row, now, limits));
  return [
    {
      role: 'issuer',
      health: wait < LATE_SECONDS ? 'ok' : 'bad',
      detail: `${counted(open, 'invoice')} open, the oldest without an attempt waits ${wait} s`,
    },
    {
      role: 'sweeper',
      health: overdue.length === 0 ? 'ok' : 'bad',
      detail: overdue.length === 0 ? 'no verdict is overdue' : 'verdicts are overdue: no sweeper is running',
    },
  ];
};

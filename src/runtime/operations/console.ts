import { getRequestListener } from '@hono/node-server';
import type { MonitoringReads, OpenWork } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { deriveSecret } from '../../adapters/vault/master-key.js';
import type { SettleCommand, SettleResult } from '../../app/operator/settlement/settle-invoice.js';
import { settleInvoice } from '../../app/operator/settlement/settle-invoice.js';
import type { StoppedSeries } from '../../app/operator/support/stopped-series.js';
import { createLag, LATE_SECONDS } from '../../app/read/lag.js';
import { osUser } from '../../cli/run.js';
import type { ProjectionOperations, RebuildResult } from '../../cli/session.js';
import { createConsole } from '../../console/app.js';
import type { ConsoleDeps, RebuildRun, Rebuilds, RoleHealth } from '../../console/deps.js';
import { invoicePrefix } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { counted } from '../../lib/counted.js';
import { shortCache } from '../../lib/short-cache.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog } from '../../ports/event-log.js';
import type { ProjectionStatus } from '../../ports/projection-status.js';
import { modesWithoutAuthorizer, type Role } from '../config/config.js';
import { faultFields } from '../config/logger.js';
import { programVersion } from '../config/program-version.js';
import { openAuthorizer } from '../engines/authorizers.js';
import { certificatesOf } from '../engines/companies.js';
import type { Engines } from '../engines/engines.js';
import { isSimulatorsNote } from '../engines/note-signer.js';
import { createNoticeTeller } from '../engines/notices.js';
import { createRunner } from '../engines/runner.js';
import { runningSimulator } from '../engines/simulator.js';
import { projectionOperations } from '../operator/projections.js';
import { sessionOver } from '../operator/session.js';
import { isStuck, openSeconds, stateOf } from '../operator/work-checks.js';
import { downloadTokensOf } from '../roles/api.js';
import { isEngineFault } from '../roles/engine-faults.js';
import type { Parts } from '../roles/parts.js';
import type { Readiness, ServiceState } from './readiness.js';

/** Sources that the health pages share with the console. */
type ConsoleSources = {
  state: ServiceState;
  watch: MonitoringReads;
  readiness(): Promise<Readiness>;
  statuses(): Promise<readonly ProjectionStatus[]>;
  stoppedSeries(): Promise<readonly StoppedSeries[]>;
};

/** Returns the support console as a request listener for the operations port. */
export const openConsole = (parts: Parts, sources: ConsoleSources) => {
  const app = createConsole(consoleDeps(parts, sources));
  return getRequestListener(app.fetch);
};

/** Milliseconds for which the names of companies on pages may be old. */
const NAMES_KEPT_MS = 10_000;

/** The reads of all series are as many as companies and modes. */
const SERIES_KEPT_MS = 60_000;

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
  const stopped = shortCache(SERIES_KEPT_MS, clock, () => sources.stoppedSeries());
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
    companyNames: () => names(''),
    stoppedSeries: () => unlessLost(stopped('')),
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
  { rebuild }: Pick<ProjectionOperations, 'rebuild'>,
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

/** What a process knows of the work of all roles. */
export type RoleSources = {
  roles: readonly Role[];
  now: Instant;
  limits: Limits;
  readiness: Pick<Readiness, 'ready' | 'reasons'>;
  switchedOff: boolean;
  projections: readonly Pick<ProjectionStatus, 'name' | 'lagSeconds'>[] | 'unknown';
  halted: readonly string[];
  openWork: readonly OpenWork[];
  /** Seconds by which the relay is behind the log; undefined for the in-process queue, which hands work over at once. */
  relayLag: number | 'unknown' | undefined;
};

/**
 * Health of every role as this process sees it: its own roles from the inside, other roles by the work they leave undone. A role that runs nowhere
 * therefore shows as waiting work, not as a missing heartbeat.
 */
export const roleHealth = (sources: RoleSources): readonly RoleHealth[] =>
  [
    apiHealth(sources),
    projectorHealth(sources),
    relayHealth(sources),
    issuerHealth(sources),
    sweeperHealth(sources),
  ].map((one) => ({ ...one, here: sources.roles.includes(one.role) }));

type Seen = Omit<RoleHealth, 'here'> & { role: Role };

const apiHealth = ({ roles, readiness, switchedOff }: RoleSources): Seen => {
  // The switch is known in every process with the console, and readiness does not show it.
  if (switchedOff)
    return {
      role: 'api',
      health: 'bad',
      detail: ['desligada por um operador: nfse api on', 'switched off by an operator: nfse api on'],
    };
  if (!roles.includes('api'))
    return {
      role: 'api',
      health: 'elsewhere',
      detail: [
        'pergunte a /health/ready de um processo com este papel',
        'ask /health/ready of a process with this role',
      ],
    };
  const { ready, reasons } = readiness;
  const why = reasons.join('; ');
  return {
    role: 'api',
    health: ready ? 'ok' : 'bad',
    detail: ready ? ['recebe pedidos', 'takes requests'] : [why, why],
  };
};

const inTime = (seconds: number): 'ok' | 'bad' => (seconds < LATE_SECONDS ? 'ok' : 'bad');

const behindTheLog = (seconds: number, name = ''): Seen['detail'] =>
  name === ''
    ? [`${seconds} s atrás do log`, `${seconds} s behind the log`]
    : [`${name} está ${seconds} s atrás do log`, `${name} is ${seconds} s behind the log`];

const LAG_UNKNOWN: Seen['detail'] = [
  'não se sabe o atraso, porque o log não responde',
  'its lag is not known, because the log does not answer',
];

const projectorHealth = ({ projections, halted }: RoleSources): Seen => {
  const names = halted.join(', ');
  if (halted.length > 0)
    return { role: 'projector', health: 'bad', detail: [`parou em ${names}`, `halted at ${names}`] };
  if (projections === 'unknown') return { role: 'projector', health: 'bad', detail: LAG_UNKNOWN };
  const [furthest] = projections.toSorted((a, b) => b.lagSeconds - a.lagSeconds);
  const seconds = Math.round(furthest?.lagSeconds ?? 0);
  const detail = behindTheLog(seconds, seconds === 0 ? '' : furthest?.name);
  return { role: 'projector', health: inTime(seconds), detail };
};

const relayHealth = ({ relayLag }: RoleSources): Seen => {
  if (relayLag === undefined)
    return {
      role: 'relay',
      health: 'ok',
      detail: ['a fila está dentro do processo do issuer', 'the queue is inside the issuer’s process'],
    };
  if (relayLag === 'unknown') return { role: 'relay', health: 'bad', detail: LAG_UNKNOWN };
  const seconds = Math.round(relayLag);
  return { role: 'relay', health: inTime(seconds), detail: behindTheLog(seconds) };
};

const issuerHealth = ({ openWork, now }: RoleSources): Seen => {
  const neverTried = openWork.filter(({ started, work }) => !started && work === 'issue');
  const wait = Math.max(0, ...neverTried.map((row) => openSeconds(row, now)));
  const open = openWork.reduce((sum, { count }) => sum + count, 0);
  return {
    role: 'issuer',
    health: inTime(wait),
    detail: [
      `${counted(open, 'nota aberta', 'notas abertas')}, a mais antiga sem tentativa espera ${wait} s`,
      `${counted(open, 'invoice')} open, the oldest without an attempt waits ${wait} s`,
    ],
  };
};

const sweeperHealth = ({ openWork, now, limits }: RoleSources): Seen =>
  openWork.some((row) => isStuck(row, now, limits))
    ? {
        role: 'sweeper',
        health: 'bad',
        detail: ['há vereditos atrasados: nenhum sweeper roda', 'verdicts are overdue: no sweeper is running'],
      }
    : {
        role: 'sweeper',
        health: 'ok',
        detail: ['nenhum veredito atrasado', 'no verdict is overdue'],
      };

import { allProjections, operatorProjections } from '../../../projections/registry.js';
import { importedKeys } from '../../adapters/guards-postgres/idempotency-keys.js';
import { createParametersCache } from '../../adapters/municipal-parameters/cache.js';
import { createKeyUses } from '../../adapters/read-model-postgres/key-uses.js';
import { createMonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { createParkedItems } from '../../adapters/read-model-postgres/parked-items.js';
import { createStoredNotices } from '../../adapters/read-model-postgres/stored-notices.js';
import { createSupportReads } from '../../adapters/read-model-postgres/support-reads.js';
import { createDistributionProgressStore } from '../../adapters/reconciliation/distribution-progress.js';
import { createExportSigner } from '../../adapters/vault/export-signer.js';
import { masterKeyStatus, rotateMasterKey } from '../../adapters/vault/rotation.js';
import { holdersOfKeys } from '../../app/operator/import/notes-on-record.js';
import type { SettleDeps } from '../../app/operator/settlement/settle-invoice.js';
import { invoiceRowsUpTo } from '../../cli/rows-behind.js';
import {
  type DriftProgress,
  type DriftReport,
  type Session,
  type SessionNeeds,
  unlessBehind,
} from '../../cli/session.js';
import { DAY_SECONDS } from '../../domain/common/time.js';
import { replayedBody } from '../../http/invoice-body.js';
import { localOrigin } from '../../http/local-origin.js';
import { pause } from '../../lib/pause.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import { applyStreamNow } from '../../projector/apply-now.js';
import { compareWithLog } from '../../projector/drift.js';
import { type Config, simulatedModes } from '../config/config.js';
import { createLogger, type Logger } from '../config/logger.js';
import { rolesHeld } from '../engines/database.js';
import { type Engines, openEngines } from '../engines/engines.js';
import { createNoticeTeller } from '../engines/notices.js';
import { createRunner, type Runner } from '../engines/runner.js';
import { type OpenedQueue, openWorkQueue } from '../engines/work-queue.js';
import { anchorChecks } from './anchor-check.js';
import type { SessionParts } from './authorizer.js';
import { backUp } from './backup.js';
import {
  catalogueCheck,
  certificateRefusalChecks,
  distributionCheck,
  engineChecks,
  exportKeyCheck,
  guardsChecks,
  masterKeyCheck,
  noticeChecks,
  parametersCheck,
  projectionsBehind,
  recentNotices,
  rightsCheck,
  rolesCheck,
  transportCheck,
  unusedDatabaseChecks,
} from './checks.js';
import { durabilityChecks, withBlockers } from './database-checks.js';
import { layoutChecks } from './layout-checks.js';
import { projectionOperations } from './projections.js';
import { rowFollowsTeller } from './row-follows.js';
import { workChecks } from './work-checks.js';

/** Opens the engines for operator commands: in embedded mode those of the running service, otherwise started for the command. */
export const openSession = async (
  config: Config,
  clock: Clock,
  logger: Logger,
  runner: Runner,
  needs?: SessionNeeds,
): Promise<Session> =>
  sessionOver(await openEngines({ config, clock, logger, runner, startedFor: 'command', ...needs }), config, clock, {
    logger,
    runner,
  });

/** The session over opened engines. The runner of `rest` closes what commands open besides; without it that lives as long as the process. */
export const sessionOver = (
  engines: Engines,
  config: Config,
  clock: Clock,
  rest: Pick<SessionParts, 'logger' | 'runner'> = {
    logger: createLogger('silent', 'stderr'),
    runner: createRunner(() => undefined),
  },
): Session => {
  const parts: SessionParts = { engines, config, clock, ...rest };
  const { log, store, sealingKeys, readModel, vault, pool, keyring } = engines;
  const parameters = createParametersCache(pool);
  const rotation = { db: pool, keyring, clock };
  const exportSigner = createExportSigner(pool, keyring, clock);
  const queue = sessionQueue(parts);
  return {
    clock,
    log,
    store,
    sealingKeys,
    // Loaded on use, like all that few commands need: packages that read XML and certificates take half of a command's start.
    documentChecks: async () => {
      const [{ verifyIndependently }, { embeddedDigest }, { textsOf }] = await Promise.all([
        import('../../xml/verify-independently.js'),
        import('../../xml/received.js'),
        import('../../xml/document.js'),
      ]);
      return { oracle: verifyIndependently, embeddedDigest, textsOf };
    },
    readModel,
    supportReads: createSupportReads(pool),
    vault,
    importedKeys: importedKeys(pool, config),
    parameters,
    companyDeps: (actor) => ({
      store,
      clock,
      applyNow: async (stream) => applyStreamNow(pool, operatorProjections, await log.read(stream)),
      rowFollows: rowFollowsTeller(),
      actor: `support:${actor}`,
    }),
    settleDeps: async (actor) => {
      const { openSessionAuthorizer } = await import('./authorizer.js');
      return settleDepsOf(parts, await openSessionAuthorizer(parts, `support:${actor}`), `support:${actor}`);
    },
    recoverLog: async (actor, options) => {
      const { recoverLog } = await import('./log-recovery.js');
      return await recoverLog(parts, `support:${actor}`, options);
    },
    backup: (request) => backUp(parts, request),
    markRestored: async () => {
      const { beginPause } = await import('./log-recovery.js');
      await beginPause(parts);
    },
    keySeconds: Math.min(DAY_SECONDS, config.idempotencySeconds),
    lookups: engines.guards.lookups,
    limits: config.limits,
    refusedCertificates: () => createMonitoringReads(pool).refusedCertificates(),
    testRetentionSeconds: config.limits.testRetentionSeconds,
    issueDemoCertificate: async (cnpj, name, actor) => {
      const { issueDemoCertificate } = await import('./demo-certificate.js');
      return await issueDemoCertificate(parts, { cnpj, name, actor: `support:${actor}` });
    },
    simulatedModes: simulatedModes(config),
    bodyOf: (invoice, at) => replayedBody(invoice, at, publicOrigin(config)),
    exportSigner,
    drift: (onProgress) => driftOf(engines, onProgress),
    projections: projectionOperations(engines, clock),
    queue,
    keyUses: (keyIds) => createKeyUses(pool).of(keyIds),
    masterKey: {
      status: () => masterKeyStatus(rotation),
      rotate: (actor, onProgress) => rotateMasterKey(rotation, `support:${actor}`, onProgress),
    },
    recentNotices: async () => (await recentNotices(createStoredNotices(pool), clock)).length,
    projectionsBehind: () => projectionsBehind(engines, clock),
    checks: (actor, behind) =>
      withBlockers(pool, async () => {
        const held = await rolesHeld(pool);
        return [
          ...(await engineChecks(engines, config, clock)),
          ...(await durabilityChecks(pool)),
          ...(await unlessBehind(behind, 'catalogue', ['companies', 'catalog_lines'], async () => [
            await catalogueCheck(readModel),
          ])),
          rolesCheck(held, config),
          ...unusedDatabaseChecks(config),
          await rightsCheck(pool),
          transportCheck(config),
          ...(await workChecks({ engines, config, clock, queue }, behind)),
          ...(await unlessBehind(behind, 'clock', ['companies'], async () => {
            const { clockChecks } = await import('./clock-checks.js');
            return await clockChecks(parts, `support:${actor}`);
          })),
          ...(await unlessBehind(behind, 'layout', ['invoices'], () => layoutChecks(engines, clock))),
          ...(await guardsChecks(engines, config)),
          masterKeyCheck(await masterKeyStatus(rotation)),
          await exportKeyCheck(exportSigner),
          ...(await anchorChecks({
            folder: config.anchorDir,
            store,
            log,
            clock,
            isSwept: held.older || held.roles.has('sweeper'),
          })),
          await parametersCheck(parameters, clock),
          await distributionCheck(createDistributionProgressStore(pool), config.distribution, clock),
          ...(await noticeChecks(createStoredNotices(pool), clock)),
          ...(await certificateRefusalChecks(createMonitoringReads(pool))),
        ];
      }),
  };
};

/** What settling an invoice needs. Its notices are counted where the process has metrics. */
export const settleDepsOf = (
  parts: Pick<SessionParts, 'engines' | 'config' | 'clock' | 'logger'> &
    Pick<Parameters<typeof createNoticeTeller>[0], 'metrics'>,
  authorizer: Authorizer,
  actor: `support:${string}`,
): SettleDeps => {
  const { engines, config, clock } = parts;
  return {
    store: engines.store,
    clock,
    limits: config.limits,
    lookups: engines.guards.lookups,
    actor,
    authorizer,
    holdersOf: async (accessKey) => {
      const { log, store, readModel } = engines;
      const projections = projectionOperations(engines, clock);
      const deps = { log, store, readModel, invoiceRowsUpTo: () => invoiceRowsUpTo({ projections }) };
      return (await holdersOfKeys([accessKey], deps)).map(({ stream }) => stream);
    },
    notify: createNoticeTeller({ ...parts, pool: engines.pool }),
  };
};

/** Milliseconds between two tries while another audit compares a projection. */
const BUSY_MS = 500;

const driftOf = async (
  { pool: db, log }: Pick<Engines, 'pool' | 'log'>,
  onProgress: (progress: DriftProgress) => void,
): Promise<DriftReport> => {
  let rows = 0;
  const drifts: DriftReport['drifts'][number][] = [];
  const notCompared: string[] = [];
  for (const projection of allProjections) {
    const { name } = projection;
    const onEvents = (events: number): void => onProgress({ projection: name, events });
    const compare = () => compareWithLog(projection, { db, log, onProgress: onEvents });
    let outcome = await compare();
    while (outcome.kind === 'busy') {
      onProgress({ projection: name, events: 0, isWaiting: true });
      await pause(BUSY_MS);
      outcome = await compare();
    }
    if (outcome.kind === 'not_comparable') notCompared.push(`${name}: ${outcome.reason}`);
    else {
      rows += outcome.rows;
      drifts.push(...outcome.drifts);
    }
  }
  return { rows, drifts, notCompared };
};

/** The origin of links: `BASE_URL`, otherwise the address of the API. */
const publicOrigin = ({ api }: Pick<Config, 'api'>): string => api.baseUrl ?? localOrigin(api.host, api.port);

/** The queue for commands: NATS itself, connected when needed, or the parked work items that the service has written to the database. */
const sessionQueue = ({ engines: { pool }, config, clock, logger, runner }: SessionParts): Session['queue'] => {
  if (config.natsUrl === undefined) {
    const parkedItems = createParkedItems(pool);
    return {
      parked: async () => {
        const work = await parkedItems.list();
        return { work, count: work.length };
      },
      isParked: async (stream) => (await parkedItems.list()).some((item) => item.stream === stream),
      retryParked: parkedItems.askRetry,
      depth: async () => undefined,
    };
  }
  let opened: Promise<OpenedQueue> | undefined;
  const queue = (): Promise<OpenedQueue> => {
    opened ??= openWorkQueue(config, ['issuer'], { clock, logger, runner });
    return opened;
  };
  return {
    parked: async () => (await queue()).parked(),
    isParked: async (stream) => (await queue()).isParked(stream),
    retryParked: async (stream) => (await queue()).retryParked(stream),
    depth: async () => (await queue()).depth(),
    missingRight: async () => (await queue()).missingRight(),
  };
};

import { operatorProjections } from '../../projections/registry.js';
import { notePause } from '../adapters/guards-postgres/set-back.js';
import { createParametersCache } from '../adapters/municipal-parameters/cache.js';
import { createDocumentAlarms } from '../adapters/read-model-postgres/document-alarms.js';
import { createKeyUses } from '../adapters/read-model-postgres/key-uses.js';
import { createSupportReads } from '../adapters/read-model-postgres/support-reads.js';
import { createExportSigner } from '../adapters/vault/export-signer.js';
import { masterKeyStatus, rotateMasterKey } from '../adapters/vault/rotation.js';
import { readPkcs12 } from '../certificates/read-pkcs12.js';
import type { Session, SessionNeeds } from '../cli/session.js';
import type { Clock } from '../ports/clock.js';
import { issueClientCertificate } from '../simulator/start.js';
import { applyStreamNow } from '../workers/projection-now.js';
import { embeddedDigest } from '../xml/received.js';
import { secondOpinion } from '../xml/second-opinion.js';
import { driftOf, publicOrigin } from './audit-operations.js';
import { simulatedModes, simulatorFolder } from './authorizers.js';
import { backUp } from './backup.js';
import { clockChecks } from './clock-checks.js';
import type { Config } from './config.js';
import { demoCertificate } from './demo-certificate.js';
import { documentAlarmsCheck } from './document-checks.js';
import { engineChecks, guardsChecks } from './engine-checks.js';
import { transportCheck } from './engine-transport.js';
import { type Engines, openEngines } from './engines.js';
import { exportKeyCheck, masterKeyCheck } from './key-checks.js';
import { createLogger, type Logger } from './logger.js';
import { createNoticeTeller } from './notices.js';
import { parametersCheck } from './parameter-checks.js';
import { projectionOperations } from './projection-operations.js';
import { reconcileNow } from './reconciliation.js';
import { rightsCheck } from './rights-check.js';
import { createRunner, type Runner } from './runner.js';
import { openSessionAuthorizer } from './session-authorizer.js';
import { sessionQueue } from './session-queue.js';
import { workChecks } from './work-checks.js';

/** The engines as the operator commands see them; in embedded mode the running service's, else started for the command. */
export const openSession = async (
  config: Config,
  clock: Clock,
  logger: Logger,
  runner: Runner,
  needs?: SessionNeeds,
): Promise<Session> =>
  sessionOver(await openEngines({ config, clock, logger, runner, patience: 'command', ...needs }), config, clock, {
    ...{ logger, runner },
  });

/** What a command opens besides the engines is closed by the runner of `rest`; without one it lives as long as the process. */
export const sessionOver = (
  engines: Engines,
  config: Config,
  clock: Clock,
  rest: { logger: Logger; runner: Runner } = {
    logger: createLogger('silent', 'stderr'),
    runner: createRunner(noFault),
  },
): Session => {
  const { log, store, sealingKeys, readModel, vault, pool, keyring } = engines;
  const parameters = createParametersCache(pool);
  const rotation = { db: pool, keyring, clock };
  const exportSigner = createExportSigner(pool, keyring, clock);
  const queue = sessionQueue(engines, config, clock, rest);
  return {
    clock,
    log,
    store,
    sealingKeys,
    ...{ secondOpinion, embeddedDigest },
    readModel,
    supportReads: createSupportReads(pool),
    vault,
    parameters,
    companyDeps: (actor) => ({
      store,
      clock,
      applyNow: async (stream) => applyStreamNow(pool, operatorProjections, await log.read(stream)),
      actor: `support:${actor}`,
    }),
    settleDeps: async (actor) => ({
      ...{ store, clock, limits: config.limits, lookups: engines.guards.lookups, actor: `support:${actor}` },
      authorizer: await openSessionAuthorizer({ engines, config, clock, ...rest }, `support:${actor}`),
      alarm: createNoticeTeller({ pool, clock, logger: rest.logger }),
    }),
    reconcile: (actor, options) => reconcileNow({ engines, config, clock, ...rest }, `support:${actor}`, options),
    backup: (request) => backUp({ engines, config, clock }, request),
    markRestored: async () => notePause(pool, await log.identity(), await log.head(), clock.now()),
    testRetentionSeconds: config.limits.testRetentionSeconds,
    readPkcs12,
    issueDemoCertificate: (cnpj, name) =>
      demoCertificate(() => issueClientCertificate(simulatorFolder(config), { cnpj, name, clock })),
    simulatedModes: simulatedModes(config),
    baseUrl: publicOrigin(config),
    exportSigner,
    drift: (onProgress) => driftOf(engines, onProgress),
    projections: projectionOperations(engines, clock),
    queue,
    keyUses: (keyIds) => createKeyUses(pool).of(keyIds),
    masterKey: {
      status: () => masterKeyStatus(rotation),
      rotate: (actor, onProgress) => rotateMasterKey(rotation, `support:${actor}`, onProgress),
    },
    checks: async (actor) => [
      ...(await engineChecks(engines, clock)),
      await rightsCheck(pool),
      transportCheck(config),
      ...(await workChecks({ engines, config, clock, queue })),
      ...(await clockChecks({ engines, config, clock, ...rest }, `support:${actor}`)),
      ...(await guardsChecks(engines, config)),
      masterKeyCheck(await masterKeyStatus(rotation)),
      await exportKeyCheck(exportSigner),
      await parametersCheck(parameters, clock),
      await documentAlarmsCheck(createDocumentAlarms(pool), clock),
    ],
  };
};

const noFault = (): void => undefined;

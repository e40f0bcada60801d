import { operatorProjections, registry } from '../../projections/registry.js';
import { lookAtGuards } from '../adapters/guards-postgres/guards-record.js';
import { isPaused, notePause } from '../adapters/guards-postgres/set-back.js';
import { createParametersCache } from '../adapters/municipal-parameters/cache.js';
import { createKeyUses } from '../adapters/read-model-postgres/key-uses.js';
import { createSupportReads } from '../adapters/read-model-postgres/support-reads.js';
import { createExportSigner } from '../adapters/vault/export-signer.js';
import { withoutCopy } from '../adapters/vault/lost-key.js';
import {
  type GenerationState,
  type GenerationStatus,
  masterKeyStatus,
  rotateMasterKey,
} from '../adapters/vault/rotation.js';
import { createLag } from '../app/read/lag.js';
import { readPkcs12 } from '../certificates/read-pkcs12.js';
import type { Check, Session, SessionNeeds } from '../cli/session.js';
import { counted } from '../cli/text.js';
import type { Clock } from '../ports/clock.js';
import { isEarlier } from '../ports/event-log.js';
import type { ExportSigner } from '../ports/export-signer.js';
import { issueClientCertificate } from '../simulator/start.js';
import { shippedCatalogue } from '../tables/catalogue.js';
import { readCheckpoint } from '../workers/projection-checkpoint.js';
import { applyStreamNow } from '../workers/projection-now.js';
import { driftOf, publicOrigin } from './audit-operations.js';
import { simulatedModes, simulatorFolder } from './authorizers.js';
import { backUp } from './backup.js';
import { clockChecks } from './clock-checks.js';
import type { Config } from './config.js';
import { demoCertificate } from './demo-certificate.js';
import { type Engines, openEngines } from './engines.js';
import { createLogger, type Logger } from './logger.js';
import { parametersCheck } from './parameter-checks.js';
import { projectionOperations } from './projection-operations.js';
import { reconcileNow } from './reconciliation.js';
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
      ...(await workChecks({ engines, config, clock, queue })),
      ...(await clockChecks({ engines, config, clock, ...rest }, `support:${actor}`)),
      ...(await guardsChecks(engines, config)),
      masterKeyCheck(await masterKeyStatus(rotation)),
      await exportKeyCheck(exportSigner),
      await parametersCheck(parameters, clock),
    ],
  };
};

const noFault = (): void => undefined;

/** No fault can be in it: auditors are given this line, by another way than the exports. */
const exportKeyCheck = async (signer: ExportSigner): Promise<Check> => ({
  ...{ name: 'export key', ok: true },
  detail: `exports are signed by ${await signer.publicKey()}`,
});

/** What sealed the events of before opens them for ever, so a lost generation is a fault and an old one is none. */
const masterKeyCheck = (generations: readonly GenerationStatus[]): Check => {
  const name = 'master key';
  const named = (state: GenerationState) => generations.filter((one) => one.state === state);
  const lost = named('lost').map(({ generation }) => generation);
  if (lost.length > 0) {
    const detail = `generation ${lost.join(', ')} is not in the key file: what it sealed cannot be opened`;
    return { name, ok: false, detail, cure: `restore its line from your copy of the key file (${withoutCopy(lost)})` };
  }
  const old = named('opening').reduce((sum, { certificates, dayKeys }) => sum + certificates + dayKeys, 0);
  const sealing = named('sealing').map(({ generation }) => generation);
  const waiting = named('waiting').map(({ generation }) => generation);
  const givenUp = named('given_up').map(({ generation }) => generation);
  const detail = [
    `${sealing.join()} seals`,
    ...(waiting.length === 0 ? [] : [`${waiting.join(', ')} waits in the key file`]),
    ...(givenUp.length === 0 ? [] : [`${givenUp.join(', ')} is given up`]),
    ...(old === 0
      ? []
      : [
          `${counted(old, 'certificate or day key is', 'certificates and day keys are')} still under an older generation`,
        ]),
  ].join(', ');
  return { name, ok: old === 0, detail, ...(old + waiting.length === 0 ? {} : { cure: 'nfse master-key rotate' }) };
};

const RECONCILE = 'read docs/operations/lost-database.md, then nfse doctor --reconcile';

/** A database that keeps the log too cannot be older or newer than it; that both were put back, whoever did it has noted. */
const guardsChecks = async ({ pool, log }: Engines, { eventStoreUrl }: Config): Promise<readonly Check[]> => {
  if (eventStoreUrl === undefined) {
    const paused = await isPaused(pool, await log.identity());
    const detail = paused ? 'the log was put back and not yet compared with the authorizer: issuing is paused' : '';
    return paused ? [{ name: 'guards', ok: false, detail, cure: 'nfse doctor --reconcile' }] : [];
  }
  const look = await lookAtGuards(pool, await log.identity());
  const head = await log.head();
  const ok = !look.wasSetBack && !isEarlier(head, look.furthest);
  const detail = ok
    ? `${look.guards === null ? 'none looked at yet' : `complete up to ${look.guards}`}; what is missing is rebuilt at the start`
    : `the log was found to end before ${look.furthest ?? 'what was seen'} (it ends at ${head ?? 'nothing'} now): issuing is paused`;
  return [{ name: 'guards', ok, detail, ...(ok ? {} : { cure: RECONCILE }) }];
};

const LAG_LIMIT_SECONDS = 30;

const engineChecks = async ({ pool, log, readModel }: Engines, clock: Clock): Promise<readonly Check[]> => {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const checks: Check[] = [
    { name: 'database', ok: true, detail: `PostgreSQL ${rows[0]?.server_version ?? 'unknown'}` },
    { name: 'event log', ok: true, detail: `identity ${await log.identity()}, head ${(await log.head()) ?? 'empty'}` },
  ];
  const lagOf = createLag(log, clock);
  const head = await log.head();
  for (const projection of registry.projections) {
    const checkpoint = await readCheckpoint(pool, projection);
    if (isEarlier(head, checkpoint)) {
      const detail = 'made from events that the log does not have';
      checks.push({ name: `projection ${projection.name}`, ok: false, detail, cure: RECONCILE });
      continue;
    }
    const lag = await lagOf(projection.prefixes, checkpoint);
    const ok = lag < LAG_LIMIT_SECONDS;
    const cure = 'start a process with the role projector (nfse serve) and read its log';
    checks.push({
      name: `projection ${projection.name}`,
      ok,
      detail: `${Math.round(lag)} s behind the log`,
      ...(ok ? {} : { cure }),
    });
  }
  checks.push(await catalogueCheck(readModel));
  return checks;
};

/** Not a fault, but an operator should look at each shipped default before it is used in live mode. */
const catalogueCheck = async (readModel: Engines['readModel']): Promise<Check> => {
  const companies = await readModel.companies();
  const cnaes = new Set(
    companies.flatMap((company) =>
      company.kind === 'company' ? company.registration.activities.map(({ cnae }) => cnae) : [],
    ),
  );
  const imported = await readModel.catalogLines([...cnaes]);
  const unreviewed = [...cnaes]
    .filter((cnae) => !imported.has(cnae))
    .flatMap((cnae) => shippedCatalogue.linesOf(cnae))
    .filter(({ serviceCode }) => serviceCode !== '');
  const detail = `${counted(unreviewed.length, 'shipped line')} of registered companies' activities not reviewed by an operator`;
  const cure = 'nfse catalog export > FILE.tsv, look at the lines, then nfse catalog import FILE.tsv';
  return { name: 'catalogue', ok: true, detail, ...(unreviewed.length === 0 ? {} : { cure }) };
};

import { operatorProjections, registry } from '../../projections/registry.js';
import { lookAtGuards } from '../adapters/guards-postgres/guards-record.js';
import { createParametersCache } from '../adapters/municipal-parameters/cache.js';
import {
  type GenerationState,
  type GenerationStatus,
  masterKeyStatus,
  rotateMasterKey,
} from '../adapters/vault/rotation.js';
import { createLag } from '../app/read/lag.js';
import { readPkcs12 } from '../certificates/read-pkcs12.js';
import type { Check, Session, SessionNeeds } from '../cli/session.js';
import type { Clock } from '../ports/clock.js';
import { isEarlier } from '../ports/event-log.js';
import { issueClientCertificate } from '../simulator/start.js';
import { shippedCatalogue } from '../tables/catalogue.js';
import { readCheckpoint } from '../workers/projection-checkpoint.js';
import { applyStreamNow } from '../workers/projection-now.js';
import { simulatedModes, simulatorFolder } from './authorizers.js';
import type { Config } from './config.js';
import { demoCertificate } from './demo-certificate.js';
import { type Engines, openEngines } from './engines.js';
import type { Logger } from './logger.js';
import { parametersCheck } from './parameter-checks.js';
import { projectionOperations } from './projection-operations.js';
import type { Runner } from './runner.js';

/** The engines as the operator commands see them; in embedded mode the running service's, else started for the command. */
export const openSession = async (
  config: Config,
  clock: Clock,
  logger: Logger,
  runner: Runner,
  needs?: SessionNeeds,
): Promise<Session> =>
  sessionOver(await openEngines({ config, clock, logger, runner, patience: 'command', ...needs }), config, clock);

export const sessionOver = (engines: Engines, config: Config, clock: Clock): Session => {
  const { log, store, sealingKeys, readModel, vault, pool, keyring } = engines;
  const parameters = createParametersCache(pool);
  const rotation = { db: pool, keyring, clock };
  return {
    clock,
    log,
    store,
    sealingKeys,
    readModel,
    vault,
    parameters,
    companyDeps: (actor) => ({
      store,
      clock,
      applyNow: async (stream) => applyStreamNow(pool, operatorProjections, await log.read(stream)),
      actor: `support:${actor}`,
    }),
    testRetentionSeconds: config.limits.testRetentionSeconds,
    readPkcs12,
    issueDemoCertificate: (cnpj, name) =>
      demoCertificate(() => issueClientCertificate(simulatorFolder(config), { cnpj, name, clock })),
    simulatedModes: simulatedModes(config),
    projections: projectionOperations(engines, clock),
    masterKey: {
      status: () => masterKeyStatus(rotation),
      rotate: (actor, onProgress) => rotateMasterKey(rotation, `support:${actor}`, onProgress),
    },
    checks: async () => [
      ...(await engineChecks(engines, clock)),
      ...(await guardsChecks(engines, config)),
      masterKeyCheck(await masterKeyStatus(rotation)),
      await parametersCheck(parameters, clock),
    ],
  };
};

/** What sealed the events of before opens them for ever, so a lost generation is a fault and an old one is none. */
const masterKeyCheck = (generations: readonly GenerationStatus[]): Check => {
  const name = 'master key';
  const named = (state: GenerationState) => generations.filter((one) => one.state === state);
  const lost = named('lost').map(({ generation }) => generation);
  if (lost.length > 0) {
    const detail = `generation ${lost.join(', ')} is not in the key file: what it sealed cannot be opened`;
    return { name, ok: false, detail, cure: 'restore its line from your copy of the key file' };
  }
  const old = named('opening').reduce((sum, { certificates, dayKeys }) => sum + certificates + dayKeys, 0);
  const sealing = named('sealing').map(({ generation }) => generation);
  const waiting = named('waiting').map(({ generation }) => generation);
  const detail = [
    `${sealing.join()} seals`,
    ...(waiting.length === 0 ? [] : [`${waiting.join(', ')} waits in the key file`]),
    ...(old === 0 ? [] : [`${old} certificates and day keys are still under an older generation`]),
  ].join(', ');
  return { name, ok: old === 0, detail, ...(old + waiting.length === 0 ? {} : { cure: 'nfse master-key rotate' }) };
};

/** A database that keeps the log too cannot be older or newer than it. */
const guardsChecks = async ({ pool, log }: Engines, { eventStoreUrl }: Config): Promise<readonly Check[]> => {
  if (eventStoreUrl === undefined) return [];
  const look = await lookAtGuards(pool, await log.identity());
  const head = await log.head();
  const ok = !look.wasSetBack && !isEarlier(head, look.furthest);
  const detail = ok
    ? `${look.guards === null ? 'none looked at yet' : `complete up to ${look.guards}`}; what is missing is rebuilt at the start`
    : `the log was found to end before ${look.furthest ?? 'what was seen'} (it ends at ${head ?? 'nothing'} now): issuing is paused`;
  return [{ name: 'guards', ok, detail, ...(ok ? {} : { cure: 'docs/operations/lost-database.md' }) }];
};

const LAG_LIMIT_SECONDS = 30;

const engineChecks = async ({ pool, log, readModel }: Engines, clock: Clock): Promise<readonly Check[]> => {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const checks: Check[] = [
    { name: 'database', ok: true, detail: `PostgreSQL ${rows[0]?.server_version ?? 'unknown'}` },
    { name: 'event log', ok: true, detail: `identity ${await log.identity()}, head ${(await log.head()) ?? 'empty'}` },
  ];
  const lagOf = createLag(log, clock);
  for (const projection of registry.projections) {
    const lag = await lagOf(projection.prefixes, await readCheckpoint(pool, projection));
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
  const detail = `${unreviewed.length} shipped lines of registered companies' activities not reviewed by an operator`;
  const cure = 'nfse catalog export > FILE.tsv, look at the lines, then nfse catalog import FILE.tsv';
  return { name: 'catalogue', ok: true, detail, ...(unreviewed.length === 0 ? {} : { cure }) };
};

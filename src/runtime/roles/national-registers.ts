import type { AdnOptions } from '../../adapters/authorizer/adn.js';
import { createDistribution } from '../../adapters/authorizer/distribution.js';
import { createMunicipalParameters } from '../../adapters/authorizer/parameters.js';
import { createParametersCache } from '../../adapters/municipal-parameters/cache.js';
import { createCertificateRefusals } from '../../adapters/read-model-postgres/certificate-refusals.js';
import { createDistributionProgressStore } from '../../adapters/reconciliation/distribution-progress.js';
import { createReconciliationProgressStore } from '../../adapters/reconciliation/progress-store.js';
import { lastingLead, leaderSession } from '../../adapters/sql/leader-lock.js';
import type { IssuerDeps } from '../../app/issuing/deps.js';
import { wantedOf } from '../../app/municipal-parameters/wanted.js';
import { type Mode, modes } from '../../domain/common/ids.js';
import { shortCache } from '../../lib/short-cache.js';
import { municipalityCode } from '../../tables/municipalities.js';
import { PAUSES, runParametersRefresher } from '../../workers/parameters-refresher.js';
import { runReconciler } from '../../workers/reconciler.js';
import { createFaultLines } from '../config/fault-lines.js';
import { type AdnService, adnAddress, trustRoots } from '../engines/authorizers.js';
import { type CertificateOf, certificatesOf } from '../engines/companies.js';
import { createDifferenceTeller } from '../engines/notices.js';
import { companyCatalogue } from './companies.js';
import type { Parts } from './parts.js';

/** Reconciliation: compares outcomes with what the authorizer holds until the signal aborts. One process among all leads each task of a mode. */
export const runReconciliation = async (
  deps: IssuerDeps & { certificateOf: CertificateOf },
  parts: Parts,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, config, engines, logger, metrics, simulator } = parts;
  const { paceSeconds, ...settings } = config.reconcile;
  const asked = modes.filter((mode) => config.authorizer[mode] !== undefined || simulator !== undefined);
  if (asked.length === 0 || (settings.samplePercent === 0 && config.distribution.everySeconds === 0)) return;
  const session = leaderSession(engines.pool);
  const clients = perMode(createDistribution, 'contribuintes', asked, parts, deps.certificateOf);
  await runReconciler({
    ...deps,
    actor: 'timer:reconciliation',
    progressStore: createReconciliationProgressStore(engines.pool),
    settings,
    modes: asked,
    leadOf: (task, mode) => lastingLead(session, `${task}-${mode}`, signal),
    isAuthorizerWell: (mode) => deps.breaker.isAnswering(mode),
    paceMs: paceSeconds * 1000,
    distribution: {
      after: async (caller, nsu) =>
        (await clients.get(caller.mode)?.after(caller, nsu)) ?? { kind: 'inconclusive', reason: 'no_address' },
    },
    distributionProgress: createDistributionProgressStore(engines.pool),
    readModel: engines.readModel,
    everySeconds: config.distribution.everySeconds,
    distributionPaceMs: config.distribution.paceSeconds * 1000,
    onDistribution: (mode, answer) => {
      metrics.distributionAsked(mode, answer.kind);
      if (answer.kind === 'inconclusive')
        logger.info({ msg: 'the distribution of the ADN gave no usable answer', mode, reason: answer.reason });
    },
    signal,
    onComparison: (mode, result) => metrics.reconciled(mode, result),
    onDifference: createDifferenceTeller({ pool: engines.pool, clock, logger }),
    onFault: createFaultLines({
      logger,
      msg: 'reconciliation failed and continues',
      everyMs: Math.max(paceSeconds, config.distribution.paceSeconds) * 1000,
    }).tell,
  });
  for (const client of clients.values()) client.close();
  await session.close();
};

/** One client of a service of the ADN for each mode whose address is known, because each mode trusts different servers. */
const perMode = <Client>(
  create: (options: AdnOptions) => Client,
  service: AdnService,
  asked: readonly Mode[],
  { clock, config, simulator }: Parts,
  certificateOf: CertificateOf,
): ReadonlyMap<Mode, Client> => {
  const clients = new Map<Mode, Client>();
  for (const mode of asked) {
    const address = adnAddress(config, simulator, mode, service);
    if (address === undefined) continue;
    const trustRootsPem = trustRoots(config, simulator, mode);
    const options = { address, trustRootsPem, timeoutMs: CALL_TIMEOUT_MS, certificateOf, now: () => clock.now() };
    clients.set(mode, create(options));
  }
  return clients;
};

/** Milliseconds for which a read of the registered companies serves. The refresher asks for it again within a minute, sooner where there are few. */
const WANTED_MS = 15_000;

/** No request waits for an answer, and a slow one must not hold the connection for long. */
const CALL_TIMEOUT_MS = 10_000;

/** Refreshes the municipal parameters of this process's modes until the signal aborts; no request waits for it. */
export const runParametersRefresh = async (parts: Parts, signal: AbortSignal): Promise<void> => {
  const { config, clock, engines, logger, metrics, simulator } = parts;
  const asked = modes.filter((mode) => adnAddress(config, simulator, mode, 'parametrizacao') !== undefined);
  if (asked.length === 0) return;
  const certificateOf = certificatesOf(parts, 'timer:parameters');
  const clients = perMode(createMunicipalParameters, 'parametrizacao', asked, parts, certificateOf);
  const session = leaderSession(engines.pool);
  const refusals = createCertificateRefusals(engines.pool).all;
  const wanted = shortCache(WANTED_MS, clock, async () =>
    wantedOf({ ...companiesOf(parts), refusals, modes: asked }, clock.now()),
  );
  await runParametersRefresher({
    api: {
      ask: async (caller, ...question) =>
        (await clients.get(caller.mode)?.ask(caller, ...question)) ?? { kind: 'no_proof', reason: 'no_address' },
    },
    clock,
    signal,
    modes: asked,
    cache: createParametersCache(engines.pool),
    wanted: () => wanted('all'),
    tryLead: lastingLead(session, 'municipal-parameters', signal).take,
    onAnswer: (mode, outcome, reason) => {
      metrics.parametersAsked(mode, outcome);
      if (reason !== undefined)
        logger.info({ msg: 'the municipal parameters API gave no usable answer', mode, reason });
    },
    onFault: createFaultLines({ logger, msg: 'refreshing municipal parameters failed', everyMs: PAUSES.idle }).tell,
  });
  for (const client of clients.values()) client.close();
  await session.close();
};

const companiesOf = ({ engines, clock }: Pick<Parts, 'engines' | 'clock'>) => ({
  companies: async () =>
    (await engines.readModel.companies()).map((company) => ({ companyId: company.registration.cnpj, company })),
  ibgeOf: municipalityCode,
  catalogueOf: companyCatalogue(engines, clock),
});

import { createDistribution } from '../../adapters/authorizer/distribution.js';
import { createDistributionProgressStore } from '../../adapters/reconciliation/distribution-progress.js';
import { createReconciliationProgressStore } from '../../adapters/reconciliation/progress-store.js';
import { lastingLead, leaderSession } from '../../adapters/sql/leader-lock.js';
import type { IssuerDeps } from '../../app/issuing/deps.js';
import { modes } from '../../domain/common/ids.js';
import { runReconciler } from '../../workers/reconciler.js';
import { createFaultLines } from '../config/fault-lines.js';
import type { CertificateOf } from '../engines/companies.js';
import { createDifferenceTeller } from '../engines/notices.js';
import { adnClients } from './adn-clients.js';
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
  const clients = adnClients(createDistribution, 'contribuintes', asked, parts, deps.certificateOf);
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

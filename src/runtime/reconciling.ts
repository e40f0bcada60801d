import { createWalks } from '../adapters/reconciliation/walks.js';
import type { IssuerDeps } from '../app/issuer/deps.js';
import { leaderSession } from '../workers/projection-leader.js';
import { runReconciler } from '../workers/reconciler.js';
import { modes } from './authorizers.js';
import { lastingLead } from './lasting-lead.js';
import { faultFields, streamFields } from './logger.js';
import type { Parts } from './service.js';

/** Compares our outcomes with what the authorizer holds until the signal aborts; one process among all does it. */
export const reconcileForEver = async (deps: IssuerDeps, parts: Parts, signal: AbortSignal): Promise<void> => {
  const { config, engines, logger, metrics, simulator } = parts;
  const { paceSeconds, ...settings } = config.reconcile;
  const asked = modes.filter((mode) => config.authorizer[mode] !== undefined || simulator !== undefined);
  if (asked.length === 0 || settings.samplePercent === 0) return;
  const session = leaderSession(engines.pool);
  await runReconciler({
    ...deps,
    actor: 'timer:reconciliation',
    walks: createWalks(engines.pool),
    settings,
    modes: asked,
    tryLead: lastingLead(session, 'reconciliation', signal),
    mayAsk: (mode) => deps.gate.isClosed(mode),
    paceMs: paceSeconds * 1000,
    signal,
    onLook: (mode, result) => metrics.reconciled(mode, result),
    onDifference: (stream, kind) =>
      logger.error({ msg: 'the authorizer holds something else than we do', kind, ...streamFields(stream) }),
    onFault: (error) => logger.warn({ msg: 'reconciliation failed and goes on', ...faultFields(error) }),
  });
  await session.close();
};

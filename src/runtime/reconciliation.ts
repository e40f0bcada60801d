import { createDocumentSigner } from '../adapters/authorizer/document-signer.js';
import { lookAtGuards } from '../adapters/guards-postgres/guards-record.js';
import { isPaused, liftPause } from '../adapters/guards-postgres/set-back.js';
import { createCertificateOpener } from '../app/certificates/open-certificate.js';
import { loadCompany } from '../app/company/company-commands.js';
import { reconcileLog } from '../app/reconcile-log/reconcile.js';
import type { ReconcileDeps } from '../app/reconcile-log/reconcile-deps.js';
import type { ReconcileOptions, Reconciliation } from '../cli/session.js';
import type { CompanyId } from '../domain/shared/ids.js';
import { epochMs } from '../domain/shared/time.js';
import { isEarlier } from '../ports/event-log.js';
import { centralBankCode } from '../tables/foreign-trade.js';
import { municipalityByName } from '../tables/municipalities.js';
import { pause } from '../waiting/pause.js';
import { modesWithoutAuthorizer } from './authorizers.js';
import { projectionOperations } from './projection-operations.js';
import { openSessionAuthorizer, runningSimulator, type SessionParts } from './session-authorizer.js';

/** `doctor --reconcile`: compares the log with the authorizer, and ends the pause when nothing speaks against it. */
export const reconcileNow = async (
  parts: SessionParts,
  actor: `support:${string}`,
  options: ReconcileOptions,
): Promise<Reconciliation> => {
  const { engines } = parts;
  const { log, pool } = engines;
  const identity = await log.identity();
  const look = await lookAtGuards(pool, identity);
  const isShorter = isEarlier(await log.head(), look.furthest);
  if (!isShorter && !(await isPaused(pool, identity))) return { kind: 'not_paused' };
  const result = await reconcileLog(await depsOf(parts, actor, options), options.acceptUnknown);
  if (!result.isDone) return { kind: 'compared', resumed: false, ...result };
  await bringRowsUp(parts, isShorter, options);
  await liftPause(pool, identity, await log.head());
  return { kind: 'compared', resumed: true, ...result };
};

const depsOf = async (
  parts: SessionParts,
  actor: `support:${string}`,
  { span, onProgress }: ReconcileOptions,
): Promise<ReconcileDeps> => {
  const { engines, config, clock } = parts;
  const { log, store, vault, readModel } = engines;
  const company = async (companyId: CompanyId) => {
    const { state } = await loadCompany(companyId, store);
    return state.kind === 'company' ? state : undefined;
  };
  const hasLedger = (await runningSimulator(config, clock)) !== undefined;
  return {
    ...{ log, store, clock, actor, span, onProgress },
    authorizer: await openSessionAuthorizer(parts, actor, company),
    signer: createDocumentSigner(),
    limits: config.limits,
    identityOf: createCertificateOpener({ vault, store, clock, company, actor }),
    currencyCode: centralBankCode,
    municipalityOf: ({ city, state }) => municipalityByName(city, state)?.ibge,
    byAccessKeys: (keys) => readModel.byAccessKeys(keys),
    modesWithoutLedger: hasLedger ? [] : modesWithoutAuthorizer(config),
    waitUntil: async (at) => {
      while (epochMs(clock.now()) < epochMs(at)) await pause(Math.min(1_000, epochMs(at) - epochMs(clock.now()) + 1));
    },
  };
};

/** Rows of another end of this log are made anew; those that are only behind would turn good keys away once requests are let in. */
const bringRowsUp = async (
  { engines, clock }: SessionParts,
  isShorter: boolean,
  { onProgress }: ReconcileOptions,
): Promise<void> => {
  const projections = projectionOperations(engines, clock);
  // A place behind the end of a log cannot be asked from, so rows of such a place are not even asked for their lag.
  if (!isShorter && (await projections.status()).every(({ lagSeconds }) => lagSeconds === 0)) return;
  for (const name of projections.names) {
    onProgress(`rows of ${name} are made from the log`);
    const rebuilt = await projections.rebuild(name, () => undefined);
    if ('refused' in rebuilt) throw new RowsNotReady(rebuilt.refused);
  }
};

/** Thrown when the read model could not be brought up to the log: issuing stays paused. */
export class RowsNotReady extends Error {
  override readonly name = 'RowsNotReady';
}

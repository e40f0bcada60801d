import type pg from 'pg';
import { createDocumentSigner } from '../../adapters/authorizer/document-signer.js';
import {
  databaseNow,
  pauseIssuing,
  pauseIssuingAtEnd,
  readPause,
  resumeIssuing,
} from '../../adapters/guards-postgres/incomplete-log.js';
import { createHeldNumbersRead } from '../../adapters/read-model-postgres/held-numbers.js';
import { asLeader, leaderSession } from '../../adapters/sql/leader-lock.js';
import { overPool, PATIENT } from '../../adapters/sql/pool.js';
import { loadCompany } from '../../app/operator/company/company-commands.js';
import type { RecoveryDeps } from '../../app/recovery/ask-series.js';
import { compareRestoredLog, recordRecovery } from '../../app/recovery/recover-log.js';
import { isForSimulator } from '../../certificates/holder.js';
import type { LogRecovery, LogRecoveryOptions } from '../../cli/session.js';
import type { CompanyId } from '../../domain/common/ids.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import { pause } from '../../lib/pause.js';
import { centralBankCode } from '../../tables/catalogue.js';
import { municipalityCode } from '../../tables/municipalities.js';
import { modesWithoutAuthorizer } from '../config/config.js';
import { certificatesOf } from '../engines/companies.js';
import { runningSimulator } from '../engines/simulator.js';
import { openSessionAuthorizer, type SessionParts } from './authorizer.js';
import { headAndPlaces } from './checks.js';
import { projectionOperations } from './projections.js';

/** `doctor --reconcile`: log recovery. A second comparison of the same database is refused: the first one to end would end the pause for both. */
export const recoverLog = async (
  parts: SessionParts,
  actor: `support:${string}`,
  options: LogRecoveryOptions,
): Promise<LogRecovery> => {
  const session = leaderSession(parts.engines.pool);
  try {
    const alone = await asLeader(session, COMPARISON_LOCK, (leading) => recoverAlone(parts, actor, options, leading));
    return alone ?? { kind: 'refused', why: COMPARED_ELSEWHERE };
  } finally {
    await session.close();
  }
};

const COMPARISON_LOCK = 'log recovery comparison';

const COMPARED_ELSEWHERE =
  'another nfse doctor --reconcile compares this log now: wait until it has ended, or end it (Ctrl-C), then run this again';

const LOCK_LOST =
  'the connection to the database that keeps other comparisons away was lost: issuing stays paused, run this again';

const PAUSED_AGAIN =
  'the pause was recorded again during the comparison (by nfse restore --mark, or by a process that saw another loss): issuing stays paused, run this again, with --from for what changed after the backup';

/** `leading` aborts when another comparison may have begun. */
const recoverAlone = async (
  parts: SessionParts,
  actor: `support:${string}`,
  options: LogRecoveryOptions,
  leading: AbortSignal,
): Promise<LogRecovery> => {
  const { engines, config } = parts;
  const { log, pool } = engines;
  const identity = await log.identity();
  const [, isOfThisLog] = await headAndPlaces({ pool, log });
  if (!isOfThisLog && (await readPause(pool, identity)) === undefined) await beginPause(parts);
  const paused = await readPause(pool, identity);
  if (paused === undefined) return { kind: 'not_paused' };
  options.onPaused();
  const isApart = config.eventStoreUrl !== undefined;
  const { connectionString = '' } = pool.options;
  // Without time limits: the rows of all invoices are read, and the finished keys of a busy day are millions of rows.
  return await overPool({ connectionString, applicationName: 'nfse-recovery', ...PATIENT }, async (patient) => {
    const deps = await depsOf(parts, { patient, lostBefore: paused.seenAt }, actor, options);
    const result = await compareRestoredLog(deps, options.acceptUnknown);
    if ('refused' in result) return { kind: 'refused', why: result.refused };
    if (!result.isDone) return { kind: 'compared', resumed: false, ...result };
    await rebuildRowsIfBehind(parts, !isOfThisLog || isApart, options);
    if (leading.aborted) return { kind: 'refused', why: LOCK_LOST };
    const refused = await recordRecovery(result, deps);
    if (refused !== undefined) return { kind: 'refused', why: refused };
    const guards = isApart ? 'made from the log' : 'stored with the log';
    const hasEnded = await resumeIssuing(patient, identity, paused, { head: await log.head(), guards });
    return hasEnded ? { kind: 'compared', resumed: true, ...result } : { kind: 'refused', why: PAUSED_AGAIN };
  });
};

/** Records the pause with the end that the log has now. Recovery appends, so the head may pass the positions that show what is lost. */
export const beginPause = async ({ engines: { log, pool }, config, clock }: SessionParts): Promise<void> => {
  const identity = await log.identity();
  if (config.eventStoreUrl === undefined) await pauseIssuingAtEnd(pool, identity, clock.now());
  else await pauseIssuing(pool, identity, await log.head(), clock.now());
};

const depsOf = async (
  parts: SessionParts,
  { patient, lostBefore }: { patient: pg.Pool; lostBefore: Instant },
  actor: `support:${string}`,
  { span, from, withoutAuthorizer, withoutCompanies, onProgress }: LogRecoveryOptions,
): Promise<RecoveryDeps> => {
  const { engines, config, clock } = parts;
  const { log, store, readModel } = engines;
  const company = async (companyId: CompanyId) => {
    const { state } = await loadCompany(companyId, store);
    return state.kind === 'company' ? state : undefined;
  };
  const identityOf = certificatesOf(parts, actor, company);
  const hasLedger = (await runningSimulator(config, clock)) !== undefined;
  return {
    log,
    store,
    clock,
    databaseNow: () => databaseNow(engines.pool),
    actor,
    lostBefore,
    span,
    named: from,
    onProgress,
    authorizer: await openSessionAuthorizer(parts, actor, company),
    signer: createDocumentSigner(),
    limits: config.limits,
    identityOf,
    isForSimulator: async (companyId) => {
      const identity = await identityOf({ mode: 'live', companyId });
      return identity !== undefined && isForSimulator(identity.certificatePem);
    },
    currencyCode: centralBankCode,
    municipalityOf: ({ city, state }) => municipalityCode(city, state),
    byAccessKeys: readModel.byAccessKeys,
    companyRows: readModel.companies,
    heldNumbers: createHeldNumbersRead(patient),
    modesWithoutLedger: hasLedger ? [] : modesWithoutAuthorizer(config),
    withoutAuthorizer,
    withoutCompanies,
    // A clock that is set meanwhile neither ends nor prolongs the wait.
    waitUntil: (at) => pause(Math.max(0, epochMs(at) - epochMs(clock.now()) + 1)),
  };
};

/**
 * Makes again, from nothing, rows that may be of another end of this log. All rows beside a log apart may be: that log may have grown past their
 * positions since. Rows that only lag are rebuilt, because they would refuse valid keys.
 */
const rebuildRowsIfBehind = async (
  { engines, clock }: SessionParts,
  mayBeOfAnotherEnd: boolean,
  { onProgress }: LogRecoveryOptions,
): Promise<void> => {
  const projections = projectionOperations(engines, clock);
  // Positions past the end of the log cannot be read from, so the lag of such rows is not even asked for.
  if (!mayBeOfAnotherEnd && (await projections.status()).every(({ lagSeconds }) => lagSeconds === 0)) return;
  const make = mayBeOfAnotherEnd ? projections.remake : projections.rebuild;
  for (const name of projections.names) {
    onProgress(`rows of ${name} are made from the log`);
    const rebuilt = await make(name, () => undefined);
    if ('refused' in rebuilt) throw new RowsNotReady(rebuilt.refused);
  }
};

/** Thrown when the read model could not be brought up to the log. Issuing stays paused. */
export class RowsNotReady extends Error {
  override readonly name = 'RowsNotReady';
}

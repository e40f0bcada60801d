import { createDocumentSigner } from '../adapters/authorizer/document-signer.js';
import { pruneGuards } from '../adapters/guards-postgres/guards.js';
import { createKeptRows } from '../adapters/read-model-postgres/kept-rows.js';
import { createParkedTaps } from '../adapters/read-model-postgres/parked-taps.js';
import { createWatch } from '../adapters/read-model-postgres/watch.js';
import { createCertificateOpener } from '../app/certificates/open-certificate.js';
import type { IssuerDeps } from '../app/issuer/deps.js';
import { APPEND_GRACE_SECONDS } from '../app/issuer/send-attempt.js';
import { createSendGate } from '../app/issuer/send-gate.js';
import { oldestKeptDay } from '../app/retention/test-keys.js';
import { shortCache } from '../app/short-cache.js';
import type { Company } from '../domain/company/company.js';
import type { CompanyId } from '../domain/shared/ids.js';
import type { Clock } from '../ports/clock.js';
import { centralBankCode } from '../tables/foreign-trade.js';
import { pause } from '../waiting/pause.js';
import { runIssuer } from '../workers/issuer.js';
import { type LeaderSession, leaderSession } from '../workers/projection-leader.js';
import { refill, type Sweeper, sweep } from '../workers/sweeper.js';
import { anchorForEver } from './anchoring.js';
import { openAuthorizer } from './authorizers.js';
import { createCertificateWarnings } from './certificate-warnings.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';
import { faultFields, streamFields } from './logger.js';
import { createNoticeTeller } from './notices.js';
import { OPERATOR_CACHE_MS } from './operator-cache.js';
import { refreshParametersForEver } from './parameters.js';
import { mirrorParked } from './parked-mirror.js';
import { reconcileForEver } from './reconciling.js';
import { relayForEver, relayStart } from './relaying.js';
import type { Parts } from './service.js';

const CONCURRENT_ISSUES = 16;

/** Relay, issuer and sweeper, as far as this process has their roles. */
export const startIssuing = async (parts: Parts): Promise<void> => {
  const { guards, roles, logger, runner, queue } = parts;
  if (!roles.some((role) => role === 'issuer' || role === 'sweeper' || role === 'relay')) return;
  const running: Promise<void>[] = [];
  const deps = await issuerDeps(parts);
  const onFault = (stream: string, error: unknown): void =>
    logger.warn({ msg: 'work failed and will be tried again', ...streamFields(stream), ...faultFields(error) });
  const sweeper: Sweeper = {
    readModel: parts.engines.readModel,
    log: parts.engines.log,
    cuts: parts.engines.guards.cuts,
    keptRows: createKeptRows(parts.engines.pool),
    // A queue in memory that nobody works on would only grow.
    queue: queue.isDurable || roles.includes('issuer') ? queue : undefined,
    deps: { ...deps, actor: 'timer:sweeper' },
    onFault,
  };
  // At once, not when its turn comes: a send that begins while the public API still answers might be cut off at the end.
  const signal = runner.stopping;
  const after = await relayStart(parts);
  runner.onStop('issuing', async () => {
    await Promise.all(running);
  });
  if (roles.includes('issuer') && !queue.isDurable) await refill(sweeper, signal);
  if (roles.includes('relay')) {
    // Once only: a place of before a pause may be of an end that the log has lost.
    const starts = guards.standing().kind === 'log set back' ? [] : [after];
    const relay = async (going: AbortSignal): Promise<void> =>
      relayForEver(starts.length > 0 ? (starts.pop() ?? null) : await relayStart(parts), parts, going);
    running.push(guards.whileLogReaches(signal, relay));
  }
  if (roles.includes('issuer') && !queue.isDurable) running.push(showParked(parts, signal));
  if (roles.includes('issuer')) {
    const issue = (stopping: AbortSignal): Promise<void> =>
      runIssuer({ queue, deps: { ...deps, stopping }, concurrency: CONCURRENT_ISSUES, signal: stopping, onFault });
    running.push(guards.whileLogStands(signal, issue));
    running.push(guards.whileLogStands(signal, (stopping) => refreshParametersForEver(parts, stopping)));
    running.push(guards.whileLogStands(signal, (stopping) => reconcileForEver(deps, parts, stopping)));
  }
  if (roles.includes('sweeper')) {
    running.push(guards.whileLogStands(signal, (stopping) => sweepForEver(sweeper, parts, stopping)));
    running.push(guards.whileLogStands(signal, (stopping) => anchorForEver(parts, stopping)));
  }
};

const showParked = ({ queue, engines, logger }: Parts, signal: AbortSignal): Promise<void> =>
  mirrorParked(queue, createParkedTaps(engines.pool), signal, (error) =>
    logger.debug({ msg: 'parked work could not be shown', ...faultFields(error) }),
  );

const sweepForEver = async (
  sweeper: Sweeper,
  { config, engines, logger, clock }: Parts,
  signal: AbortSignal,
): Promise<void> => {
  const session = leaderSession(engines.pool);
  const warnOfCertificates = createCertificateWarnings({ watch: createWatch(engines.pool), clock, logger });
  for (let sweepNumber = 1; !signal.aborted; sweepNumber++) {
    await sweepAsLeader(session, async () => {
      await sweep(sweeper, sweepNumber, signal);
      await tidy(engines, config, clock);
      await warnOfCertificates();
    }).catch((error: unknown) => logger.warn({ msg: 'a sweep failed', ...faultFields(error) }));
    await pause(config.sweepSeconds * 1000, signal);
  }
  await session.close();
};

/** One sweeper among all processes saves work; that two do no harm is the decisions' doing. */
const sweepAsLeader = async (session: LeaderSession, work: () => Promise<void>): Promise<void> => {
  if ((await session.tryLead('sweeper')) === undefined) return;
  try {
    await work();
  } finally {
    await session.resign('sweeper');
  }
};

/** What has no say any more: the keys of test days long past, and guards whose windows are over. */
const tidy = async ({ pool, sealingKeys }: Engines, config: Config, clock: Clock): Promise<void> => {
  const now = clock.now();
  await sealingKeys.destroyDayKeys(oldestKeptDay(now));
  await pruneGuards(pool, { idempotencyTtlSeconds: config.idempotencySeconds }, now);
};

const issuerDeps = async (parts: Parts): Promise<IssuerDeps> => {
  const { engines, clock, config, logger, metrics, decorateAuthorizer = (authorizer) => authorizer } = parts;
  const company = companyOf(engines, clock);
  const tellOperators = createNoticeTeller({ pool: engines.pool, clock, logger, metrics });
  const certificateOf = createCertificateOpener({
    vault: engines.vault,
    store: engines.store,
    clock,
    company,
    actor: 'worker:issuer',
  });
  return {
    store: engines.store,
    authorizer: decorateAuthorizer(await openAuthorizer({ ...parts, certificateOf })),
    gate: createSendGate({
      clock,
      leaseSeconds: APPEND_GRACE_SECONDS + 3 * config.limits.sendSeconds,
      shortestWindowSeconds: Math.min(config.limits.queuedSeconds, config.limits.processingSeconds),
      chance: Math.random,
      onChange: (change) => {
        metrics.circuit(change);
        logger.warn({ msg: 'sends to the authorizer', ...change });
      },
    }),
    signer: createDocumentSigner(),
    lookups: engines.guards.lookups,
    clock,
    limits: config.limits,
    company,
    identityOf: certificateOf,
    currencyCode: centralBankCode,
    actor: 'worker:issuer',
    stopping: parts.runner.stopping,
    notify: (notice) => void tellOperators(notice),
  };
};

/** The registration as the read model has it, at most a second old. */
export const companyOf = (
  { readModel }: Pick<Engines, 'readModel'>,
  clock: Clock,
): ((companyId: CompanyId) => Promise<Company | undefined>) =>
  shortCache(OPERATOR_CACHE_MS, clock, async (companyId) => {
    const found = await readModel.company(companyId);
    return found?.state.kind === 'company' ? found.state : undefined;
  });

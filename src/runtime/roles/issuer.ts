import { createDocumentSigner } from '../../adapters/authorizer/document-signer.js';
import { createCertificateRefusals } from '../../adapters/read-model-postgres/certificate-refusals.js';
import { createPreviousGeneration } from '../../adapters/read-model-postgres/kept-rows.js';
import { createParkedItems, type ParkedItems } from '../../adapters/read-model-postgres/parked-items.js';
import { createBreaker } from '../../app/issuing/breaker.js';
import { createCertificateBreaker } from '../../app/issuing/certificate-breaker.js';
import type { IssuerDeps } from '../../app/issuing/deps.js';
import { APPEND_GRACE_SECONDS } from '../../app/issuing/protocol.js';
import { modes } from '../../domain/common/ids.js';
import { pause } from '../../lib/pause.js';
import type { ParkedWork, WorkQueue } from '../../ports/work-queue.js';
import { centralBankCode } from '../../tables/catalogue.js';
import { runBreakerProber } from '../../workers/breaker-prober.js';
import { runIssuer } from '../../workers/issuer.js';
import { refillQueue, type Sweeper } from '../../workers/sweeper.js';
import { faultFields, streamFields } from '../config/logger.js';
import { openAuthorizer } from '../engines/authorizers.js';
import { certificatesOf, companyOf } from '../engines/companies.js';
import { createNoticeTeller } from '../engines/notices.js';
import { isEngineFault } from './engine-faults.js';
import { type CertificateOf, runParametersRefresh, runReconciliation } from './national-registers.js';
import type { Parts } from './parts.js';
import { relayStart, runRelayRole } from './relay.js';
import { runAnchorerRole, runSweeper } from './sweeper.js';
import { CONCURRENT_ISSUES, type Turns } from './turns.js';

/** Starts relay, issuer and sweeper, as far as this process has these roles. */
export const startWorkers = async (parts: Parts): Promise<void> => {
  const { guards, roles, logger, runner, queue, simulator, turns, diskSpace } = parts;
  const running: Promise<void>[] = [];
  const deps = await issuerDeps(parts);
  const onFault = (stream: string, error: unknown): void => {
    diskSpace.record(error);
    logger.warn({ msg: 'work failed and will be tried again', ...streamFields(stream), ...faultFields(error) });
  };
  const sweeper: Sweeper = {
    readModel: parts.engines.readModel,
    log: parts.engines.log,
    cuts: parts.engines.guards.cuts,
    previousGeneration: createPreviousGeneration(parts.engines.pool),
    // A queue in memory that no issuer of this process works on would only grow.
    queue: queue.isDurable || roles.includes('issuer') ? queue : undefined,
    deps: { ...deps, actor: 'timer:sweeper' },
    inTrace: (stream, conclude) => parts.traces.verdict(stream, parts.engines.log, conclude),
    onFault,
  };
  // Aborts at the very beginning of a stop: a send that begins while the public API still drains might be cut off at the end.
  const signal = runner.stopping;
  const after = await relayStart(parts);
  runner.onStop('issuing', async () => {
    await Promise.all(running);
  });
  if (roles.includes('issuer') && !queue.isDurable) await refillQueue(sweeper, signal);
  if (roles.includes('relay')) {
    // After a pause the position of the start may be one that the log has lost.
    const relay = async (going: AbortSignal, wasPaused: boolean): Promise<void> =>
      runRelayRole(wasPaused ? await relayStart(parts) : after, parts, going);
    running.push(guards.whileLogCoversCheckpoint(signal, relay));
  }
  if (roles.includes('issuer') && !queue.isDurable) running.push(showParked(parts, signal));
  if (roles.includes('issuer')) {
    // The simulator works on the same cores as the service. A real authorizer works elsewhere, so waiting for it takes nothing from clients.
    const inTurn: Turns['issues'] = simulator === undefined ? (task) => task() : turns.issues;
    const issue = (pausing: AbortSignal): Promise<void> =>
      runIssuer({
        queue,
        deps: { ...deps, pausing },
        concurrency: CONCURRENT_ISSUES,
        inTurn,
        signal: pausing,
        isEngineFault,
        onFault,
      });
    running.push(guards.whileAppendsAllowed(signal, issue));
    running.push(probeBreakers(deps, parts, signal));
    running.push(guards.whileAppendsAllowed(signal, (stopping) => runParametersRefresh(parts, stopping)));
    running.push(guards.whileAppendsAllowed(signal, (stopping) => runReconciliation(deps, parts, stopping)));
  }
  if (roles.includes('sweeper')) {
    running.push(guards.whileAppendsAllowed(signal, (stopping) => runSweeper(sweeper, parts, stopping)));
    running.push(guards.whileAppendsAllowed(signal, (stopping) => runAnchorerRole(parts, stopping)));
  }
};

/** Milliseconds between two questions whether the breaker is due for a look-up. */
const PROBE_MS = 1_000;

const probeBreakers = ({ breaker }: IssuerDeps, { logger }: Parts, signal: AbortSignal): Promise<void> =>
  runBreakerProber({
    breaker,
    modes,
    paceMs: PROBE_MS,
    signal,
    onFault: (error) => logger.warn({ msg: 'the look-up of a paused environment failed', ...faultFields(error) }),
  });

const showParked = ({ queue, engines, logger }: Parts, signal: AbortSignal): Promise<void> =>
  mirrorParked(queue, createParkedItems(engines.pool), signal, (error) =>
    logger.debug({ msg: 'the list of parked work items could not be written', ...faultFields(error) }),
  );

/** `certificateOf` is the opener that the authorizer uses, so that a certificate is opened once. */
const issuerDeps = async (parts: Parts): Promise<IssuerDeps & { certificateOf: CertificateOf }> => {
  const { engines, clock, config, logger, metrics, decorateAuthorizer } = parts;
  const company = companyOf(engines, clock);
  const tellOperators = createNoticeTeller({ pool: engines.pool, clock, logger, metrics });
  const certificateOf = certificatesOf(parts, 'worker:issuer', company);
  const shortestWindowSeconds = Math.min(config.limits.queuedSeconds, config.limits.processingSeconds);
  const certificates = createCertificateBreaker({
    refusals: createCertificateRefusals(engines.pool),
    clock,
    company,
    shortestWindowSeconds,
    onChange: ({ companyId, refused, ...change }) =>
      logger.warn({
        msg: refused
          ? 'the authorizer refuses the certificate of a company'
          : 'the authorizer takes the certificate again',
        company: companyId,
        ...change,
      }),
    onFault: (error) =>
      logger.warn({ msg: 'what the authorizer says of a certificate is not kept', ...faultFields(error) }),
  });
  return {
    store: engines.store,
    authorizer: certificates.watch(decorateAuthorizer(await openAuthorizer({ ...parts, certificateOf }))),
    certificates,
    breaker: createBreaker({
      clock,
      leaseSeconds: APPEND_GRACE_SECONDS + 3 * config.limits.sendSeconds,
      shortestWindowSeconds,
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
    certificateOf,
    currencyCode: centralBankCode,
    actor: 'worker:issuer',
    stopping: parts.runner.stopping,
    notify: (notice) => void tellOperators(notice),
  };
};

const LOOK_MS = 1_000;

/**
 * Writes the work items that the in-process queue has parked where operator commands can read them, and does the retries that commands request. Does
 * no query while nothing is parked. Resolves when the signal aborts; an unreachable database is tried again.
 */
export const mirrorParked = async (
  queue: Pick<WorkQueue, 'parked' | 'retryParked'>,
  items: Pick<ParkedItems, 'replace' | 'retriesAsked'>,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
  lookMs = LOOK_MS,
): Promise<void> => {
  // Rows of an earlier process do not describe this queue, so the first round always writes.
  let shown = 'unknown';
  while (!signal.aborted) {
    try {
      const parked = await queue.parked();
      if (textOf(parked) !== shown) await items.replace(parked);
      shown = textOf(parked);
      if (parked.length > 0) for (const stream of await items.retriesAsked()) await queue.retryParked(stream);
    } catch (error) {
      onFault(error);
    }
    await pause(lookMs, signal);
  }
};

const textOf = (parked: readonly ParkedWork[]): string => JSON.stringify(parked);

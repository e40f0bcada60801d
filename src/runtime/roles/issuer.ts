import { createDocumentSigner } from '../../adapters/authorizer/document-signer.js';
import { createParametersCache } from '../../adapters/municipal-parameters/cache.js';
import { createCertificateRefusals } from '../../adapters/read-model-postgres/certificate-refusals.js';
import { createBreaker } from '../../app/issuing/breaker.js';
import { createCertificateBreaker } from '../../app/issuing/certificate-breaker.js';
import type { IssuerDeps } from '../../app/issuing/deps.js';
import { unlessExpired } from '../../app/issuing/open-certificate.js';
import { APPEND_GRACE_SECONDS } from '../../app/issuing/protocol.js';
import { modes, type StreamName } from '../../domain/common/ids.js';
import type { InvoiceFacts } from '../../domain/invoice/state.js';
import { dottedService } from '../../domain/municipality/parameters.js';
import type { ParametersCache } from '../../ports/municipal-parameters.js';
import { centralBankCode } from '../../tables/catalogue.js';
import { municipalityCode } from '../../tables/municipalities.js';
import { runBreakerProber } from '../../workers/breaker-prober.js';
import { runIssuer } from '../../workers/issuer.js';
import { createFaultLines } from '../config/fault-lines.js';
import { openAuthorizer } from '../engines/authorizers.js';
import { type CertificateOf, certificatesOf, companyOf } from '../engines/companies.js';
import { createNoticeTeller } from '../engines/notices.js';
import { isEngineFault } from './faults.js';
import { runParametersRefresh } from './parameters-refresh.js';
import type { Parts } from './parts.js';
import { runReconciliation } from './reconciliation.js';
import { CONCURRENT_ISSUES, type Turns } from './turns.js';

/** Reports a fault of work on a stream; the work is tried again. */
export type OnWorkFault = (stream: StreamName, error: unknown) => void;

/** Starts the work of an issuer: sends and look-ups, the probes of paused environments, municipal parameters and the reconciliation. */
export const startIssuer = (
  deps: IssuingDeps,
  parts: Parts,
  onFault: OnWorkFault,
  signal: AbortSignal,
): Promise<void>[] => {
  const { guards, queue, simulator, turns } = parts;
  // The simulator works on the same cores as the service. A real authorizer works elsewhere, so waiting for it takes nothing from clients.
  const inTurn: Turns['issues'] = simulator === undefined ? (_company, task) => task() : turns.issues;
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
  return [
    guards.whileAppendsAllowed(signal, issue),
    probeBreakers(deps, parts, signal),
    guards.whileAppendsAllowed(signal, (stopping) => runParametersRefresh(parts, stopping)),
    guards.whileAppendsAllowed(signal, (stopping) => runReconciliation(deps, parts, stopping)),
  ];
};

/** Milliseconds between two questions whether the breaker is due for a look-up. */
const PROBE_MS = 1_000;

const probeBreakers = ({ breaker }: IssuerDeps, { logger }: Parts, signal: AbortSignal): Promise<void> =>
  runBreakerProber({
    breaker,
    modes,
    paceMs: PROBE_MS,
    signal,
    onFault: createFaultLines({ logger, msg: 'the look-up of a paused environment failed', everyMs: PROBE_MS }).tell,
  });

/** `certificateOf` is the opener that the authorizer uses, so that a certificate is opened once. */
export type IssuingDeps = IssuerDeps & { certificateOf: CertificateOf };

/** What issuing and verdicts need. Opens the authorizer. */
export const openIssuingDeps = (parts: Parts): IssuingDeps => {
  const { engines, clock, config, logger, metrics, decorateAuthorizer } = parts;
  const company = companyOf(engines, clock);
  const tellOperators = createNoticeTeller({ pool: engines.pool, clock, logger, metrics });
  const certificateOf = certificatesOf(parts, 'worker:issuer', company);
  const parameters = createParametersCache(engines.pool);
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
    onFault: createFaultLines({ logger, msg: 'what the authorizer says of a certificate is not kept' }).tell,
  });
  return {
    store: engines.store,
    authorizer: certificates.watch(decorateAuthorizer(openAuthorizer({ ...parts, certificateOf }))),
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
    identityOf: unlessExpired(certificateOf, clock),
    certificateOf,
    currencyCode: centralBankCode,
    actor: 'worker:issuer',
    stopping: parts.runner.stopping,
    ...(parts.guards.wasAway === undefined ? {} : { wasAway: parts.guards.wasAway }),
    notify: (notice) => void tellOperators(notice),
    // What is lost here costs time only: each answer is asked for again by itself.
    onRefused: (facts, codes) =>
      void askAgainAboutService(facts, codes, { cache: parameters, company, clock }).catch(() => undefined),
  };
};

/** Refusals that contradict the stored answers about a service: it is not administered with the code of the note, or has no incidence there. */
const CONTRADICTING: ReadonlySet<string> = new Set(['E0312', 'E0314', 'E0540']);

/** Has the refresher ask again about the service of a refused invoice, so that operators need not wait a day for the municipality's new codes. */
export const askAgainAboutService = async (
  { mode, companyId, serviceCode }: InvoiceFacts,
  codes: readonly string[],
  { cache, company, clock }: Pick<IssuerDeps, 'company' | 'clock'> & { cache: Pick<ParametersCache, 'askAgain'> },
): Promise<void> => {
  if (serviceCode === undefined || !codes.some((code) => CONTRADICTING.has(code))) return;
  const registration = (await company(companyId))?.registration;
  if (registration === undefined) return;
  const ibge = municipalityCode(registration.city, registration.state);
  if (ibge !== undefined) await cache.askAgain(mode, ibge, dottedService(serviceCode), clock.now());
};

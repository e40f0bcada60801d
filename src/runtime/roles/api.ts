import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createKeyUses } from '../../adapters/read-model-postgres/key-uses.js';
import type { Keyring } from '../../adapters/vault/keyring.js';
import { deriveSecret, type MasterKey } from '../../adapters/vault/master-key.js';
import type { AcceptDeps } from '../../app/accept/accept-deps.js';
import { acceptInvoice } from '../../app/accept/accept-invoice.js';
import { guardHashes } from '../../app/accept/guard-hashes.js';
import { cancelInvoice } from '../../app/cancel/cancel-invoice.js';
import { storeWithFetchedNotes } from '../../app/download/complete-notes.js';
import { downloadPdf, downloadXml, fairStore } from '../../app/download/download.js';
import { createDownloadTokens, type DownloadTokens, type SecretsOfDay } from '../../app/download/download-token.js';
import type { CompanyId, InvoiceAddress, StreamName } from '../../domain/common/ids.js';
import { issuableActivities } from '../../domain/company/activities.js';
import type { Company } from '../../domain/company/company.js';
import type { Catalogue } from '../../domain/company/line-selection.js';
import { createApp } from '../../http/app.js';
import type { HttpDeps } from '../../http/deps.js';
import { listen, type RunningServer } from '../../http/server.js';
import { pause } from '../../lib/pause.js';
import { shortCache } from '../../lib/short-cache.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Revision } from '../../ports/event-log.js';
import type { PdfRenderer } from '../../ports/pdf.js';
import { ibsCbsTables } from '../../tables/catalogue.js';
import { municipalityCode } from '../../tables/municipalities.js';
import type { Config } from '../config/config.js';
import { connectionLimits, openFilesLimit, warnOfDrops } from '../config/connection-limits.js';
import { refusalLines } from '../config/fault-lines.js';
import { faultFields, requestFields } from '../config/logger.js';
import { atOwnAddress } from '../config/own-address.js';
import { openAuthorizer } from '../engines/authorizers.js';
import { certificatesOf, companyOf, OPERATOR_CACHE_MS } from '../engines/companies.js';
import { createNoticeTeller } from '../engines/notices.js';
import { isSimulatorsNote } from '../engines/simulator-notes.js';
import { companyCatalogue, eligibilityFacts } from './eligibility-facts.js';
import { isOverloaded, isOwnOverload, isUnavailable, requestFaults } from './faults.js';
import { createUseRecorder, type UseRecorder } from './key-uses.js';
import { createPacing } from './pacing.js';
import type { Parts } from './parts.js';
import { openTaxRegistry, warnOfUnusableAddresses } from './tax-registry.js';

/** Bounds database queries for unknown keys, so that the other connections remain for known keys. */
const UNKNOWN_KEYS_AT_ONCE = 4;
const DRAIN_MS = 20_000;
/** In which a connection that a busy proxy keeps is used again, and ends with that answer. */
const IDLE_MS = 1_000;
/** Milliseconds before a refusal for overload is answered: it slows down clients that ignore `Retry-After`. */
const REFUSED_AFTER_MS = 1_000;
const PROJECTION_WAIT_MS = 300;
const PROJECTION_POLL_MS = 10;

/** Binds the use cases to their engines and serves the public API, until the runner stops. */
export const startApi = async (parts: Parts, pdf: PdfRenderer): Promise<RunningServer> => {
  const { config, logger, runner } = parts;
  const address = { baseUrl: config.api.baseUrl ?? '' };
  const company = companyOf(parts.engines, parts.clock);
  // Only asked for XML that the log lacks. In a mode that this process cannot reach, it answers that it was not reached.
  const certificateOf = certificatesOf(parts, 'worker:api', company);
  const opened = openAuthorizer({ ...parts, certificateOf, whenReady: undefined });
  const authorizer = parts.metrics.measureAuthorizer(parts.traces.authorizer(opened));
  const app = createApp(httpDeps(parts, { pdf, authorizer, company, address }));
  const logRefusal = refusalLines(logger);
  const listening = listen({ fetch: parts.traces.requests(app.fetch) }, config.api, {
    maxConnections: connectionLimits(openFilesLimit(), config.database.poolSize, config.maxConnections).api,
    onDrop: warnOfDrops(logger, 'public api'),
    hasPages: config.docs,
    onRefused: (summary) => {
      parts.metrics.request(summary);
      logRefusal(summary);
    },
    onFault: requestFaults(logger, parts.diskSpace),
  });
  const server = await atOwnAddress('HOST', config.api.host, listening);
  address.baseUrl ||= server.url;
  runner.onStop('public api', () => server.close(DRAIN_MS, parts.sparesProxies === true ? IDLE_MS : 0));
  return server;
};

type ApiParts = {
  pdf: PdfRenderer;
  authorizer: Authorizer;
  company: AcceptDeps['company'];
  /** `BASE_URL` defaults to the address of the server, which is known only once it listens. */
  address: { baseUrl: string };
};

const httpDeps = (parts: Parts, { pdf, authorizer, company, address }: ApiParts): HttpDeps => {
  const { clock, config, diskSpace, drawn, engines, guards, logger, metrics, reader, traces, turns } = parts;
  const { store, readModel } = engines;
  const { testRetentionSeconds } = config.limits;
  const tellOperators = createNoticeTeller({ pool: engines.pool, clock, logger, metrics });
  const downloads = {
    store: storeWithFetchedNotes(fairStore(store, turns.downloads), authorizer, (notice) => void tellOperators(notice)),
    clock,
    pdf,
    drawn,
    hashOf: (address: InvoiceAddress) => turns.reads(address.companyId, () => reader.hashOf(address)),
    testRetentionSeconds,
    isSimulatorsNote,
  };
  const catalogueOf = companyCatalogue(engines, clock);
  const accepting = acceptDeps(parts, company, catalogueOf);
  const cancelling = { store, clock, testRetentionSeconds, waitForProjection: waitForProjection(parts) };
  const credential = shortCache(OPERATOR_CACHE_MS, clock, readModel.credential, UNKNOWN_KEYS_AT_ONCE);
  const uses = openUseRecorder(parts);
  const switchedOff = shortCache(OPERATOR_CACHE_MS, clock, () => readModel.apiSwitchedOff());
  const companyEnabled = async (companyId: CompanyId): Promise<boolean> => (await company(companyId))?.enabled ?? false;
  return {
    clock,
    newRequestId: () => `req_${randomUUID()}`,
    apiState: async () => {
      const { kind } = guards.current();
      if (kind === 'log incomplete') return 'suspended';
      // Rows that are behind the log neither promise nor refuse anything (ADR 14).
      if (kind !== 'complete') return 'unready';
      return (await switchedOff('api')) ? 'suspended' : 'open';
    },
    authenticate: async (keyHash) => {
      const found = await credential(keyHash);
      if (found?.revoked === false) uses.used(found.keyId);
      if (found !== undefined) traces.caller(found);
      return found === undefined ? undefined : { ...found, companyEnabled: await companyEnabled(found.companyId) };
    },
    companyEnabled,
    accept: (command, requester) =>
      turns.commands(requester.companyId, () => acceptInvoice(command, requester, accepting)),
    cancel: (command, requester) =>
      turns.commands(requester.companyId, () => cancelInvoice(command, requester, cancelling)),
    find: (invoice) => turns.reads(invoice.companyId, () => reader.byId(invoice)),
    byReference: (owner, reference) => turns.reads(owner.companyId, () => reader.byReference(owner, reference)),
    activities: ({ mode, companyId }) =>
      turns.reads(companyId, async () => {
        const found = await company(companyId);
        return found === undefined ? [] : issuableActivities(found.registration, mode, await catalogueOf(found));
      }),
    downloadXml: (invoice) => downloadXml(invoice, downloads),
    downloadPdf: (invoice) => downloadPdf(invoice, downloads),
    downloadTokens: downloadTokensOf(engines.keyring, config),
    get baseUrl() {
      return address.baseUrl;
    },
    rateLimits: config.rates,
    docs: config.docs,
    isUnavailable,
    isOverloaded,
    isOwnOverload,
    delayFault: async (error) => {
      // The random part spreads the answers to requests that were refused at the same moment.
      if (isOverloaded(error)) await pause(REFUSED_AFTER_MS * (0.5 + Math.random()));
    },
    pacing: createPacing(),
    onRequest: (summary) => {
      metrics.request(summary);
      logger.info({ msg: 'request', ...requestFields(summary), ...traces.answered(summary) });
    },
    onFault: requestFaults(logger, diskSpace),
  };
};

/** Records when keys were last used, after the request and to the hour. */
const openUseRecorder = ({ engines, clock, logger, runner }: Parts): UseRecorder => {
  const recorder = createUseRecorder(createKeyUses(engines.pool), clock, (error) =>
    logger.debug({ msg: 'the last use of keys could not be recorded', ...faultFields(error) }),
  );
  runner.onStop('key uses', () => recorder.flush());
  return recorder;
};

/** The tokens of download links; every process with these keys makes and checks the same ones. */
export const downloadTokensOf = (keyring: Keyring, config: Pick<Config, 'downloadTokenSeconds'>): DownloadTokens =>
  createDownloadTokens(downloadSecrets(keyring, config), config.downloadTokenSeconds);

/** Seconds within which all processes take up a rotation of the master key. */
const ROTATION_SECONDS = 60;

/** Deriving a day's secret costs more than checking a token. At most two days and a few master keys are in use at once. */
const downloadSecrets = (
  keyring: Keyring,
  { downloadTokenSeconds }: Pick<Config, 'downloadTokenSeconds'>,
): SecretsOfDay => {
  const known = new LRUCache<string, Buffer>({ max: 8 });
  const secretOf = ({ generation, key }: MasterKey, day: string): Buffer => {
    const name = `${generation}|${day}`;
    const secret = known.get(name) ?? deriveSecret(key, `download-token|${day}`);
    known.set(name, secret);
    return secret;
  };
  return (day) => {
    const [newest, ...others] = keyring.recent(downloadTokenSeconds + ROTATION_SECONDS);
    return [secretOf(newest, day), ...others.map((master) => secretOf(master, day))];
  };
};

const acceptDeps = (
  { engines, clock, config, logger }: Parts,
  company: AcceptDeps['company'],
  catalogueOf: (company: Company) => Promise<Catalogue>,
): AcceptDeps => ({
  store: engines.store,
  idempotency: engines.guards.idempotency,
  duplicates: engines.guards.duplicates,
  hashes: guardHashes(engines.sealingKeys.guards),
  taxRegistry: openTaxRegistry(config, engines, clock, warnOfUnusableAddresses(logger)),
  ibsCbs: ibsCbsTables,
  municipalityCode,
  underWay: new Map(),
  clock,
  company,
  eligibilityFacts: eligibilityFacts({ engines, clock }, catalogueOf),
  windows: { idempotencySeconds: config.idempotencySeconds, duplicateSeconds: config.duplicateSeconds },
});

/** The bounded wait of the cancel route for its row; never an error, as the command is recorded (docs/architecture.md#reading-row-or-fold). */
const waitForProjection =
  ({ engines }: Parts) =>
  async (stream: StreamName, revision: Revision): Promise<void> => {
    const deadline = performance.now() + PROJECTION_WAIT_MS;
    while (performance.now() < deadline) {
      const row = await engines.readModel.invoice(stream).catch(() => undefined);
      if ((row?.revision ?? -1) >= revision) return;
      await pause(PROJECTION_POLL_MS);
    }
  };

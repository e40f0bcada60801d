import { randomUUID } from 'node:crypto';
import { createKeyUses } from '../adapters/read-model-postgres/key-uses.js';
import type { Keyring } from '../adapters/vault/keyring.js';
import { deriveSecret, type MasterKey } from '../adapters/vault/master-key.js';
import { cancelInvoice } from '../app/cancel/cancel-invoice.js';
import { createCertificateOpener } from '../app/certificates/open-certificate.js';
import { completingNotes } from '../app/download/complete-notes.js';
import { downloadPdf, downloadXml } from '../app/download/download.js';
import { createDownloadTokens, type SecretsOfDay } from '../app/download/download-token.js';
import { fairReads } from '../app/download/fair-reads.js';
import type { AcceptDeps } from '../app/issue/accept-deps.js';
import { acceptInvoice } from '../app/issue/accept-invoice.js';
import { guardHashes } from '../app/issue/guard-hashes.js';
import { lru } from '../app/lru.js';
import { shortCache } from '../app/short-cache.js';
import { issuableActivities } from '../domain/company/activities.js';
import type { Company } from '../domain/company/company.js';
import type { Catalogue } from '../domain/company/line-selection.js';
import { createApp } from '../http/app.js';
import type { HttpDeps } from '../http/deps.js';
import { listen } from '../http/server.js';
import type { Authorizer } from '../ports/authorizer.js';
import type { PdfRenderer } from '../ports/pdf.js';
import { annexVIII } from '../tables/annex-viii.js';
import { municipalityByName } from '../tables/municipalities.js';
import { pause } from '../waiting/pause.js';
import { openAuthorizer, simulatedModes } from './authorizers.js';
import { companyCatalogue } from './company-catalogue.js';
import type { Config } from './config.js';
import { connectionLimits, openFilesLimit, warnOfDrops } from './connection-limits.js';
import { eligibilityFacts } from './eligibility-facts.js';
import { companyOf } from './issuing.js';
import { createUseRecorder, type UseRecorder } from './key-uses.js';
import { faultFields, requestFields } from './logger.js';
import { OPERATOR_CACHE_MS } from './operator-cache.js';
import { requestFaults } from './request-faults.js';
import type { Parts } from './service.js';
import { openTaxRegistry } from './tax-registry.js';
import { createTurns } from './turns.js';
import { isTooBusy, isUnavailable } from './unavailable.js';

/** A flood of unknown keys leaves the other connections to known ones. */
const UNKNOWN_KEYS_AT_ONCE = 4;
const DRAIN_MS = 20_000;
/** A client that does not wait for `Retry-After` gets its next refusal about this much later. */
const REFUSED_AFTER_MS = 1_000;
const PROJECTION_WAIT_MS = 300;
const PROJECTION_POLL_MS = 10;

/** Binds the use cases to their engines and serves them; answers the origin that it listens on. */
export const startApi = async (parts: Parts, pdf: PdfRenderer): Promise<string> => {
  const { config, logger, runner } = parts;
  const address = { baseUrl: config.api.baseUrl ?? '' };
  const company = companyOf(parts.engines, parts.clock);
  const authorizer = await openApiAuthorizer(parts, company);
  const app = createApp(httpDeps(parts, { pdf, authorizer, company, address }));
  const server = await listen(app, config.api, {
    maxConnections: connectionLimits(openFilesLimit(), config.database.poolSize, config.maxConnections).api,
    onDrop: warnOfDrops(logger, 'public api'),
  });
  address.baseUrl ||= server.url;
  runner.onStop('public api', () => server.close(DRAIN_MS));
  return server.url;
};

type ApiParts = {
  pdf: PdfRenderer;
  authorizer: Authorizer;
  company: AcceptDeps['company'];
  /** `BASE_URL` defaults to the address that the server gets, which is known only once it listens. */
  address: { baseUrl: string };
};

const httpDeps = (parts: Parts, { pdf, authorizer, company, address }: ApiParts): HttpDeps => {
  const { clock, config, engines, guards, logger, metrics, reader } = parts;
  const { store, readModel } = engines;
  const { testRetentionSeconds } = config.limits;
  const simulated = simulatedModes(config);
  const downloads = {
    store: completingNotes(fairReads(store), authorizer),
    clock,
    pdf,
    testRetentionSeconds,
    isSimulated: (mode: 'live' | 'test') => simulated.includes(mode),
  };
  const catalogueOf = companyCatalogue(engines, clock);
  const accepting = acceptDeps(parts, company, catalogueOf);
  const cancelling = { store, clock, testRetentionSeconds, waitForProjection: waitForProjection(parts) };
  const credential = shortCache(OPERATOR_CACHE_MS, clock, readModel.credential, UNKNOWN_KEYS_AT_ONCE);
  const uses = openUseRecorder(parts);
  const turns = createTurns();
  const switchedOff = shortCache(OPERATOR_CACHE_MS, clock, () => readModel.apiSwitchedOff());
  const companyEnabled = async (companyId: string): Promise<boolean> => (await company(companyId))?.enabled ?? false;
  return {
    clock,
    newRequestId: () => `req_${randomUUID()}`,
    // Nothing is promised, and nobody is turned away, by rows that are behind the log (design section 5).
    apiSwitchedOff: async () => guards.standing().kind !== 'complete' || (await switchedOff('api')),
    authenticate: async (keyHash) => {
      const found = await credential(keyHash);
      if (found?.revoked === false) uses.used(found.keyId);
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
    downloadTokens: createDownloadTokens(downloadSecrets(engines.keyring, config), config.downloadTokenSeconds),
    get baseUrl() {
      return address.baseUrl;
    },
    rateLimits: config.rates,
    docs: config.docs,
    isUnavailable,
    holdBack: async (error) => {
      // Spread, so that refusals of one moment do not all go out in another one.
      if (isTooBusy(error)) await pause(REFUSED_AFTER_MS * (0.5 + Math.random()));
    },
    onRequest: (summary) => {
      metrics.request(summary);
      logger.info({ msg: 'request', ...requestFields(summary) });
    },
    onFault: requestFaults(logger),
  };
};

/** Tells when keys are used, after the fact and coarsely. */
const openUseRecorder = ({ engines, clock, logger, runner }: Parts): UseRecorder => {
  const recorder = createUseRecorder(createKeyUses(engines.pool), clock, (error) =>
    logger.debug({ msg: 'the use of keys could not be noted', ...faultFields(error) }),
  );
  runner.onStop('key uses', () => recorder.flush());
  return recorder;
};

/** The processes take up a rotation one after the other. */
const ROTATION_SECONDS = 60;

/** A day's secret costs more than the check of a token; at most two days and a few master keys are in use at once. */
const downloadSecrets = (keyring: Keyring, { downloadTokenSeconds }: Config): SecretsOfDay => {
  const known = lru<string, Buffer>(8);
  const secretOf = ({ generation, key }: MasterKey, day: string): Buffer => {
    const place = `${generation}|${day}`;
    const secret = known.get(place) ?? deriveSecret(key, `download-token|${day}`);
    known.set(place, secret);
    return secret;
  };
  return (day) => {
    const [newest, ...others] = keyring.recent(downloadTokenSeconds + ROTATION_SECONDS);
    return [secretOf(newest, day), ...others.map((master) => secretOf(master, day))];
  };
};

/** Only asked for XML that the log lacks; a mode that this process cannot reach has none. */
const openApiAuthorizer = async (parts: Parts, company: AcceptDeps['company']): Promise<Authorizer> => {
  const { engines, clock, metrics } = parts;
  const { vault, store } = engines;
  const certificateOf = createCertificateOpener({ vault, store, clock, company, actor: 'worker:api' });
  return metrics.measureAuthorizer(await openAuthorizer({ ...parts, certificateOf }));
};

const acceptDeps = (
  { engines, clock, config }: Parts,
  company: AcceptDeps['company'],
  catalogueOf: (company: Company) => Promise<Catalogue>,
): AcceptDeps => ({
  store: engines.store,
  idempotency: engines.guards.idempotency,
  duplicates: engines.guards.duplicates,
  hashes: guardHashes(engines.sealingKeys.guards),
  taxRegistry: openTaxRegistry(config, engines, clock),
  annexVIII,
  municipalityCode: (city, state) => municipalityByName(city, state)?.ibge,
  clock,
  company,
  eligibilityFacts: eligibilityFacts({ engines, clock }, catalogueOf),
  windows: { idempotencySeconds: config.idempotencySeconds, duplicateSeconds: config.duplicateSeconds },
});

/** Bounded, and never an error: the command is recorded already (design section 5). */
const waitForProjection =
  ({ engines }: Parts) =>
  async (stream: string, revision: number): Promise<void> => {
    const deadline = Date.now() + PROJECTION_WAIT_MS;
    while (Date.now() < deadline) {
      const row = await engines.readModel.invoice(stream).catch(() => undefined);
      if ((row?.revision ?? -1) >= revision) return;
      await pause(PROJECTION_POLL_MS);
    }
  };

import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import { acceptInvoice } from '../../../src/app/accept/accept-invoice.js';
import { guardHashes } from '../../../src/app/accept/guard-hashes.js';
import { cancelInvoice } from '../../../src/app/cancel/cancel-invoice.js';
import { createDrawnPdfs, downloadPdf, downloadXml } from '../../../src/app/download/download.js';
import { createDownloadTokens } from '../../../src/app/download/download-token.js';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { sha256Hex } from '../../../src/app/event-store/hashes.js';
import { createInvoiceReader } from '../../../src/app/read/invoice-reader.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import { type CompanyId, invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import { issuableActivities } from '../../../src/domain/company/activities.js';
import type { Company } from '../../../src/domain/company/company.js';
import type { EligibilityFacts } from '../../../src/domain/company/eligibility.js';
import type { Scope } from '../../../src/domain/company/events.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { createApp } from '../../../src/http/app.js';
import type { Authenticated, HttpDeps, RequestSummary } from '../../../src/http/deps.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import type { IdempotencyKeys } from '../../../src/ports/idempotency-keys.js';
import type { ReadModel } from '../../../src/ports/read-model.js';
import type { SealingKeys } from '../../../src/ports/sealing-keys.js';
import { checkAnswer } from '../../http/openapi/check-answer.js';
import { catalogue, DEMO_CNPJ, demoCompany, issueBodyOf, OTHER_CNPJ } from '../fixture/demo.js';
import { memoryEventLog } from '../memory/event-log.js';
import { createMemoryGuards } from '../memory/guards.js';
import { fixedGuardKeys } from './event-store.js';

export const BASE_URL = 'https://nfse.example';
export const START: Instant = '2026-11-21T12:00:00.000Z';
export const XML = Buffer.from('<?xml version="1.0" encoding="UTF-8"?><NFSe>olá</NFSe>');
export const PDF = Buffer.from('%PDF-1.7 fake');

/** An engine that cannot be used now, as the runtime's predicate would know it. */
export class EngineDown extends Error {}

export type Harness = {
  app: Hono;
  log: EventLog;
  store: EventStore;
  summaries: RequestSummary[];
  faults: unknown[];
  company: Company;
  /** State that a test may change; the harness reads it at every call. */
  state: {
    now: Instant;
    switchedOff: boolean;
    municipality: EligibilityFacts['municipality'];
    catalogue: EligibilityFacts['catalogue'];
    /** Rewritten by tests of faults; called before the use case. */
    beforeUse(): void;
  };
  idempotency: IdempotencyKeys;
  keys: Record<KeyName, string>;
  /** Throws when the answer is not one that the OpenAPI document gives for the route. */
  call(path: string, options?: CallOptions): Promise<Response>;
  pass(seconds: number): void;
  /** Records events of the invoice in the mode of the key, as the issuer would. */
  record(id: string, events: readonly InvoiceEvent[], mode?: Mode, companyId?: CompanyId): Promise<void>;
};

export type KeyName = 'test' | 'live' | 'otherCompany' | 'readOnly' | 'writeOnly' | 'revoked' | 'disabled';

export type CallOptions = {
  method?: string;
  key?: KeyName | 'none';
  /** Sent as JSON. */
  json?: unknown;
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
};

/** The whole API over the memory log, at a clock that only the test moves. */
export const createHarness = (overrides: Partial<HttpDeps> = {}): Harness => {
  const log = memoryEventLog();
  const guards = createMemoryGuards();
  const company = demoCompany(DEMO_CNPJ);
  const state: Harness['state'] = {
    now: START,
    switchedOff: false,
    municipality: { ibge: '3304557', requiresCustomer: false, requiresRegistration: false },
    catalogue,
    beforeUse: () => {},
  };
  const clock = { now: () => state.now };
  const { keys, authenticate } = demoKeys();
  const store = createEventStore(log, sealingKeys);
  const reader = createInvoiceReader({
    store,
    log,
    readModel: emptyReadModel,
    keys: sealingKeys,
    clock,
    testRetentionSeconds: 604_800,
  });
  const summaries: RequestSummary[] = [];
  const faults: unknown[] = [];
  const pdf = { enter: () => ({ render: async () => PDF, leave: () => {} }), close: async () => {} };
  const downloadDeps = {
    store,
    clock,
    pdf,
    testRetentionSeconds: 604_800,
    isSimulatorsNote: () => false,
    drawn: createDrawnPdfs(clock),
    hashOf: reader.hashOf,
  };
  const use =
    <A extends readonly unknown[], R>(useCase: (...args: A) => R) =>
    (...args: A): R => {
      state.beforeUse();
      return useCase(...args);
    };

  const app = createApp({
    clock,
    newRequestId: () => `req_${randomUUID()}`,
    apiState: async () => (state.switchedOff ? 'suspended' : 'open'),
    authenticate,
    companyEnabled: async (companyId) => companyId === DEMO_CNPJ && company.enabled,
    accept: use((command, requester) =>
      acceptInvoice(command, requester, {
        store,
        ...guards,
        hashes: guardHashes(fixedGuardKeys()),
        underWay: new Map(),
        clock,
        taxRegistry: {
          lookup: async (cnpj) => (cnpj === OTHER_CNPJ ? { cnpj, legalName: 'CLIENTE REGISTRADO SA' } : undefined),
        },
        ibsCbs: { annexVIII: () => undefined, classification: () => undefined },
        municipalityCode: () => undefined,
        company: async (companyId) => (companyId === DEMO_CNPJ ? company : demoCompany(companyId)),
        eligibilityFacts: async () => ({
          municipality: state.municipality,
          catalogue: state.catalogue,
          isCountry: (code) => code === 'US' || code === 'DE',
          isCurrency: (code) => code === 'USD' || code === 'EUR',
          currencies: ['USD', 'EUR'],
        }),
        windows: { idempotencySeconds: 86_400, duplicateSeconds: 60 },
      }),
    ),
    cancel: use((command, requester) =>
      cancelInvoice(command, requester, {
        store,
        clock,
        testRetentionSeconds: 604_800,
        waitForProjection: async () => {},
      }),
    ),
    find: use(reader.byId),
    byReference: use(reader.byReference),
    activities: use(async ({ mode }) => issuableActivities(company.registration, mode, state.catalogue)),
    downloadXml: use((address) => downloadXml(address, downloadDeps)),
    downloadPdf: use((address) => downloadPdf(address, downloadDeps)),
    downloadTokens: createDownloadTokens((day) => [Buffer.from(sha256Hex(`${tokenSecret}${day}`))], 900),
    baseUrl: BASE_URL,
    rateLimits: { write: 60, read: 300 },
    docs: true,
    isUnavailable: (error) => error instanceof EngineDown,
    isOverloaded: () => false,
    isOwnOverload: () => false,
    onRequest: (summary) => summaries.push(summary),
    onFault: (error) => faults.push(error),
    ...overrides,
  });

  return {
    app,
    log,
    store,
    summaries,
    faults,
    company,
    state,
    idempotency: guards.idempotency,
    keys,
    call: async (path, options = {}) => {
      const init = requestInit(options, keys);
      const response = await app.request(path, init);
      await checkAnswer(path, init.method ?? 'GET', response, overrides.docs ?? true);
      return response;
    },
    pass: (seconds) => {
      state.now = addSeconds(state.now, seconds);
    },
    record: async (id, events, mode = 'test', companyId = DEMO_CNPJ) => {
      const stream = invoiceStream(mode, companyId, id.replace('nfse_', ''));
      const { version } = await loadInvoice(stream, store);
      await store.append(stream, version, events, {
        commandId: randomUUID(),
        correlationId: 'test',
        causationId: 'test',
        actor: 'worker:test',
        now: state.now,
        site: 'record_issue_outcome',
      });
    },
  };
};

export const requestInit = (
  { method, key = 'test', json, raw, headers = {} }: CallOptions,
  keys: Harness['keys'],
): RequestInit => {
  const body = json === undefined ? raw : JSON.stringify(json);
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(key === 'none' ? {} : { authorization: `Bearer ${keys[key]}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: body as string }),
  };
};

const demoKeys = (): { keys: Harness['keys']; authenticate: HttpDeps['authenticate'] } => {
  const known = new Map<string, Authenticated>();
  const make = (mode: Mode, changes: Partial<Authenticated> = {}): string => {
    const key = `svc_sk_${mode}_${randomBytes(32).toString('base64url')}`;
    const scopes: readonly Scope[] = ['nfse:read', 'nfse:write'];
    const keyId = randomUUID();
    known.set(sha256Hex(key), {
      keyId,
      companyId: DEMO_CNPJ,
      mode,
      scopes,
      revoked: false,
      companyEnabled: true,
      ...changes,
    });
    return key;
  };
  const keys = {
    test: make('test'),
    live: make('live'),
    otherCompany: make('test', { companyId: OTHER_CNPJ }),
    readOnly: make('test', { scopes: ['nfse:read'] }),
    writeOnly: make('test', { scopes: ['nfse:write'] }),
    revoked: make('test', { revoked: true }),
    disabled: make('test', { companyEnabled: false }),
  };
  return { keys, authenticate: async (keyHash) => known.get(keyHash) };
};

const tokenSecret = randomBytes(32).toString('hex');
const sealingKey = randomBytes(32);
const sealingKeys: SealingKeys = {
  forSealing: async () => ({ generation: 'g1', key: sealingKey }),
  forOpening: async () => sealingKey,
};

const none = async (): Promise<undefined> => undefined;
const nothing = async (): Promise<never[]> => [];

/** No row was ever projected, so every read folds its stream. */
const emptyReadModel: ReadModel = {
  invoice: none,
  company: none,
  companies: nothing,
  credential: none,
  credentialById: none,
  apiSwitchedOff: async () => false,
  catalogLines: async () => new Map(),
  municipalityDemands: none,
  registryEntry: none,
  byAccessKeys: nothing,
  openWork: nothing,
  verdictsDue: nothing,
  expiredTestInvoices: nothing,
};

export const attempted = (at: Instant = START): InvoiceEvent => ({
  type: 'IssuanceAttempted',
  data: {
    attempt: 1,
    series: '1',
    number: 1,
    dpsId: `DPS${'0'.repeat(42)}`,
    digest: 'ZGlnZXN0',
    signedDpsGzip: gzipSync('<DPS/>').toString('base64'),
    attemptedAt: at,
    deadlineAt: addSeconds(at, 30),
  },
});

export const ACCESS_KEY = '3'.repeat(50);

export const authorized = (at: Instant = START): InvoiceEvent => ({
  type: 'Authorized',
  data: {
    attempt: 1,
    accessKey: ACCESS_KEY,
    nfseNumber: '1',
    authorizedAt: at,
    nfseXmlGzip: gzipSync(XML).toString('base64'),
    nfseSha256: sha256Hex(XML),
    evidence: 'response',
    at,
  },
});

export const rejected = (at: Instant = START): InvoiceEvent => ({
  type: 'IssuanceRejected',
  data: { attempt: 1, codes: ['E0120'], at },
});

export const canceled = (at: Instant = START): InvoiceEvent => ({
  type: 'CancellationConfirmed',
  data: {
    request: 1,
    eventXmlGzip: gzipSync('<evento/>').toString('base64'),
    eventSha256: '0',
    canceledAt: at,
    evidence: 'response',
    at,
  },
});

/** Id of a queued invoice. */
export const queuedInvoice = async (
  { call }: Harness,
  key: KeyName = 'test',
  body: object = issueBodyOf(),
): Promise<string> => {
  const response = await call('/v1/nfse', { key, json: body });
  const { id } = (await response.json()) as { id?: string };
  if (id === undefined) throw new Error(`the invoice was not accepted: ${response.status}`);
  return id;
};

/** Id of an authorized invoice. */
export const issuedInvoice = async (harness: Harness, mode: Mode = 'test'): Promise<string> => {
  const id = await queuedInvoice(harness, mode);
  const { now } = harness.state;
  await harness.record(id, [attempted(now), authorized(now)], mode);
  return id;
};

import type { Hono } from 'hono';
import { type DecodedEvent, decodeSealed } from '../../../src/app/event-store/codec.js';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import type { SettleCommand, SettleResult } from '../../../src/app/operator/settlement/settle-invoice.js';
import type { StoppedSeries } from '../../../src/app/operator/support/stopped-series.js';
import { createConsole } from '../../../src/console/app.js';
import type { ConsoleDeps, NoticeLine, RebuildRun } from '../../../src/console/deps.js';
import type { ConsoleEnv } from '../../../src/console/guard.js';
import { SCRIPT_ELEMENT } from '../../../src/console/script.js';
import { consoleStream, revealsStream, supportStream } from '../../../src/domain/audit/events.js';
import type { AccessKey } from '../../../src/domain/common/access-key.js';
import { invoiceStream, type StreamName } from '../../../src/domain/common/ids.js';
import type { Company } from '../../../src/domain/company/company.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { evolve } from '../../../src/domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../../src/domain/invoice/state.js';
import { replayedBody } from '../../../src/http/invoice-body.js';
import type { CertificateRefusal } from '../../../src/ports/certificate-refusals.js';
import type { ReadModel } from '../../../src/ports/read-model.js';
import type { SupportFilter, SupportRow } from '../../../src/ports/support-reads.js';
import type { StoredLookupProgress } from '../../../src/ports/work-progress.js';
import { type ParkedWork, WorkQueueUnavailable } from '../../../src/ports/work-queue.js';
import { isSimulatorsNote } from '../../../src/runtime/engines/simulator-notes.js';
import { DEMO_CNPJ, demoCompany } from '../fixture/demo.js';
import { accepted, attempted, interrupted, limits, T0 } from '../fixture/invoice.js';
import { memoryEventLog } from '../memory/event-log.js';
import { contextAt, fixedKeys, type MovableClock, movableClock } from './event-store.js';

export const HOST = '127.0.0.1:3001';

type Answer = { status: number; headers: Headers; text: string };

type Visit = {
  method?: string;
  headers?: Record<string, string>;
  /** Address that the call comes from. */
  from?: string;
};

export type ConsoleHarness = {
  app: Hono<ConsoleEnv>;
  clock: MovableClock;
  store: EventStore;
  stream: StreamName;
  /** Path of the one invoice, which is indeterminate. */
  invoice: string;
  faults: unknown[];
  settled: { command: SettleCommand; operator: string }[];
  /** Runs while a settlement asks the authorizer. */
  meanwhile(): Promise<unknown>;
  parked: ParkedWork[];
  /** Whether the rows of invoices are not there yet. */
  areRowsLate: boolean;
  /** What the rows have under an access key. */
  ofKey: { accessKey: AccessKey; stream: StreamName }[];
  /** The newest invoices; the one invoice without. */
  newest: SupportRow[] | undefined;
  /** Further invoices that every search by reference finds. */
  others: SupportRow[];
  /** Rows whose cancellation failed. */
  canceling: SupportRow[];
  /** Series that are stopped. */
  stopped: StoppedSeries[] | 'unknown';
  /** Projections whose rows are behind the log. */
  behind: string[];
  /** Whether the log says how late the rows are. */
  lag: 'known' | 'fails' | 'silent';
  notices: NoticeLine[];
  /** Whether the queue cannot be reached. */
  queueLost: boolean;
  /** Progress of the look-ups of the one invoice, by their work. */
  lookups: Map<string, StoredLookupProgress>;
  /** What the read model lists. */
  companies: Company[];
  /** What lists were narrowed to. */
  filters: SupportFilter[];
  /** The rows of the one invoice. */
  rows(): Promise<readonly SupportRow[]>;
  begun: string[];
  /** Certificates that the authorizer refuses. */
  refused: CertificateRefusal[];
  /** Whether the vault holds the certificate of the company. */
  hasCertificate: boolean;
  /** Answers that a test may change. */
  answers: { settle: SettleResult; broken: boolean; run: RebuildRun | undefined };
  visit(path: string, options?: Visit): Promise<Answer>;
  /** Opens the page, takes its form token and sends a form to `path`. */
  send(path: string, fields?: Record<string, string>, options?: Visit & { page?: string }): Promise<Answer>;
  /** Data and actors of the recorded events about support. */
  onRecord(): Promise<readonly { type: string; data: unknown; actor: string | undefined }[]>;
  /** The same of who came in and out. */
  accesses(): Promise<readonly { type: string; data: unknown; actor: string | undefined }[]>;
  /** Another process of the same service, over the same log. */
  elsewhere(path: string, headers: Record<string, string>): Promise<number>;
};

/** The console over a memory log with one indeterminate invoice, at a clock that only the test moves. */
export const consoleHarness = async (
  access: Partial<ConsoleDeps['access']> = {},
  {
    simulatedModes = [],
    companyNames = new Map([[DEMO_CNPJ, 'ESTUDIO EXEMPLO LTDA']]),
  }: Partial<Pick<ConsoleDeps, 'simulatedModes'>> & { companyNames?: ReadonlyMap<string, string> } = {},
  reference = 'pedido-1',
): Promise<ConsoleHarness> => {
  const log = memoryEventLog();
  const keys = fixedKeys();
  const store = createEventStore(log, keys);
  const clock = movableClock(T0);
  const invoiceId = invoiceIdOfReference('live', DEMO_CNPJ, reference);
  const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
  const life = [accepted({ companyId: DEMO_CNPJ, invoiceId, reference }), attempted(1, 1), interrupted];
  await store.append(stream, { kind: 'none' }, life, contextAt(T0, { mode: 'live', companyId: DEMO_CNPJ }));
  const rowsOf = async (streams: readonly StreamName[]): Promise<readonly SupportRow[]> => {
    if (!streams.includes(stream)) return [];
    const events = (await log.read(stream)).map((one) => decodeSealed(one) as DecodedEvent<InvoiceEvent>);
    return [{ stream, createdAt: T0, state: events.reduce<InvoiceState>(evolve, initialInvoice) }];
  };
  const harness = {
    faults: [] as unknown[],
    settled: [] as ConsoleHarness['settled'],
    meanwhile: async () => undefined as unknown,
    begun: [] as string[],
    refused: [] as CertificateRefusal[],
    hasCertificate: true,
    canceling: [] as SupportRow[],
    areRowsLate: false,
    ofKey: [] as ConsoleHarness['ofKey'],
    others: [] as SupportRow[],
    newest: undefined as ConsoleHarness['newest'],
    stopped: [] as StoppedSeries[] | 'unknown',
    behind: [] as string[],
    lag: 'known' as ConsoleHarness['lag'],
    notices: [] as NoticeLine[],
    queueLost: false,
    lookups: new Map<string, StoredLookupProgress>(),
    companies: [demoCompany(DEMO_CNPJ)] as Company[],
    filters: [] as SupportFilter[],
    rows: () => rowsOf([stream]),
    parked: [{ stream, kind: 'issue', messageId: 'm', reason: 'failed 31 times', parkedAt: T0 }] as ParkedWork[],
    answers: { settle: { kind: 'settled', detail: 'x' }, broken: false, run: undefined } as ConsoleHarness['answers'],
  };
  const parkedWork = (): readonly ParkedWork[] => {
    if (harness.queueLost) throw new WorkQueueUnavailable('the work queue is not reachable', 'ECONNREFUSED');
    return harness.parked;
  };
  const deps: ConsoleDeps = {
    clock,
    log,
    store,
    sealingKeys: keys,
    simulatedModes,
    version: '0',
    testRetentionSeconds: 604_800,
    isSimulatorsNote,
    access: { token: undefined, secret: () => Buffer.alloc(32, 7), hosts: [], defaultOperator: 'ana', ...access },
    readModel: {
      companies: async () => harness.companies,
      company: async (cnpj: string) => (cnpj === DEMO_CNPJ ? demoCompany(DEMO_CNPJ) : undefined),
      byAccessKeys: async () => harness.ofKey,
    } as unknown as ReadModel,
    supportReads: {
      invoices: async (streams) => (harness.areRowsLate ? [] : [...(await rowsOf(streams)), ...harness.others]),
      byDpsId: async () => [],
      byKeyBegins: async () => [],
      newest: (filter) => {
        harness.filters.push(filter);
        return harness.newest === undefined ? rowsOf([stream]) : Promise.resolve(harness.newest);
      },
      indeterminate: async () => ({ count: 1, oldest: await rowsOf([stream]) }),
      failedCancellations: async () => ({ count: harness.canceling.length, oldest: harness.canceling }),
      waitingCounts: async (most) => ({
        indeterminate: Math.min(most, 1),
        failedCancellations: Math.min(most, harness.canceling.length),
      }),
    },
    lookups: { get: async (_stream, work) => harness.lookups.get(work) },
    queue: {
      parked: async () => ({ work: parkedWork(), count: parkedWork().length }),
      isParked: async (wanted) => parkedWork().some((item) => item.stream === wanted),
      retryParked: async (wanted) => {
        const found = harness.parked.some((item) => item.stream === wanted);
        harness.parked = [];
        return found;
      },
    },
    settle: async (command, operator) => {
      harness.settled.push({ command, operator });
      await harness.meanwhile();
      return harness.answers.settle;
    },
    health: async () => {
      if (harness.answers.broken) throw new Error('the password is hunter2');
      return { roles: [], checks: [], waiting: [] };
    },
    projectionsBehind: async () => {
      if (harness.lag === 'fails') throw new Error('the log is away');
      return harness.lag === 'silent' ? await new Promise(() => undefined) : harness.behind;
    },
    notices: async () => harness.notices,
    refusedCertificates: async () => harness.refused,
    vault: { holds: async () => harness.hasCertificate },
    limits,
    companyNames: async () => companyNames,
    stoppedSeries: async () => harness.stopped,
    bodyOf: (invoice, at) => replayedBody(invoice, at, 'http://api.test'),
    downloadToken: () => 'token',
    projections: async () => [{ name: 'invoices', version: 1, generation: 1, lagSeconds: 0 }],
    rebuilds: {
      begin: (name) => harness.begun.push(name) > 0,
      refuses: async () => harness.answers.run?.state === 'refused',
      of: () => harness.answers.run,
    },
    onFault: (error) => harness.faults.push(error),
  };
  const [app, other] = [createConsole(deps), createConsole(deps)];
  const recorded = async (names: readonly StreamName[]) => {
    const streams = await Promise.all(names.map((name) => store.load(name)));
    return streams.flatMap(({ events }) =>
      events.map(({ type, data, metadata }) => ({ type, data, actor: metadata.actor })),
    );
  };
  const call = async (path: string, init: RequestInit, from = '10.0.0.1'): Promise<Answer> => {
    const bindings = { incoming: { socket: { remoteAddress: from } } };
    const response = await app.request(path, init, bindings);
    // The console's own script is the same on every page; a test of it asks for the page itself.
    const text = (await response.text()).replace(SCRIPT_ELEMENT, '');
    return { status: response.status, headers: response.headers, text };
  };
  const visit: ConsoleHarness['visit'] = (path, { method = 'GET', headers = {}, from } = {}) =>
    call(path, { method, headers: { host: HOST, 'accept-language': 'en', ...headers } }, from);
  return Object.assign(harness, {
    app,
    clock,
    store,
    stream,
    visit,
    invoice: `/console/invoices/nfse_${invoiceId}`,
    send: async (path: string, fields: Record<string, string> = {}, options: Visit & { page?: string } = {}) => {
      const { page = '/console', headers = {}, from } = options;
      const token = tokenOf((await visit(page, { headers })).text);
      const body = new URLSearchParams({ form_token: token, ...fields }).toString();
      const sent = { host: HOST, origin: `http://${HOST}`, 'content-length': String(body.length) };
      const type = { 'content-type': 'application/x-www-form-urlencoded', 'accept-language': 'en' };
      return await call(path, { method: 'POST', body, headers: { ...sent, ...type, ...headers } }, from);
    },
    onRecord: () => recorded([revealsStream, supportStream]),
    accesses: () => recorded([consoleStream]),
    elsewhere: async (path: string, headers: Record<string, string>) =>
      (await other.request(path, { headers: { host: HOST, ...headers } })).status,
  });
};

export const tokenOf = (text: string): string => /name="form_token" value="([\w-]+)"/.exec(text)?.[1] ?? '';

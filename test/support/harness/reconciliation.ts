import { randomUUID } from 'node:crypto';
import { createAuthorizer } from '../../../src/adapters/authorizer/client.js';
import { createDistribution } from '../../../src/adapters/authorizer/distribution.js';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { workOnCancellation } from '../../../src/app/issuing/cancellation.js';
import type { IssuerDeps, IssuerNotice, Next } from '../../../src/app/issuing/deps.js';
import { workOnIssue } from '../../../src/app/issuing/note.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import type {
  ComparisonResult,
  ReconciliationDeps,
  ReconciliationSettings,
} from '../../../src/app/reconciliation/compare-invoice.js';
import { type DistributionDeps, distributionStep } from '../../../src/app/reconciliation/follow-distribution.js';
import { reconcileStep } from '../../../src/app/reconciliation/reconcile-step.js';
import { type CompanyId, invoiceStream, type Mode, type StreamName } from '../../../src/domain/common/ids.js';
import { brasiliaDate } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { invoiceStatus } from '../../../src/domain/invoice/status.js';
import type { Caller } from '../../../src/ports/authorizer.js';
import type {
  DistributionAnswer,
  DistributionProgress,
  DistributionProgressStore,
  DueQueue,
} from '../../../src/ports/distribution.js';
import type { ReconciliationProgress, ReconciliationProgressStore } from '../../../src/ports/reconciliation.js';
import { byMode } from '../../../src/runtime/engines/authorizers.js';
import { classification } from '../../../src/tables/catalogue.js';
import { DEMO_CNPJ, demoCompany } from '../fixture/demo.js';
import { accepted, cancelRequested, imported, limits } from '../fixture/invoice.js';
import { memoryEventLog } from '../memory/event-log.js';
import { createMemoryGuards } from '../memory/guards.js';
import {
  appendTo,
  certificateBreaker,
  fixedKeys,
  type MovableClock,
  movableClock,
  openBreaker,
} from './event-store.js';
import { openSimulatorHarness, type SimulatorHarness } from './simulator.js';

export const SETTINGS: ReconciliationSettings = {
  samplePercent: 100,
  roundSeconds: 86_400,
  settledSeconds: 3_600,
  reachSeconds: 60 * 86_400,
};

/** The answer to a look-up under a certificate that the authorizer's web server refuses by a page. */
export const REFUSED = { kind: 'inconclusive', reason: 'no_json_403', certificateRefused: true } as const;

/** How far the queues of the ADN were read, in memory. */
export const memoryDistributionProgress = (companies: readonly CompanyId[]): DistributionProgressStore => {
  const kept = new Map<string, string>();
  const keyOf = ({ mode, companyId }: Caller): string => `${mode} ${companyId}`;
  return {
    all: async (mode) =>
      new Map(
        [...kept]
          .filter(([key]) => key.startsWith(mode))
          .map(([key, text]) => [key.slice(mode.length + 1), JSON.parse(text) as DistributionProgress]),
      ),
    due: async (mode, now, furthest) => {
      const queues = companies.map((companyId) => {
        const text = kept.get(keyOf({ mode, companyId }));
        return { companyId, progress: text === undefined ? undefined : (JSON.parse(text) as DistributionProgress) };
      });
      const dueAt = ({ progress }: DueQueue): string => progress?.dueAt ?? '';
      return queues
        .filter((one) => dueAt(one) <= now || dueAt(one) > furthest)
        .sort((a, b) => (dueAt(a) < dueAt(b) ? -1 : 1))[0];
    },
    oldestReading: async (mode) => {
      const found = companies.flatMap((companyId) => kept.get(keyOf({ mode, companyId })) ?? []);
      const [askedAt] = found.map((text) => (JSON.parse(text) as DistributionProgress).askedAt).sort();
      return { neverAsked: companies.length - found.length, ...(askedAt === undefined ? {} : { askedAt }) };
    },
    save: async (caller, progress) => void kept.set(keyOf(caller), JSON.stringify(progress)),
  };
};

export type ReconciliationHarness = {
  simulator: SimulatorHarness;
  clock: MovableClock;
  deps: DistributionDeps;
  /** Answers of the ADN. */
  answers: DistributionAnswer['kind'][];
  streams: StreamName[];
  looks: ComparisonResult[];
  notices: IssuerNotice[];
  /** Of `onDifference`, those that were new. */
  reported: string[];
  /** Accepts an invoice and takes it as far as it goes, through the real client to the simulator. */
  issue(mode?: Mode): Promise<StreamName>;
  /** Issues a note, whose invoice is then an imported one: another stream has its access key. */
  importNote(state?: 'issued' | 'canceled' | 'replaced'): Promise<StreamName>;
  cancel(stream: StreamName): Promise<void>;
  record(stream: StreamName, ...events: InvoiceEvent[]): Promise<void>;
  events(stream: StreamName): Promise<readonly InvoiceEvent[]>;
  status(stream: StreamName): Promise<string>;
  accessKey(stream: StreamName): Promise<string>;
  /** `kind` of every difference on the stream. */
  differences(stream: StreamName): Promise<readonly string[]>;
  /** Runs the reconciliation until nothing is left to do, including the second look-ups. */
  walkToTheEnd(mode?: Mode, deps?: ReconciliationDeps): Promise<void>;
  /** Follows the queues of the ADN until nothing is due. */
  followToTheEnd(deps?: DistributionDeps): Promise<void>;
  close(): Promise<void>;
};

/** The list of invoices as the read model would have it, and the cursor of the reconciliation, in memory. */
export const memoryProgressStore = (
  rowsOf: (mode: Mode) => Promise<Awaited<ReturnType<ReconciliationProgressStore['page']>>>,
): ReconciliationProgressStore => {
  const places = new Map<Mode, string>();
  return {
    read: async (mode) => {
      const walk = places.get(mode);
      return walk === undefined ? undefined : (JSON.parse(walk) as ReconciliationProgress);
    },
    save: async (mode, walk) => void places.set(mode, JSON.stringify(walk)),
    page: async (mode, after, limit) => {
      const rows = [...(await rowsOf(mode))].sort((a, b) => (a.stream < b.stream ? -1 : 1));
      return rows.filter(({ stream }) => after === null || stream > after).slice(0, limit);
    },
  };
};

/** The protocol and the walk over a memory log and a simulator with a ledger; one clock for all, which only the test moves. */
export const openReconciliationHarness = async (): Promise<ReconciliationHarness> => {
  const simulator = await openSimulatorHarness({
    tables: {
      serviceCode: () => ({ description: 'Serviço' }),
      nbs: () => ({ description: 'Serviço' }),
      municipality: () => ({ name: 'Rio de Janeiro', uf: 'RJ' }),
      isForeignCountry: () => true,
      classification,
    },
  });
  const clock = movableClock(simulator.clock.at);
  simulator.clock.now = clock.now;
  const store = createEventStore(memoryEventLog(), fixedKeys());
  const certificate = {
    ...simulator.identity,
    certificateId: 'c',
    chainPem: [],
    fingerprint: 'f',
    cnpj: DEMO_CNPJ,
    notBefore: simulator.clock.at,
    notAfter: '2036-01-01T00:00:00.000Z',
  };
  const clientOf = (mode: Mode) =>
    createAuthorizer({
      address: simulator.simulator.urls[mode],
      trustRootsPem: [simulator.simulator.caPem],
      connectTimeoutMs: 10_000,
      timeoutMs: 10_000,
      now: clock.now,
      certificateOf: async () => certificate,
    });
  const clients = { live: clientOf('live'), test: clientOf('test') };
  const authorizer = byMode(clients);
  const issuer: IssuerDeps = {
    store,
    clock,
    limits,
    authorizer,
    breaker: openBreaker(clock),
    certificates: certificateBreaker(clock),
    signer: createDocumentSigner(),
    lookups: createMemoryGuards().lookups,
    company: async () => demoCompany(DEMO_CNPJ),
    identityOf: async () => certificate,
    currencyCode: () => undefined,
    actor: 'worker:issuer',
    notify: () => undefined,
  };
  const streams: StreamName[] = [];
  const looks: ComparisonResult[] = [];
  const reported: string[] = [];
  const notices: IssuerNotice[] = [];
  const rowsOf = (mode: Mode) =>
    Promise.all(
      streams
        .filter((stream) => stream.startsWith(mode === 'live' ? 'nfseLive' : 'nfseTest'))
        .map(async (stream) => {
          const { state } = await loadInvoice(stream, store);
          const invoice = state.kind === 'invoice' ? state : undefined;
          const isSampled = invoice?.outcome.status === 'issued' && invoice.cancellation?.status !== 'failed';
          return { stream, createdAt: invoice?.facts.createdAt, isSampled };
        }),
    );
  const distribution = createDistribution({
    address: simulator.simulator.urls.live.replace(/[^/]*$/, 'contribuintes'),
    trustRootsPem: [simulator.simulator.caPem],
    timeoutMs: 10_000,
    now: clock.now,
    certificateOf: async () => certificate,
  });
  const answers: DistributionAnswer['kind'][] = [];
  const deps: DistributionDeps = {
    store,
    clock,
    limits: issuer.limits,
    authorizer,
    actor: 'timer:reconciliation',
    notify: (notice) => void notices.push(notice),
    progressStore: memoryProgressStore(rowsOf),
    settings: SETTINGS,
    onComparison: (_mode, result) => void looks.push(result),
    onDifference: async (stream, { kind, isNew }) => {
      if (isNew) reported.push(`${stream} ${kind}`);
    },
    distribution,
    distributionProgress: memoryDistributionProgress([DEMO_CNPJ]),
    readModel: {
      byAccessKeys: async (keys) => {
        const states = await Promise.all(
          streams.map(async (stream) => ({ stream, state: (await loadInvoice(stream, store)).state })),
        );
        return states.flatMap(({ stream, state }) => {
          const key =
            state.kind === 'invoice' && state.outcome.status === 'issued' ? state.outcome.accessKey : undefined;
          return key !== undefined && keys.includes(key) ? [{ accessKey: key, stream }] : [];
        });
      },
    },
    everySeconds: 3_600,
    onDistribution: (_mode, { kind }) => void answers.push(kind),
  };
  const toTheEnd = async (look: () => Promise<Next>): Promise<void> => {
    for (let next = await look(); next.kind !== 'done'; next = await look()) {
      if (next.kind === 'unknown') throw new Error('the log does not have the invoice');
      if (next.kind === 'park') throw new Error(next.reason);
      clock.moveTo(next.at);
    }
  };
  // No key is destroyed here, so every personal field is there.
  const events = async (stream: StreamName): Promise<readonly InvoiceEvent[]> =>
    (await loadInvoice(stream, store)).events as readonly InvoiceEvent[];
  const invoiceOf = async (stream: StreamName) => {
    const { state } = await loadInvoice(stream, store);
    if (state.kind !== 'invoice') throw new Error('the stream holds no invoice');
    return state;
  };
  const accessKeyOf = async (stream: StreamName): Promise<string> => {
    const { outcome } = await invoiceOf(stream);
    if (outcome.status !== 'issued' || outcome.accessKey === undefined) throw new Error('not issued');
    return outcome.accessKey;
  };
  const issue = async (mode: Mode = 'live'): Promise<StreamName> => {
    const invoiceId = randomUUID();
    const stream = invoiceStream(mode, DEMO_CNPJ, invoiceId);
    const amountInCents = 100_000 + streams.length;
    const event = accepted({
      mode,
      invoiceId,
      amountInCents,
      acceptedAt: clock.now(),
      competence: brasiliaDate(clock.now()),
    });
    await appendTo(store, stream, [event], clock.now());
    streams.push(stream);
    await toTheEnd(() => workOnIssue(stream, issuer));
    return stream;
  };
  return {
    simulator,
    clock,
    deps,
    answers,
    streams,
    looks,
    reported,
    notices,
    events,
    issue,
    importNote: async (state = 'issued') => {
      const own = await issue();
      const [invoiceId, createdAt] = [randomUUID(), clock.now()];
      const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
      const accessKey = await accessKeyOf(own);
      const event = imported({ companyId: DEMO_CNPJ, invoiceId, accessKey, state, createdAt, importedAt: createdAt });
      await appendTo(store, stream, [event], createdAt);
      streams.splice(streams.indexOf(own), 1, stream);
      return stream;
    },
    cancel: async (stream) => {
      const requested = cancelRequested(0);
      if (requested.type !== 'CancellationRequested') throw new Error('not a request');
      const event = { ...requested, data: { ...requested.data, requestedAt: clock.now() } };
      await appendTo(store, stream, [event], clock.now());
      await toTheEnd(() => workOnCancellation(stream, issuer));
    },
    record: (stream, ...more) => appendTo(store, stream, more, clock.now()),
    status: async (stream) => invoiceStatus(await invoiceOf(stream)),
    accessKey: accessKeyOf,
    differences: async (stream) =>
      (await events(stream)).flatMap((event) =>
        event.type === 'ReconciliationDifferenceFound' ? [event.data.kind] : [],
      ),
    walkToTheEnd: async (mode = 'live', own = deps) => {
      for (let steps = 0; steps < 5_000; steps += 1) {
        if ((await reconcileStep(mode, own)) !== 'nothing to do') continue;
        const walk = await own.progressStore.read(mode);
        if (walk?.endedAt !== undefined && walk.firstAbsences.length === 0) return;
        clock.pass(30);
      }
      throw new Error('the walk does not end');
    },
    followToTheEnd: async (own = deps) => {
      for (let steps = 0; steps < 5_000; steps += 1)
        if ((await distributionStep('live', own)) === 'nothing to do') return;
      throw new Error('following does not end');
    },
    close: async () => {
      clients.live.close();
      clients.test.close();
      distribution.close();
      await simulator.close();
    },
  };
};

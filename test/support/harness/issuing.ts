import { gunzipSync } from 'node:zlib';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { workOnCancellation } from '../../../src/app/issuing/cancellation.js';
import type { IssuerDeps, IssuerNotice, Next } from '../../../src/app/issuing/deps.js';
import { workOnIssue } from '../../../src/app/issuing/note.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import { invoiceStream, type Mode, type StreamName } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent, InvoiceEventData, ReadInvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { Invoice } from '../../../src/domain/invoice/state.js';
import { invoiceStatus } from '../../../src/domain/invoice/status.js';
import type { DocumentSigner, SignedDocument } from '../../../src/ports/documents.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import { DEMO_CNPJ, demoCompany } from '../fixture/demo.js';
import { accepted, limits, T0 } from '../fixture/invoice.js';
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
import { digestOf, type FakeAuthorizer, fakeAuthorizer, markOf } from './fake-authorizer.js';

export type IssuingHarness = {
  log: EventLog;
  store: EventStore;
  clock: MovableClock;
  authorizer: FakeAuthorizer;
  notices: IssuerNotice[];
  deps: IssuerDeps;
  stream: StreamName;
  /** One look, as one delivery of the queue. */
  issue(): Promise<Next>;
  cancel(): Promise<Next>;
  /** Looks again whenever the protocol asks for it, until nothing is left to do. */
  issueToTheEnd(): Promise<void>;
  cancelToTheEnd(): Promise<void>;
  record(...events: InvoiceEvent[]): Promise<void>;
  events(): Promise<readonly ReadInvoiceEvent[]>;
  types(): Promise<readonly string[]>;
  invoice(): Promise<Invoice>;
  status(): Promise<string>;
};

/** Bytes and digest depend on the document alone, as they do with the real signature of one certificate. */
export const signFakely = (unsigned: string): SignedDocument => {
  const bytes = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${unsigned}`, 'utf8');
  return { bytes, digest: digestOf(bytes), signatureMark: markOf(bytes) };
};

const signDocument = async (unsigned: string): Promise<SignedDocument> => signFakely(unsigned);

export const fakeSigner: DocumentSigner = {
  signDps: signDocument,
  signPedRegEvento: signDocument,
  renew: async () => undefined,
};

/** The protocol over a memory log with one accepted invoice, at a clock that only the test moves. */
export const issuingHarness = async (
  mode: Mode = 'live',
  overrides: Partial<IssuerDeps> = {},
  facts: Partial<InvoiceEventData<'InvoiceAccepted'>> = {},
): Promise<IssuingHarness> => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  const clock = movableClock(facts.acceptedAt ?? T0);
  const authorizer = fakeAuthorizer();
  const certificates = certificateBreaker(clock);
  const notices: IssuerNotice[] = [];
  const event = accepted({ mode, ...facts });
  if (event.type !== 'InvoiceAccepted') throw new Error('not an acceptance');
  const stream = invoiceStream(mode, DEMO_CNPJ, event.data.invoiceId);
  const deps: IssuerDeps = {
    store,
    authorizer: certificates.watch(authorizer),
    certificates,
    breaker: openBreaker(clock),
    signer: fakeSigner,
    lookups: createMemoryGuards().lookups,
    clock,
    limits,
    company: async () => demoCompany(DEMO_CNPJ),
    identityOf: async () => ({ privateKeyPem: 'key', certificatePem: 'certificate' }),
    currencyCode: () => undefined,
    actor: 'worker:issuer',
    notify: (notice) => notices.push(notice),
    ...overrides,
  };
  const events = async (): Promise<readonly ReadInvoiceEvent[]> => (await loadInvoice(stream, store)).events;
  const invoice = async (): Promise<Invoice> => {
    const { state } = await loadInvoice(stream, store);
    if (state.kind !== 'invoice') throw new Error('the stream holds no invoice');
    return state;
  };
  const toTheEnd = async (look: () => Promise<Next>): Promise<void> => {
    for (let looks = 0; looks < 300; looks += 1) {
      const next = await look();
      if (next.kind === 'done') return;
      if (next.kind === 'unknown') throw new Error('the log does not have the invoice');
      if (next.kind === 'park') throw new Error(next.reason);
      clock.moveTo(next.at);
    }
    throw new Error('the protocol does not end');
  };
  const issue = (): Promise<Next> => workOnIssue(stream, deps);
  const cancel = (): Promise<Next> => workOnCancellation(stream, deps);
  const record = (...more: InvoiceEvent[]): Promise<void> => appendTo(store, stream, more, clock.now());
  await record(event);
  return {
    log,
    store,
    clock,
    authorizer,
    notices,
    deps,
    stream,
    issue,
    cancel,
    record,
    events,
    invoice,
    issueToTheEnd: () => toTheEnd(issue),
    cancelToTheEnd: () => toTheEnd(cancel),
    types: async () => (await events()).map(({ type }) => type),
    status: async () => invoiceStatus(await invoice()),
  };
};

/** The signed bytes of every attempt on the stream, in order. */
export const recordedDocuments = (events: readonly ReadInvoiceEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'IssuanceAttempted' && event.data.signedDpsGzip !== undefined
      ? [gunzipSync(Buffer.from(event.data.signedDpsGzip, 'base64')).toString('utf8')]
      : [],
  );

import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import type { RecoveryDeps } from '../../../src/app/recovery/ask-series.js';
import type { RecoveryReport } from '../../../src/app/recovery/recover-log.js';
import { logRecoveryChecks } from '../../../src/cli/commands/recovery-checks.js';
import { companyStream, dpsStream, invoiceStream, type Mode, type StreamName } from '../../../src/domain/common/ids.js';
import { decimalFromCents } from '../../../src/domain/common/money.js';
import type { Registration } from '../../../src/domain/company/events.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import type { DpsNumberEvent } from '../../../src/domain/dps-number/events.js';
import type { InvoiceEvent, InvoiceEventData } from '../../../src/domain/invoice/events.js';
import type { AuthorizedNote, Authorizer } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ, demoCompany } from '../fixture/demo.js';
import { accepted, at, limits, T0 } from '../fixture/invoice.js';
import { memoryEventLog } from '../memory/event-log.js';
import { appendTo, fixedKeys, type MovableClock, movableClock } from './event-store.js';
import { digestOf, type FakeAuthorizer, fakeAuthorizer, noteFor } from './fake-authorizer.js';
import { fakeSigner, signFakely } from './issuing.js';

export type RecoveryHarness = {
  deps: RecoveryDeps;
  clock: MovableClock;
  /** Each environment has its own. */
  ledgers: Record<Mode, FakeAuthorizer>;
  /** An invoice that the log knows; `n` tells them apart. */
  accept(n: number, mode?: Mode, ...more: InvoiceEvent[]): Promise<StreamName>;
  /** The log gave these numbers; the invoice of the last one is `n`. */
  numbers(mode: Mode, ...events: DpsNumberEvent[]): Promise<void>;
  /** The series gave this number to invoice `n` at this instant, and has stopped, because a note was there already. */
  stop(n: number, number: number, when: string): Promise<void>;
  /** As the events that the log has lost did: invoice `n` is a note at the authorizer under this number. */
  register(n: number, number: number, mode?: Mode, place?: { series?: string; municipality?: string }): AuthorizedNote;
  /** The company file of the demo company, with these changes. */
  putFile(changes: Partial<Registration>): Promise<void>;
  lastNumber(mode?: Mode): Promise<DpsNumberEvent | undefined>;
  status(stream: StreamName): Promise<string>;
};

export const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const acceptance = (n: number, mode: Mode): InvoiceEventData<'InvoiceAccepted'> => {
  const event = accepted({ mode, invoiceId: idOf(n), description: `Pedido ${n}`, reference: `pedido-${n}` });
  if (event.type !== 'InvoiceAccepted') throw new Error('not an acceptance');
  return event.data;
};

/** A restored log with one company, and the authorizer with the later notes. */
export const recoveryHarness = async (overrides: Partial<RecoveryDeps> = {}): Promise<RecoveryHarness> => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  const clock = movableClock(T0);
  const ledgers = { live: fakeAuthorizer(), test: fakeAuthorizer() };
  const authorizer: Authorizer = {
    ...ledgers.live,
    findByDps: (caller, dpsId) => ledgers[caller.mode].findByDps(caller, dpsId),
  };
  const { registration, certificate } = demoCompany(DEMO_CNPJ);
  await appendTo(store, companyStream(DEMO_CNPJ), [{ type: 'CompanyRegistered', data: { registration, at: T0 } }], T0);
  if (certificate !== undefined)
    await appendTo(
      store,
      companyStream(DEMO_CNPJ),
      [{ type: 'CertificateStored', data: { ...certificate, at: T0 } }],
      T0,
    );
  const deps: RecoveryDeps = {
    log,
    store,
    authorizer,
    signer: fakeSigner,
    clock,
    databaseNow: async () => clock.now(),
    limits,
    actor: 'support:maria',
    span: 5,
    // An hour before: the deadlines of all sends that the log has lost are over.
    lostBefore: at(-3_600),
    identityOf: async () => ({ privateKeyPem: 'key', certificatePem: 'certificate' }),
    currencyCode: () => undefined,
    municipalityOf: () => '3304557',
    byAccessKeys: async () => [],
    companyRows: async () => [],
    heldNumbers: async () => [],
    named: [],
    modesWithoutLedger: [],
    withoutAuthorizer: [],
    withoutCompanies: [],
    isForSimulator: async () => false,
    waitUntil: async (until) => clock.moveTo(until),
    onProgress: () => undefined,
    ...overrides,
  };
  return {
    deps,
    clock,
    ledgers,
    accept: async (n, mode = 'live', ...more) => {
      const stream = invoiceStream(mode, DEMO_CNPJ, idOf(n));
      await appendTo(store, stream, [{ type: 'InvoiceAccepted', data: acceptance(n, mode) }, ...more], clock.now());
      return stream;
    },
    numbers: (mode, ...events) => appendTo(store, dpsStream(mode, DEMO_CNPJ, '1'), events, clock.now()),
    stop: (n, number, when) => {
      const given = { invoiceId: idOf(n), number, nextNumber: number + 1, at: when };
      const events: DpsNumberEvent[] = [
        { type: 'DpsNumberAllocated', data: given },
        { type: 'DpsSeriesBlocked', data: { ...given, at: at(26) } },
      ];
      return appendTo(store, dpsStream('live', DEMO_CNPJ, '1'), events, clock.now());
    },
    putFile: (changes) =>
      appendTo(
        store,
        companyStream(DEMO_CNPJ),
        [{ type: 'CompanyChanged', data: { registration: { ...registration, ...changes }, at: T0 } }],
        clock.now(),
      ),
    register: (n, number, mode = 'live', { series = '1', municipality = '3304557' } = {}) => {
      const made = acceptance(n, mode);
      const data = { ...made, issuer: { ...made.issuer, municipality } };
      const dps = buildDps({ mode, series, number, accepted: data, currencyCode: () => undefined });
      const { bytes } = signFakely(dps.xml);
      const content = {
        amount: decimalFromCents(data.amountInCents),
        description: data.description,
        customerDocument: data.customer?.type === 'br' ? (data.customer.document ?? '') : '',
      };
      const note = {
        ...noteFor(bytes, ledgers[mode].notes.length + 1),
        dpsId: dps.id,
        digest: digestOf(bytes),
        content,
      };
      ledgers[mode].notes.push(note);
      return note;
    },
    lastNumber: async (mode = 'live') => {
      const { events } = await store.load<DpsNumberEvent>(dpsStream(mode, DEMO_CNPJ, '1'), {
        direction: 'backwards',
        limit: 1,
      });
      return events[0];
    },
    status: async (stream) => {
      const { state } = await loadInvoice(stream, store);
      return state.kind === 'invoice' ? state.outcome.status : state.kind;
    },
  };
};

/** What `nfse doctor --reconcile` says of the note without an invoice. */
export const lineOf = (report: RecoveryReport): { detail: string; cure: string } => {
  const checks = logRecoveryChecks({ kind: 'compared', resumed: false, ...report });
  const { detail = '', cure = '' } = checks.find(({ name }) => name.startsWith('note without invoice')) ?? {};
  return { detail, cure };
};

import { generateKeyPairSync, sign } from 'node:crypto';
import { anchorLog } from '../../../src/app/audit/anchor-log.js';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { invoiceIdOfReference, sha256Hex } from '../../../src/app/event-store/hashes.js';
import { companyStream, dpsStream, invoiceStream, type Mode, type StreamName } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { hashText } from '../../../src/domain/log/hash-text.js';
import { ALL_STREAMS } from '../../../src/domain/log/stream-prefixes.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { EventLog, LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';
import type { ExportSigner } from '../../../src/ports/export-signer.js';
import { COMPANY, keyCreated, registration } from '../fixture/histories.js';
import * as life from '../fixture/invoice.js';
import { memoryEventLog } from '../memory/event-log.js';
import { appendTo, fixedKeys, type MovableClock, movableClock } from './event-store.js';

export type AuditHarness = {
  log: EventLog;
  store: EventStore;
  clock: MovableClock;
  /** Of the n-th invoice. */
  streamOf(n: number, mode?: Mode): StreamName;
  accept(n: number, mode?: Mode): Promise<void>;
  /** Allocates a DPS number when there is an attempt, and records these events behind the acceptance. */
  record(n: number, events: readonly InvoiceEvent[], mode?: Mode): Promise<void>;
  issue(n: number, mode?: Mode): Promise<void>;
  anchor(): Promise<void>;
  all(): Promise<readonly RecordedEvent[]>;
};

const referenceOf = (n: number): string => `pedido-${n}`;
const idOf = (n: number, mode: Mode): string => invoiceIdOfReference(mode, COMPANY, referenceOf(n));

/** Number, DPS id and access key of the n-th invoice in place of the fixtures'. */
const ofInvoice = (event: InvoiceEvent, n: number, number: number): InvoiceEvent => {
  const dpsId = `DPS330455721234567800019500001${String(number).padStart(15, '0')}`;
  if (event.type === 'IssuanceAttempted' && event.data.dpsId === life.DPS_ID)
    return { ...event, data: { ...event.data, number, dpsId } };
  if (event.type === 'IssuanceProvenAbsent') return { ...event, data: { ...event.data, dpsId } };
  const accessKey = String(n).padStart(50, '4');
  if (event.type === 'CancellationAttempted')
    return { ...event, data: { ...event.data, requestId: `PRE${accessKey}101101` } };
  return event.type === 'Authorized' ? { ...event, data: { ...event.data, accessKey } } : event;
};

export const emptyAuditHarness = (): AuditHarness => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  const clock = movableClock(life.T0);
  const next = { live: 1, test: 1 };
  const streamOf = (n: number, mode: Mode = 'live'): StreamName => invoiceStream(mode, COMPANY, idOf(n, mode));
  const append = async (stream: StreamName, ...events: Parameters<typeof appendTo>[2]): Promise<void> => {
    for (const event of events) await appendTo(store, stream, [event], clock.now());
  };
  const harness: AuditHarness = {
    log,
    store,
    clock,
    streamOf,
    accept: async (n, mode = 'live') => {
      if ((await log.read(companyStream(COMPANY), { limit: 1 })).length === 0) await registerCompany(harness);
      await append(
        streamOf(n, mode),
        life.accepted({ mode, companyId: COMPANY, invoiceId: idOf(n, mode), reference: referenceOf(n) }),
      );
    },
    record: async (n, events, mode = 'live') => {
      const at = clock.now();
      const number = next[mode];
      if (events.some(({ type }) => type === 'IssuanceAttempted')) {
        next[mode] += 1;
        const allocated = { number, nextNumber: number + 1, invoiceId: idOf(n, mode), at };
        await append(dpsStream(mode, COMPANY, '1'), { type: 'DpsNumberAllocated', data: allocated });
      }
      await append(streamOf(n, mode), ...events.map((event) => ofInvoice(event, n, number)));
    },
    issue: async (n, mode) => {
      await harness.accept(n, mode);
      await harness.record(n, [life.attempted(1, 1), life.authorized(1, 2)], mode);
    },
    anchor: async () => {
      await anchorLog({ log, store, clock, actor: 'timer:anchorer' });
    },
    all: () => log.readAll({ prefixes: ALL_STREAMS, after: null, limit: Number.MAX_SAFE_INTEGER }),
  };
  return harness;
};

export const registerCompany = async (
  { store, clock }: Pick<AuditHarness, 'store'> & { clock: Clock },
  companyId = COMPANY,
): Promise<void> => {
  const registered = { registration: { ...registration, cnpj: companyId }, at: clock.now() };
  await appendTo(store, companyStream(companyId), [{ type: 'CompanyRegistered', data: registered }], clock.now());
};

/** Companies, invoices of every end, test invoices that vanished, and an anchor on each of two days. */
export const auditHarness = async (): Promise<AuditHarness> => {
  const harness = emptyAuditHarness();
  const { store, clock } = harness;
  const operate = async (stream: StreamName, events: Parameters<typeof appendTo>[2]): Promise<void> => {
    for (const event of events) await appendTo(store, stream, [event], clock.now());
  };
  await registerCompany(harness);
  await operate(companyStream(COMPANY), [keyCreated('key_1'), { type: 'CompanyEnabled', data: { at: clock.now() } }]);
  await harness.issue(1);
  await harness.issue(2, 'test');
  await harness.accept(3);
  await harness.record(3, [life.attempted(1, 1), life.notSent(1, 2), life.attempted(2, 3), life.authorized(2, 4)]);
  await harness.issue(4);
  await harness.record(4, [life.cancelRequested(10), life.cancelAttempted(1, 11), life.cancelConfirmed(12)]);
  await harness.anchor();
  clock.pass(86_400);
  await harness.accept(5);
  await harness.record(5, [life.attempted(1, 1), life.rejected(1, 2)]);
  await harness.accept(6);
  await harness.record(6, [life.attempted(1, 1), life.unknown(1, 3), life.interrupted]);
  await harness.issue(7, 'test');
  await endTestInvoice(harness, 7, 'cut');
  await harness.anchor();
  clock.pass(86_400);
  await endTestInvoice(harness, 2, 'cut');
  await harness.issue(8, 'test');
  await endTestInvoice(harness, 8, 'whole');
  await harness.issue(9);
  return harness;
};

export const endTestInvoice = async (harness: AuditHarness, n: number, how: 'cut' | 'whole'): Promise<void> => {
  const stream = harness.streamOf(n, 'test');
  const [last] = await harness.log.read(stream, { direction: 'backwards', limit: 1 });
  const data = { lastHash: last?.metadata.hash ?? '', deletedAt: harness.clock.now() };
  await appendTo(harness.store, stream, [{ type: 'TestInvoiceDeleted', data }], harness.clock.now());
  if (how === 'cut') await harness.log.cut(stream, (last?.revision ?? 0) + 1);
};

/** A log of exactly these events, as a person with write access to the database could leave it. */
export const logOf = (events: readonly RecordedEvent[]): Pick<EventLog, 'readAll' | 'head'> => ({
  head: async () =>
    events.reduce<LogPosition | null>(
      (last, { position }) => (last === null || position > last ? position : last),
      null,
    ),
  readAll: async ({ after, limit }) => {
    const from = after === null ? 0 : events.findIndex(({ position }) => position === after) + 1;
    return events.slice(from, from + limit);
  },
});

/** The event with other content and a hash that fits it. */
export const rehashed = (event: RecordedEvent, change: Partial<RecordedEvent>): RecordedEvent => {
  const changed = { ...event, ...change };
  const hash = sha256Hex(hashText(changed.stream, changed.revision, changed));
  return { ...changed, metadata: { ...changed.metadata, hash } };
};

/** All events of the stream from this one on, linked and hashed again, as a careful forger would do. */
export const relinked = (events: readonly RecordedEvent[], stream: StreamName): readonly RecordedEvent[] => {
  let prevHash: string | undefined;
  return events.map((event) => {
    if (event.stream !== stream) return event;
    const prev = prevHash ?? event.metadata.prevHash ?? '';
    const next = rehashed(event, { metadata: { ...event.metadata, prevHash: prev } });
    prevHash = next.metadata.hash;
    return next;
  });
};

/** A signer with a new key. */
export const testSigner = (): ExportSigner => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const der = publicKey.export({ format: 'der', type: 'spki' });
  const name = `ed25519:${der.subarray(der.length - 32).toString('base64url')}`;
  return {
    publicKey: async () => name,
    publicKeys: async () => [name],
    unopened: async () => 0,
    sign: async (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
};

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { readInline } from '../../../src/adapters/authorizer/reading.js';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { concludeCancellationIfDue } from '../../../src/app/issuing/cancellation.js';
import type { IssuerDeps } from '../../../src/app/issuing/deps.js';
import { concludeIssueIfDue } from '../../../src/app/issuing/note.js';
import { createCertificateOpener } from '../../../src/app/issuing/open-certificate.js';
import { epochMs } from '../../../src/domain/common/time.js';
import { MAX_SENDS } from '../../../src/domain/invoice/limits.js';
import { SchemaViolation } from '../../../src/ports/documents.js';
import { runIssuer } from '../../../src/workers/issuer.js';
import { cancelRequested, T0 } from '../../support/fixture/invoice.js';
import { fixedKeys } from '../../support/harness/event-store.js';
import { digestOf, noteFor, type Turn } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';
import { collectingQueue } from '../../support/harness/workers.js';

const broken = (): never => {
  throw new Error('broken');
};
const rejects = async (): Promise<never> => broken();

type Break = (harness: IssuingHarness) => Partial<IssuerDeps>;

/** The service's event store with one function replaced. */
const storeWith = ({ deps: { store } }: IssuingHarness, changes: Partial<EventStore>): EventStore => ({
  ...store,
  ...changes,
});

const vault = { open: rejects, holds: rejects, keep: rejects } as never;

const faultOf = () => undefined;

const opener: Break = ({ deps: { store, clock, company } }) => ({
  identityOf: createCertificateOpener({ vault, faultOf, store, clock, company, actor: 'worker:issuer' }),
});

const wrongKey: Break = ({ log }) => ({ store: createEventStore(log, { ...fixedKeys(), forOpening: rejects }) });
const noKeyToSeal: Break = ({ log }) => ({ store: createEventStore(log, { ...fixedKeys(), forSealing: rejects }) });

const noNumbers: Break = (harness) => ({
  store: storeWith(harness, {
    load: (stream, options) => (stream.startsWith('dps') ? rejects() : harness.store.load(stream, options)),
  }),
});

const noAppend =
  (...sites: readonly string[]): Break =>
  (harness) => ({
    store: storeWith(harness, {
      append: (stream, version, events, context) =>
        sites.includes(context.site) ? rejects() : harness.store.append(stream, version, events, context),
    }),
  });

/** The recorded document of the attempt cannot be unpacked. */
const badBytes: Break = (harness) => ({
  store: storeWith(harness, {
    load: async (stream, options) => {
      const loaded = await harness.store.load(stream, options);
      const events = loaded.events.map((event) =>
        event.type === 'IssuanceAttempted' ? { ...event, data: { ...event.data, signedDpsGzip: 'AAAA' } } : event,
      );
      return { ...loaded, events } as never;
    },
  }),
});

const signer: (changes: Partial<IssuerDeps['signer']>) => Break =
  (changes) =>
  ({ deps }) => ({ signer: { ...deps.signer, ...changes } });

const authorizer: (changes: Partial<IssuerDeps['authorizer']>) => Break =
  (changes) =>
  ({ deps }) => ({ authorizer: { ...deps.authorizer, ...changes } });

const lookups: (changes: Partial<IssuerDeps['lookups']>) => Break =
  (changes) =>
  ({ deps }) => ({ lookups: { ...deps.lookups, ...changes } });

const violation = async (): Promise<never> => {
  throw new SchemaViolation('toma');
};

type Row = readonly [dependency: string, breaks: Break, before: readonly Turn[] | undefined, end: string];

/** `before`: the results of the sends before the fault; undefined without one. Look-ups are inconclusive, so time must end the invoice. */
const rows: readonly Row[] = [
  ['the company row', () => ({ company: rejects }), undefined, 'NotProcessed'],
  ['the company row, at once', () => ({ company: broken }), undefined, 'NotProcessed'],
  ['the certificate vault', opener, undefined, 'NotProcessed'],
  ['the opening of the certificate', () => ({ identityOf: rejects }), undefined, 'NotProcessed'],
  ['the signer', signer({ signDps: rejects }), undefined, 'NotProcessed'],
  ['the schema', signer({ signDps: broken }), undefined, 'NotProcessed'],
  ['a document that fits no schema', signer({ signDps: violation }), undefined, 'IssuanceFailed'],
  ['the allocation of a number', noNumbers, undefined, 'NotProcessed'],
  ['the record of a number', noAppend('allocate_number'), undefined, 'NotProcessed'],
  ['the record of the attempt', noAppend('record_issue_attempt'), undefined, 'NotProcessed'],
  [
    'the breaker',
    () => ({ breaker: { requestPermit: rejects, isAnswering: () => true, probeWithoutSend: rejects } }),
    undefined,
    'NotProcessed',
  ],
  [
    'the breaker of certificates',
    ({ deps }) => ({ certificates: { ...deps.certificates, requestPermit: rejects } }),
    undefined,
    'NotProcessed',
  ],
  ['a key to open', wrongKey, undefined, 'NotProcessed'],
  ['a key to seal', noKeyToSeal, undefined, 'NotProcessed'],
  ['the telling of operators', () => ({ notify: broken, company: async () => undefined }), undefined, 'NotProcessed'],
  ['the send', authorizer({ sendDps: rejects }), undefined, 'IssuanceInterrupted'],
  ['the record of the answer', noAppend('record_issue_outcome'), undefined, 'IssuanceInterrupted'],
  ['the renewed signature', signer({ renew: rejects }), ['not_sent'], 'IssuanceFailed'],
  ['the certificate of a resend', () => ({ identityOf: rejects }), ['not_sent'], 'IssuanceFailed'],
  ['the bytes to send again', badBytes, ['not_sent'], 'IssuanceFailed'],
  ['the record of the resend', noAppend('record_issue_attempt'), ['not_sent'], 'IssuanceFailed'],
  ['a key to open, after nothing was sent', wrongKey, ['not_sent'], 'IssuanceFailed'],
  ['the look-up', authorizer({ findByDps: rejects }), ['lost_request'], 'IssuanceInterrupted'],
  ['the look-up, at once', authorizer({ findByDps: broken }), ['lost_request'], 'IssuanceInterrupted'],
  ['the reading of the progress of look-ups', lookups({ get: rejects }), ['lost_request'], 'IssuanceInterrupted'],
  ['the writing of the progress of look-ups', lookups({ put: rejects }), ['lost_request'], 'IssuanceInterrupted'],
  ['a key to open, after a send', wrongKey, ['lost_request'], 'IssuanceInterrupted'],
  ['the telling of operators, after a send', () => ({ notify: broken }), ['lost_request'], 'IssuanceInterrupted'],
];

const MINUTE_MS = 60_000;

/** Worker and sweeper with these dependencies, as in the service, until the stream wants nothing more. */
const driveToTheEnd = async (harness: IssuingHarness, kind: 'issue' | 'cancel', isOpen: () => Promise<boolean>) => {
  const queue = collectingQueue();
  const { signal } = new AbortController();
  const counts = { pauses: [] as number[], faults: 0, parked: 0, sweepFaults: 0 };
  await runIssuer({
    queue,
    deps: harness.deps,
    concurrency: 1,
    signal,
    inTurn: (_company, task) => task(),
    isEngineFault: () => false,
    onFault: () => (counts.faults += 1),
  });
  const conclude = kind === 'issue' ? concludeIssueIfDue : concludeCancellationIfDue;
  for (let looks = 0; looks < 1_000 && (await isOpen()); looks += 1) {
    const verdict =
      counts.parked > 0
        ? ({ kind: 'retry', afterMs: MINUTE_MS } as const)
        : await queue.handler()({ kind, stream: harness.stream, messageId: 'm', deliveries: 1 });
    if (verdict.kind === 'park') counts.parked += 1;
    if (verdict.kind === 'retry') counts.pauses.push(verdict.afterMs);
    harness.clock.pass(verdict.kind === 'retry' ? Math.ceil(verdict.afterMs / 1000) : 1);
    await conclude(harness.stream, { ...harness.deps, actor: 'timer:sweeper' }).catch(() => (counts.sweepFaults += 1));
  }
  return counts;
};

const isIssuing = (harness: IssuingHarness) => async () => ['queued', 'processing'].includes(await harness.status());
const seconds = (harness: IssuingHarness): number => (epochMs(harness.clock.now()) - epochMs(T0)) / 1000;

describe.each(rows)('a fault of ours at every try: %s', (_name, breaks, before, end) => {
  it(`keeps no invoice open: ${end}`, async () => {
    const harness = await issuingHarness();
    harness.authorizer.mute = true;
    if (before !== undefined) {
      harness.authorizer.script = [...before];
      await harness.issue();
    }
    const sent = harness.authorizer.sends.length;
    Object.assign(harness.deps, breaks(harness));
    const counts = await driveToTheEnd(harness, 'issue', isIssuing(harness));
    expect((await harness.types()).at(-1)).toBe(end);
    expect(counts.sweepFaults).toBe(0);
    expect(counts.pauses.every((pause) => pause >= 10 && pause <= MINUTE_MS)).toBe(true);
    expect(seconds(harness)).toBeLessThanOrEqual((end === 'NotProcessed' ? 900 : 3_700) + 60);
    // An invoice that the client may issue again was never sent; an invoice that may have been sent is left to support.
    if (end !== 'IssuanceInterrupted') expect(harness.authorizer.sends).toHaveLength(sent);
  });
});

describe('a fault that never ends', () => {
  it('is retried after growing pauses, then parked, and the timers still end the invoice', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['not_sent'];
    await harness.issue();
    Object.assign(harness.deps, { identityOf: rejects });
    const counts = await driveToTheEnd(harness, 'issue', isIssuing(harness));
    expect(counts).toMatchObject({ faults: 31, parked: 1, sweepFaults: 0 });
    const faulty = counts.pauses.slice(1, 9);
    expect(faulty).toEqual([...faulty].sort((a, b) => a - b));
    expect(await harness.status()).toBe('failed');
  });
});

describe('a last look-up', () => {
  const unanswered = async (): Promise<IssuingHarness> => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_answer'];
    harness.authorizer.mute = true;
    await harness.issue();
    harness.authorizer.mute = false;
    harness.clock.pass(3_700);
    return harness;
  };

  it('that finds the note records it, also with the verdict due', async () => {
    const harness = await unanswered();
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('issued');
  });

  it('whose note cannot be recorded is told, and leaves the invoice to support', async () => {
    const harness = await unanswered();
    Object.assign(harness.deps, noAppend('record_issue_lookup')(harness));
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.notices.map(({ kind }) => kind)).toContain('last_look_up_failed');
  });

  it('that shows a note forbids the outcome failed, whatever is recorded of the sends', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['not_sent'];
    await harness.issue();
    const [attempt] = (await harness.invoice()).attempts;
    const note = { ...noteFor(Buffer.from(`<infDPS Id="${attempt?.dpsId}"/>`), 1), digest: attempt?.digest ?? '' };
    harness.authorizer.notes.push(note);
    harness.clock.pass(3_700);
    Object.assign(harness.deps, noAppend('record_issue_lookup')(harness));
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect((await harness.types()).at(-1)).toBe('IssuanceInterrupted');
  });

  it.each([
    ['of another content, whose series cannot be stopped', 'block_series'],
    ['of another content, which cannot be recorded', 'record_issue_lookup'],
  ])('that finds a note %s gives the verdict all the same', async (_name, site) => {
    const harness = await unanswered();
    harness.authorizer.notes = harness.authorizer.notes.map((note) => ({ ...note, digest: 'another' }));
    Object.assign(harness.deps, noAppend(site)(harness));
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('indeterminate');
  });

  it('that finds a document which contradicts itself is told, and ends in nobody knowing, not in a second number', async () => {
    const harness = await unanswered();
    harness.authorizer.notes = harness.authorizer.notes.map((note) => ({
      ...note,
      digest: '',
      contradiction: { claimed: note.digest, computed: 'another' },
    }));
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.notices.map(({ kind }) => kind)).toContain('document_altered');
    expect(await harness.types()).not.toContain('NumberConflictFound');
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('that finds ours under a signature of another day records it with a notice', async () => {
    const harness = await unanswered();
    harness.authorizer.notes = harness.authorizer.notes.map((note) => ({ ...note, signatureFault: 'algorithm' }));
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('issued');
    expect(harness.notices).toContainEqual({
      kind: 'signature_unverified',
      stream: harness.stream,
      detail: 'algorithm',
    });
  });
});

describe('a cancellation', () => {
  const cancelRows: readonly (readonly [string, Break, readonly Turn[] | undefined])[] = [
    ['the opening of the certificate', () => ({ identityOf: rejects }), undefined],
    ['the signer', signer({ signPedRegEvento: rejects }), undefined],
    ['the record of the attempt', noAppend('record_cancel_attempt'), undefined],
    ['a key to open', wrongKey, undefined],
    ['a key to seal', noKeyToSeal, undefined],
    ['the send', authorizer({ sendCancellation: rejects }), undefined],
    ['the record of the answer', noAppend('record_cancel_outcome'), undefined],
    ['the renewed signature', signer({ renew: rejects }), ['not_sent']],
    ['the look-up', authorizer({ findCancellation: rejects }), ['lost_request']],
    ['the progress of look-ups', lookups({ get: rejects, put: rejects }), ['lost_request']],
    ['a key to open, after a send', wrongKey, ['lost_request']],
  ];

  it.each(cancelRows)('always ends: %s', async (_name, breaks, before) => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(10));
    harness.authorizer.mute = true;
    if (before !== undefined) {
      harness.authorizer.script = [...before];
      await harness.cancel();
    }
    Object.assign(harness.deps, breaks(harness));
    const counts = await driveToTheEnd(
      harness,
      'cancel',
      async () => (await harness.invoice()).cancellation?.status === 'pending',
    );
    expect((await harness.types()).at(-1)).toBe('CancellationNotConfirmed');
    expect(counts.sweepFaults).toBe(0);
    expect(seconds(harness)).toBeLessThanOrEqual(3_800);
  });
});

describe('any answers', () => {
  const text = fc.oneof(
    fc.json({ maxDepth: 4 }),
    fc.string(),
    fc.constantFrom(
      '{"erros":[{"Codigo":"E0014"}]}',
      '{"erro":{"codigo":"E2404"}}',
      '{"erros":[{"Codigo":"E0316"}]}',
      `{"chaveAcesso":"${'3'.repeat(50)}"}`,
    ),
  );
  const exchange: fc.Arbitrary<Exchange> = fc.oneof(
    fc.constantFrom<Exchange>({ kind: 'not_handed', reason: 'ECONNREFUSED' }, { kind: 'broken', reason: 'ECONNRESET' }),
    fc.record({
      kind: fc.constant('answered' as const),
      status: fc.constantFrom(200, 201, 302, 400, 403, 404, 429, 500, 503),
      contentType: fc.constantFrom('application/json', 'text/html'),
      body: text.map((one) => Buffer.from(one)),
    }),
  );

  it('end every invoice by its time limit, and none as issued without a note', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 6 }), async (exchanges) => {
        const harness = await issuingHarness();
        let asked = 0;
        let sends = 0;
        const next = (): Exchange => exchanges[asked++ % exchanges.length] ?? { kind: 'broken', reason: 'none' };
        harness.deps.authorizer = {
          ...harness.authorizer,
          sendDps: (_caller, bytes) => {
            const exchange = next();
            if (exchange.kind !== 'not_handed') sends += 1;
            return readInline({ name: 'sentDps', expected: { id: 'DPS', digest: digestOf(bytes) }, exchange });
          },
          findByDps: async (_caller, dpsId) => {
            const key = await readInline({ name: 'accessKeyOfDps', expected: { dpsId }, exchange: next() });
            if (key.kind !== 'found') return key;
            return await readInline({
              name: 'note',
              expected: { accessKey: key.found, absentCodes: [] },
              exchange: next(),
            });
          },
        };
        const counts = await driveToTheEnd(harness, 'issue', isIssuing(harness));
        expect(['failed', 'indeterminate']).toContain(await harness.status());
        expect(counts).toMatchObject({ faults: 0, sweepFaults: 0 });
        expect(sends).toBeLessThanOrEqual(MAX_SENDS);
        expect(seconds(harness)).toBeLessThanOrEqual(2 * 3_600 + 200);
      }),
      { numRuns: 60 },
    );
  });
});

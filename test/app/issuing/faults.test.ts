import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { readInline } from '../../../src/adapters/authorizer/reading.js';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { concludeCancellationIfDue } from '../../../src/app/issuing/cancellation.js';
import type { IssuerDeps } from '../../../src/app/issuing/deps.js';
import { concludeIssueIfDue } from '../../../src/app/issuing/note.js';
import { createCertificateOpener } from '../../../src/app/issuing/open-certificate.js';
import { epochMs } from '../../../src/domain/shared/time.js';
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

type Break = (world: IssuingHarness) => Partial<IssuerDeps>;

/** The service's event store with one function replaced. */
const storeWith = ({ deps: { store } }: IssuingHarness, changes: Partial<EventStore>): EventStore => ({
  ...store,
  ...changes,
});

const vault = { open: rejects, holds: rejects, keep: rejects } as never;

const opener: Break = ({ deps: { store, clock, company } }) => ({
  identityOf: createCertificateOpener({ vault, store, clock, company, actor: 'worker:issuer' }),
});

const wrongKey: Break = ({ log }) => ({ store: createEventStore(log, { ...fixedKeys(), forOpening: rejects }) });
const noKeyToSeal: Break = ({ log }) => ({ store: createEventStore(log, { ...fixedKeys(), forSealing: rejects }) });

const noNumbers: Break = (world) => ({
  store: storeWith(world, {
    load: (stream, options) => (stream.startsWith('dps') ? rejects() : world.store.load(stream, options)),
  }),
});

const noAppend =
  (...sites: readonly string[]): Break =>
  (world) => ({
    store: storeWith(world, {
      append: (stream, version, events, context) =>
        sites.includes(context.site) ? rejects() : world.store.append(stream, version, events, context),
    }),
  });

/** The recorded document of the attempt cannot be unpacked. */
const badBytes: Break = (world) => ({
  store: storeWith(world, {
    load: async (stream, options) => {
      const loaded = await world.store.load(stream, options);
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
  ['a document that fits no schema', signer({ signDps: violation }), undefined, 'NotProcessed'],
  ['the allocation of a number', noNumbers, undefined, 'NotProcessed'],
  ['the record of a number', noAppend('allocate_number'), undefined, 'NotProcessed'],
  ['the record of the attempt', noAppend('record_issue_attempt'), undefined, 'NotProcessed'],
  ['the breaker', () => ({ breaker: { requestPermit: rejects, isClosed: () => true } }), undefined, 'NotProcessed'],
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
  ['the reading of the memos', lookups({ get: rejects }), ['lost_request'], 'IssuanceInterrupted'],
  ['the writing of the memos', lookups({ put: rejects }), ['lost_request'], 'IssuanceInterrupted'],
  ['a key to open, after a send', wrongKey, ['lost_request'], 'IssuanceInterrupted'],
  ['the telling of operators, after a send', () => ({ notify: broken }), ['lost_request'], 'IssuanceInterrupted'],
];

const MINUTE_MS = 60_000;

/** Worker and sweeper with these dependencies, as in the service, until the stream wants nothing more. */
const driveToTheEnd = async (world: IssuingHarness, kind: 'issue' | 'cancel', isOpen: () => Promise<boolean>) => {
  const queue = collectingQueue();
  const { signal } = new AbortController();
  const told = { pauses: [] as number[], faults: 0, parked: 0, sweepFaults: 0 };
  await runIssuer({ queue, deps: world.deps, concurrency: 1, signal, onFault: () => (told.faults += 1) });
  const conclude = kind === 'issue' ? concludeIssueIfDue : concludeCancellationIfDue;
  for (let looks = 0; looks < 1_000 && (await isOpen()); looks += 1) {
    const verdict =
      told.parked > 0
        ? ({ kind: 'retry', afterMs: MINUTE_MS } as const)
        : await queue.handler()({ kind, stream: world.stream, messageId: 'm', deliveries: 1 });
    if (verdict.kind === 'park') told.parked += 1;
    if (verdict.kind === 'retry') told.pauses.push(verdict.afterMs);
    world.clock.pass(verdict.kind === 'retry' ? Math.ceil(verdict.afterMs / 1000) : 1);
    await conclude(world.stream, { ...world.deps, actor: 'timer:sweeper' }).catch(() => (told.sweepFaults += 1));
  }
  return told;
};

const isIssuing = (world: IssuingHarness) => async () => ['queued', 'processing'].includes(await world.status());
const seconds = (world: IssuingHarness): number => (epochMs(world.clock.now()) - epochMs(T0)) / 1000;

describe.each(rows)('a fault of ours at every try: %s', (_name, breaks, before, end) => {
  it(`keeps no invoice open: ${end}`, async () => {
    const world = await issuingHarness();
    world.authorizer.mute = true;
    if (before !== undefined) {
      world.authorizer.script = [...before];
      await world.issue();
    }
    const sent = world.authorizer.sends.length;
    Object.assign(world.deps, breaks(world));
    const told = await driveToTheEnd(world, 'issue', isIssuing(world));
    expect((await world.types()).at(-1)).toBe(end);
    expect(told.sweepFaults).toBe(0);
    expect(told.pauses.every((pause) => pause >= 10 && pause <= MINUTE_MS)).toBe(true);
    expect(seconds(world)).toBeLessThanOrEqual((end === 'NotProcessed' ? 900 : 3_700) + 60);
    // An invoice that the client may issue again was never sent; an invoice that may have been sent is left to support.
    if (end !== 'IssuanceInterrupted') expect(world.authorizer.sends).toHaveLength(sent);
  });
});

describe('a fault that never ends', () => {
  it('is tried again more and more slowly, then parked, and time still ends the invoice', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['not_sent'];
    await world.issue();
    Object.assign(world.deps, { identityOf: rejects });
    const told = await driveToTheEnd(world, 'issue', isIssuing(world));
    expect(told).toMatchObject({ faults: 31, parked: 1, sweepFaults: 0 });
    const faulty = told.pauses.slice(1, 9);
    expect(faulty).toEqual([...faulty].sort((a, b) => a - b));
    expect(await world.status()).toBe('failed');
  });
});

describe('a last look-up', () => {
  const unanswered = async (): Promise<IssuingHarness> => {
    const world = await issuingHarness();
    world.authorizer.script = ['lost_answer'];
    world.authorizer.mute = true;
    await world.issue();
    world.authorizer.mute = false;
    world.clock.pass(3_700);
    return world;
  };

  it('that finds the note records it, also with the verdict due', async () => {
    const world = await unanswered();
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('issued');
  });

  it('whose note cannot be recorded is told, and leaves the invoice to support', async () => {
    const world = await unanswered();
    Object.assign(world.deps, noAppend('record_issue_lookup')(world));
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('indeterminate');
    expect(world.notices.map(({ notice }) => notice)).toContain('last_look_up_failed');
  });

  it('that shows a note denies that nothing was issued, whatever we believed of our sends', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['not_sent'];
    await world.issue();
    const [attempt] = (await world.invoice()).attempts;
    const note = { ...noteFor(Buffer.from(`<infDPS Id="${attempt?.dpsId}"/>`), 1), digest: attempt?.digest ?? '' };
    world.authorizer.notes.push(note);
    world.clock.pass(3_700);
    Object.assign(world.deps, noAppend('record_issue_lookup')(world));
    await concludeIssueIfDue(world.stream, world.deps);
    expect((await world.types()).at(-1)).toBe('IssuanceInterrupted');
  });

  it.each([
    ['of another content, whose series cannot be stopped', 'block_series'],
    ['of another content, which cannot be recorded', 'record_issue_lookup'],
  ])('that finds a note %s gives the verdict all the same', async (_name, site) => {
    const world = await unanswered();
    world.authorizer.notes = world.authorizer.notes.map((note) => ({ ...note, digest: 'another' }));
    Object.assign(world.deps, noAppend(site)(world));
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('indeterminate');
  });

  it('that finds a document which contradicts itself is told, and ends in nobody knowing, not in a second number', async () => {
    const world = await unanswered();
    world.authorizer.notes = world.authorizer.notes.map((note) => ({
      ...{ ...note, digest: '', contradiction: { claimed: note.digest, computed: 'another' } },
    }));
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('indeterminate');
    expect(world.notices.map(({ notice }) => notice)).toContain('document_altered');
    expect(await world.types()).not.toContain('NumberConflictFound');
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it('that finds ours under a signature of another day records it with an alarm', async () => {
    const world = await unanswered();
    world.authorizer.notes = world.authorizer.notes.map((note) => ({ ...note, signatureFault: 'algorithm' }));
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('issued');
    expect(world.notices).toContainEqual({ notice: 'signature_unverified', stream: world.stream, detail: 'algorithm' });
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
    ['the memos', lookups({ get: rejects, put: rejects }), ['lost_request']],
    ['a key to open, after a send', wrongKey, ['lost_request']],
  ];

  it.each(cancelRows)('always ends: %s', async (_name, breaks, before) => {
    const world = await issuingHarness();
    await world.issueToTheEnd();
    await world.record(cancelRequested(10));
    world.authorizer.mute = true;
    if (before !== undefined) {
      world.authorizer.script = [...before];
      await world.cancel();
    }
    Object.assign(world.deps, breaks(world));
    const told = await driveToTheEnd(
      world,
      'cancel',
      async () => (await world.invoice()).cancellation?.status === 'pending',
    );
    expect((await world.types()).at(-1)).toBe('CancellationNotConfirmed');
    expect(told.sweepFaults).toBe(0);
    expect(seconds(world)).toBeLessThanOrEqual(3_800);
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

  it('end every invoice by its time limit, and none in a note that is not there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 6 }), async (exchanges) => {
        const world = await issuingHarness();
        let asked = 0;
        let sends = 0;
        const next = (): Exchange => exchanges[asked++ % exchanges.length] ?? { kind: 'broken', reason: 'none' };
        world.deps.authorizer = {
          ...world.authorizer,
          sendDps: (_caller, bytes) => {
            const exchange = next();
            if (exchange.kind !== 'not_handed') sends += 1;
            return readInline({ name: 'sentDps', expected: { id: 'DPS', digest: digestOf(bytes) }, exchange });
          },
          findByDps: async () => {
            const key = await readInline({ name: 'accessKeyOfDps', expected: undefined, exchange: next() });
            if (key.kind !== 'found') return key;
            return await readInline({
              name: 'note',
              expected: { accessKey: key.found, absentCodes: [] },
              exchange: next(),
            });
          },
        };
        const told = await driveToTheEnd(world, 'issue', isIssuing(world));
        expect(['failed', 'indeterminate']).toContain(await world.status());
        expect(told).toMatchObject({ faults: 0, sweepFaults: 0 });
        expect(sends).toBeLessThanOrEqual(5 + 1);
        expect(seconds(world)).toBeLessThanOrEqual(2 * 3_600 + 200);
      }),
      { numRuns: 60 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { mayHaveSameContent } from '../../../src/app/issuing/found-documents.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { dpsStream } from '../../../src/domain/common/ids.js';
import { dpsNumbers, moveNumber } from '../../../src/domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../src/domain/dps-number/events.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { T0 } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { noteFor } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

const series = dpsStream('live', DEMO_CNPJ, '1');

/** The authorizer holds another party's note under the DPS id of the first number. */
const withForeignNote = async (content: { amount: string; description: string; customerDocument: string }) => {
  const harness = await issuingHarness();
  const id = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 1 });
  harness.authorizer.notes.push({ ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), 1), dpsId: id, content });
  return harness;
};

const lastNumbers = async (store: IssuingHarness['store']) => {
  const { events } = await store.load<DpsNumberEvent>(series, { direction: 'backwards', limit: 1 });
  return dpsNumbers(events[0], 1);
};

const move = async ({ store, clock }: IssuingHarness, nextNumber: number): Promise<void> => {
  const numbers = await lastNumbers(store);
  const moved = moveNumber(numbers, nextNumber, clock.now());
  if ('refused' in moved) throw new Error(moved.refused);
  await appendTo(store, series, moved.events, clock.now());
};

const lookUntilBlocked = async (harness: IssuingHarness): Promise<void> => {
  for (let looks = 0; looks < 20; looks += 1) {
    const next = await harness.issue();
    if (harness.notices.some(({ kind }) => kind === 'series_blocked')) return;
    if (next.kind === 'later') harness.clock.moveTo(next.at);
  }
  throw new Error('the series was never blocked');
};

describe('a foreign note under our DPS id', () => {
  it('stops the series and issues under a new number once an operator has moved it', async () => {
    const harness = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    await lookUntilBlocked(harness);
    expect(await harness.types()).toContain('NumberConflictFound');
    expect((await lastNumbers(harness.store)).blocked).toBe(true);
    expect(harness.authorizer.sends).toHaveLength(1);

    await move(harness, 50);
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect((await harness.invoice()).attempts.map(({ number }) => number)).toEqual([1, 50]);
    expect(harness.authorizer.sends).toHaveLength(2);
    expect(harness.authorizer.notes).toHaveLength(2);
  });

  it('stops the series in the same work that hears of it, and at once', async () => {
    const harness = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    await harness.issue();
    expect((await lastNumbers(harness.store)).blocked).toBe(true);
    expect(harness.clock.now()).toBe(T0);
  });

  it('is left to another process by one that stops', async () => {
    const harness = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    const { authorizer } = harness;
    const stopping = new AbortController();
    harness.deps.stopping = stopping.signal;
    harness.deps.authorizer = {
      ...authorizer,
      sendDps: (...given) => {
        stopping.abort();
        return authorizer.sendDps(...given);
      },
    };
    expect(await harness.issue()).toEqual({ kind: 'later', at: T0 });
    expect((await harness.types()).at(-1)).toBe('IssuanceOutcomeUnknown');
    expect((await lastNumbers(harness.store)).blocked).toBe(false);
  });

  it('is another sale where its amount is no number', async () => {
    const [description, customerDocument] = ['Desenvolvimento de sistema', '11111111000191'];
    const harness = await withForeignNote({ amount: '1500.0', description, customerDocument });
    await lookUntilBlocked(harness);
    expect(await harness.status()).toBe('processing');
  });

  it('stops the series before the conflict lets the invoice take another number', async () => {
    const harness = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    const { store } = harness.deps;
    const order: string[] = [];
    const append: IssuingHarness['store']['append'] = async (stream, version, events, context) => {
      order.push(...events.map(({ type }) => type));
      return await store.append(stream, version, events, context);
    };
    harness.deps.store = { ...store, append };
    await lookUntilBlocked(harness);
    const conflict = ['DpsSeriesBlocked', 'NumberConflictFound'];
    expect(order.filter((type) => conflict.includes(type))).toEqual(conflict);
  });

  it('is met and never taken by an invoice none of whose attempts was sent before', async () => {
    const harness = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    harness.authorizer.script = ['not_sent'];
    await harness.issue();
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceNotSent']);
    await lookUntilBlocked(harness);
    expect((await harness.types()).at(-1)).toBe('NumberConflictFound');
    expect(await harness.status()).toBe('processing');
  });

  it('leaves the refusal of the new number final', async () => {
    const harness = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    await lookUntilBlocked(harness);
    await move(harness, 50);
    harness.authorizer.script = [{ rejected: ['E0190'] }];
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('failed');
    expect(harness.authorizer.sends).toHaveLength(2);
  });

  it('may be our own although its lines end otherwise than those that were accepted', async () => {
    const harness = await withForeignNote({
      amount: '1500.00',
      description: 'Desenvolvimento de sistema',
      customerDocument: '11111111000191',
    });
    const [note] = harness.authorizer.notes;
    const [accepted] = await harness.events();
    if (note === undefined || accepted === undefined) throw new Error('nothing to compare');
    const withLines = (description: string) => ({ ...note, content: { ...note.content, description } });
    const stored = { ...accepted, data: { ...accepted.data, description: 'um\r\ndois' } } as typeof accepted;
    expect(mayHaveSameContent(withLines('um\ndois'), [stored])).toBe(true);
    expect(mayHaveSameContent(withLines('um dois'), [stored])).toBe(false);
  });

  it.each(['1500.00', '1500'])(
    'ends indeterminate without a new number when the note of %s may be our own of before a restore',
    async (amount) => {
      const harness = await withForeignNote({
        amount,
        description: 'Desenvolvimento de sistema',
        customerDocument: '11111111000191',
      });
      await harness.issueToTheEnd();
      expect(await harness.events()).toContainEqual(
        expect.objectContaining({ type: 'NumberConflictFound', data: expect.objectContaining({ sameContent: true }) }),
      );
      expect(await harness.status()).toBe('indeterminate');
      expect((await lastNumbers(harness.store)).blocked).toBe(true);
      expect(harness.authorizer.sends).toHaveLength(1);
      expect(harness.authorizer.notes).toHaveLength(1);
    },
  );
});

describe('a document under our DPS id that nobody vouches for', () => {
  const OTHERS = { amount: '0.01', description: 'de outro', customerDocument: '' };
  const CUT_OUT = { digest: '', contradiction: { claimed: '', computed: 'x' } };
  const NOT_OURS = { digest: '', contradiction: { claimed: 'x', computed: 'y' } };
  const altered = { kind: 'document_altered' };
  const unverified = (detail: string) => ({ kind: 'signature_unverified', detail });

  it.each([
    ['both signatures are cut out', { ...CUT_OUT, signatureFault: 'missing' }, [unverified('missing'), altered]],
    ['the signature of the DPS is cut out', CUT_OUT, [altered]],
    ['neither half of its contradiction is ours', NOT_OURS, [altered]],
    [
      'the DPS is whole and the signature of the authorizer is not',
      { signatureFault: 'digest' },
      [unverified('digest')],
    ],
    ['its signature is of another day', { signatureFault: 'algorithm' }, [unverified('algorithm')]],
  ])('costs no second note when %s', async (_what, doubt, notices) => {
    const harness = await withForeignNote(OTHERS);
    harness.authorizer.notes = harness.authorizer.notes.map((note) => ({ ...note, ...doubt }));
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('indeterminate');
    expect(await harness.types()).not.toContain('NumberConflictFound');
    expect((await lastNumbers(harness.store)).blocked).toBe(false);
    expect(harness.authorizer.sends).toHaveLength(1);
    for (const notice of notices) expect(harness.notices).toContainEqual({ ...notice, stream: harness.stream });
    const kinds = new Set(harness.notices.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(notices.map(({ kind }) => kind)));
  });

  it('is replaced by the note itself once a look-up shows the whole note', async () => {
    const harness = await withForeignNote(OTHERS);
    const whole = harness.authorizer.notes;
    harness.authorizer.notes = whole.map((note) => ({ ...note, ...CUT_OUT, signatureFault: 'missing' }));
    for (let looks = 0; looks < 3; looks += 1) {
      const next = await harness.issue();
      if (next.kind === 'later') harness.clock.moveTo(next.at);
    }
    expect(await harness.types()).not.toContain('NumberConflictFound');
    harness.authorizer.notes = whole;
    await lookUntilBlocked(harness);
    expect(await harness.types()).toContain('NumberConflictFound');
  });
});

describe('DPS numbers', () => {
  it('are never given twice, however many invoices ask at once', async () => {
    const harness = await issuingHarness();
    const { allocateDpsNumber } = await import('../../../src/app/issuing/allocate-number.js');
    const owner = { mode: 'live' as const, companyId: DEMO_CNPJ, invoiceId: '22222222-2222-4222-8222-222222222222' };
    const given = await Promise.all(
      Array.from({ length: 50 }, () =>
        allocateDpsNumber(owner, { series: '1', nextNumber: 7 }, undefined, harness.deps),
      ),
    );
    const numbers = given.map((one) => ('number' in one ? one.number : -1)).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 7));
  });

  it('ends indeterminate when no operator moves the series in time, asking no more', async () => {
    const harness = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    await lookUntilBlocked(harness);
    const asked = harness.authorizer.calls.length;
    harness.clock.pass(2 * 3600);
    expect(await harness.issue()).toEqual({ kind: 'done' });
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.authorizer.calls).toHaveLength(asked);
  });

  it.each([
    ['9.99', 'de outro', ''],
    ['1500.00', 'Desenvolvimento de sistema', '11111111000191'],
  ])(
    'ends indeterminate when only the last look-up finds it (%s, %s)',
    async (amount, description, customerDocument) => {
      const harness = await withForeignNote({ amount, description, customerDocument });
      harness.authorizer.mute = true;
      harness.authorizer.script = ['lost_request'];
      await harness.issue();
      harness.clock.pass(2 * 3600);
      harness.authorizer.mute = false;
      expect(await harness.issue()).toEqual({ kind: 'done' });
      expect(await harness.status()).toBe('indeterminate');
      expect(await harness.types()).toContain('NumberConflictFound');
    },
  );
});

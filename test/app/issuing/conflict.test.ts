import { describe, expect, it } from 'vitest';
import { lastNumbers } from '../../../src/app/issuing/allocate-number.js';
import { moveNumber } from '../../../src/domain/dps-number/dps-number.js';
import { dpsId } from '../../../src/domain/shared/access-key.js';
import { dpsStream } from '../../../src/domain/shared/ids.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { appendTo } from '../../support/harness/event-store.js';
import { noteFor } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

const series = dpsStream('live', DEMO_CNPJ, '1');

/** The authorizer holds another party's note under the DPS id of the first number. */
const withForeignNote = async (content: { amount: string; description: string; customerDocument: string }) => {
  const world = await issuingHarness();
  const id = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 1 });
  world.authorizer.notes.push({ ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), 1), dpsId: id, content });
  return world;
};

const move = async ({ store, clock }: IssuingHarness, nextNumber: number): Promise<void> => {
  const numbers = await lastNumbers(series, 1, store);
  const moved = moveNumber(numbers, nextNumber, clock.now());
  if ('refused' in moved) throw new Error(moved.refused);
  await appendTo(store, series, moved.events, clock.now());
};

const lookUntilBlocked = async (world: IssuingHarness): Promise<void> => {
  for (let looks = 0; looks < 20; looks += 1) {
    const next = await world.issue();
    if (world.notices.some(({ notice }) => notice === 'series_blocked')) return;
    if (next.kind === 'later') world.clock.moveTo(next.at);
  }
  throw new Error('the series was never blocked');
};

describe('a foreign note under our DPS id', () => {
  it('stops the series and goes on with a new number once an operator moved it', async () => {
    const world = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    await lookUntilBlocked(world);
    expect(await world.types()).toContain('NumberConflictFound');
    expect((await lastNumbers(series, 1, world.store)).blocked).toBe(true);
    expect(world.authorizer.sends).toHaveLength(1);

    await move(world, 50);
    await world.issueToTheEnd();
    expect(await world.status()).toBe('issued');
    expect((await world.invoice()).attempts.map(({ number }) => number)).toEqual([1, 50]);
    expect(world.authorizer.sends).toHaveLength(2);
    expect(world.authorizer.notes).toHaveLength(2);
  });

  it('ends indeterminate without a new number when the note may be our own of before a restore', async () => {
    const world = await withForeignNote({
      amount: '1500.00',
      description: 'Desenvolvimento de sistema',
      customerDocument: '11111111000191',
    });
    await world.issueToTheEnd();
    expect(await world.status()).toBe('indeterminate');
    expect((await lastNumbers(series, 1, world.store)).blocked).toBe(true);
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.notes).toHaveLength(1);
  });
});

describe('a document under our DPS id that nobody vouches for', () => {
  const OTHERS = { amount: '0.01', description: 'de outro', customerDocument: '' };
  const CUT_OUT = { digest: '', contradiction: { claimed: '', computed: 'x' } };
  const NOT_OURS = { digest: '', contradiction: { claimed: 'x', computed: 'y' } };
  const altered = { notice: 'document_altered' };
  const unverified = (detail: string) => ({ notice: 'signature_unverified', detail });

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
  ])('costs no second note when %s', async (_what, doubt, alarms) => {
    const world = await withForeignNote(OTHERS);
    world.authorizer.notes = world.authorizer.notes.map((note) => ({ ...note, ...doubt }));
    await world.issueToTheEnd();
    expect(await world.status()).toBe('indeterminate');
    expect(await world.types()).not.toContain('NumberConflictFound');
    expect((await lastNumbers(series, 1, world.store)).blocked).toBe(false);
    expect(world.authorizer.sends).toHaveLength(1);
    for (const alarm of alarms) expect(world.notices).toContainEqual({ ...alarm, stream: world.stream });
    const told = new Set(world.notices.map(({ notice }) => notice));
    expect(told).toEqual(new Set(alarms.map(({ notice }) => notice)));
  });

  it('gives way to the note itself once a look-up shows it whole', async () => {
    const world = await withForeignNote(OTHERS);
    const whole = world.authorizer.notes;
    world.authorizer.notes = whole.map((note) => ({ ...note, ...CUT_OUT, signatureFault: 'missing' }));
    for (let looks = 0; looks < 3; looks += 1) {
      const next = await world.issue();
      if (next.kind === 'later') world.clock.moveTo(next.at);
    }
    expect(await world.types()).not.toContain('NumberConflictFound');
    world.authorizer.notes = whole;
    await lookUntilBlocked(world);
    expect(await world.types()).toContain('NumberConflictFound');
  });
});

describe('DPS numbers', () => {
  it('are never given twice, however many invoices ask at once', async () => {
    const world = await issuingHarness();
    const { allocateDpsNumber } = await import('../../../src/app/issuing/allocate-number.js');
    const owner = { mode: 'live' as const, companyId: DEMO_CNPJ, invoiceId: '22222222-2222-4222-8222-222222222222' };
    const given = await Promise.all(
      Array.from({ length: 50 }, () => allocateDpsNumber(owner, { series: '1', nextNumber: 7 }, undefined, world.deps)),
    );
    const numbers = given.map((one) => ('number' in one ? one.number : -1)).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 7));
  });

  it('ends indeterminate when no operator moves the series in time, asking no more', async () => {
    const world = await withForeignNote({ amount: '9.99', description: 'de outro', customerDocument: '' });
    await lookUntilBlocked(world);
    const asked = world.authorizer.calls.length;
    world.clock.pass(2 * 3600);
    expect(await world.issue()).toEqual({ kind: 'done' });
    expect(await world.status()).toBe('indeterminate');
    expect(world.authorizer.calls).toHaveLength(asked);
  });

  it.each([
    ['9.99', 'de outro', ''],
    ['1500.00', 'Desenvolvimento de sistema', '11111111000191'],
  ])(
    'ends indeterminate when only the last look-up finds it (%s, %s)',
    async (amount, description, customerDocument) => {
      const world = await withForeignNote({ amount, description, customerDocument });
      world.authorizer.mute = true;
      world.authorizer.script = ['lost_request'];
      await world.issue();
      world.clock.pass(2 * 3600);
      world.authorizer.mute = false;
      expect(await world.issue()).toEqual({ kind: 'done' });
      expect(await world.status()).toBe('indeterminate');
      expect(await world.types()).toContain('NumberConflictFound');
    },
  );
});

import { describe, expect, it } from 'vitest';
import {
  type SettleCommand,
  type SettleDeps,
  settleInvoice,
} from '../../../../src/app/operator/settlement/settle-invoice.js';
import { invoiceView } from '../../../../src/http/invoice-body.js';
import { at } from '../../../support/fixture/invoice.js';
import type { Turn } from '../../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../../support/harness/issuing.js';

const DAY = 86_400;

/** An invoice whose sends were never answered and whose look-ups were inconclusive, an hour after its last signal. */
const indeterminate = async (...script: Turn[]): Promise<IssuingHarness> => {
  const world = await issuingHarness();
  world.authorizer.script = script.length === 0 ? ['lost_request'] : script;
  world.authorizer.mute = true;
  await world.issueToTheEnd();
  expect(await world.status()).toBe('indeterminate');
  world.authorizer.mute = false;
  return world;
};

const depsOf = ({ deps, notices }: IssuingHarness): SettleDeps => {
  const { store, authorizer, lookups, clock, limits } = deps;
  const alarm: SettleDeps['alarm'] = async (notice) => void notices.push(notice);
  return { store, authorizer, lookups, clock, limits, alarm, actor: 'support:maria' };
};

const settle = (world: IssuingHarness, as: SettleCommand['as'], more: Partial<SettleCommand> = {}) =>
  settleInvoice({ stream: world.stream, as, evidence: 'Consulta ao portal', ...more }, depsOf(world));

const CUT_OUT = { digest: '', contradiction: { claimed: '', computed: 'y' } };

const lastEvent = async (world: IssuingHarness) => (await world.store.load(world.stream)).events.at(-1);

describe('an indeterminate invoice settled as issued', () => {
  it('becomes issued with the note that holds its own DPS, and says who did it and on what', async () => {
    const world = await indeterminate('lost_answer');
    const [note] = world.authorizer.notes;
    expect(await settle(world, 'issued')).toEqual({ kind: 'settled', detail: `issued, access key ${note?.accessKey}` });
    expect(await lastEvent(world)).toMatchObject({
      type: 'IndeterminateResolved',
      metadata: { actor: 'support:maria' },
      data: { as: 'issued', evidence: 'Consulta ao portal', accessKey: note?.accessKey, nfseNumber: '1' },
    });
    const body = invoiceView(await world.invoice(), world.clock.now());
    expect(body).toMatchObject({ status: 'issued', access_key: note?.accessKey, issued_at: note?.authorizedAt });
    expect(body).not.toHaveProperty('error');
    expect(body).not.toHaveProperty('failed_at');
  });

  it('is settled once, however often it is asked for', async () => {
    const world = await indeterminate('lost_answer');
    await settle(world, 'issued');
    const before = await world.types();
    expect(await settle(world, 'issued')).toEqual({ kind: 'already_so' });
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'refused' });
    expect(await world.types()).toEqual(before);
  });

  it('is found by the access key that the operator gives', async () => {
    const world = await indeterminate('lost_answer');
    const accessKey = world.authorizer.notes[0]?.accessKey ?? '';
    world.authorizer.calls = [];
    expect(await settle(world, 'issued', { accessKey })).toMatchObject({ kind: 'settled' });
    expect(world.authorizer.calls).toEqual(['findByAccessKey']);
  });

  it.each([
    ['holds another digest', { digest: 'another' }],
    ['holds another DPS id', { dpsId: 'DPS330455721234567800019500001000000000000099' }],
  ])('is refused with a document that %s', async (_what, change) => {
    const world = await indeterminate('lost_answer');
    const note = world.authorizer.notes[0];
    if (note === undefined) throw new Error('no note');
    world.authorizer.notes = [{ ...note, ...change }];
    expect(await settle(world, 'issued', { accessKey: note.accessKey })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('another invoice'),
    });
    expect(await world.status()).toBe('indeterminate');
  });

  it.each([
    ['contradicts itself', { digest: '', contradiction: { claimed: 'x', computed: 'y' } }, 'contradicts itself'],
    ['was cut out of its signatures', { ...CUT_OUT, signatureFault: 'missing' }, 'contradicts itself'],
    ['holds another digest unsigned', { digest: 'another', signatureFault: 'missing' }, 'cannot be verified'],
  ])('is refused, and told, with a document that %s', async (_what, change, reason) => {
    const world = await indeterminate('lost_answer');
    world.authorizer.notes = world.authorizer.notes.map((note) => ({ ...note, ...change }));
    world.notices.length = 0;
    expect(await settle(world, 'issued')).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) });
    expect(await world.status()).toBe('indeterminate');
    expect(world.notices).not.toEqual([]);
  });

  it('is settled by its own DPS under a signature that nobody can verify, and tells of it', async () => {
    const world = await indeterminate('lost_answer');
    world.authorizer.notes = world.authorizer.notes.map((note) => ({ ...note, signatureFault: 'algorithm' }));
    world.notices.length = 0;
    expect(await settle(world, 'issued')).toMatchObject({ kind: 'settled' });
    expect(world.notices).toEqual([{ notice: 'signature_unverified', stream: world.stream, detail: 'algorithm' }]);
  });

  it.each([
    ['has no such document', false, 'the authorizer has no such document'],
    ['says nothing', true, 'the answer proves nothing (html)'],
  ])('is refused while the authorizer %s', async (_what, mute, reason) => {
    const world = await indeterminate();
    world.authorizer.mute = mute;
    const result = await settle(world, 'issued');
    expect(result.kind === 'refused' ? result.reason : '').toContain(reason.replace('the answer', 'answer'));
    expect(await world.status()).toBe('indeterminate');
  });
});

describe('an indeterminate invoice settled as failed', () => {
  it('needs two absences, apart and both 24 h after the last attempt, and keeps them in the event', async () => {
    const world = await indeterminate();
    world.clock.moveTo(at(DAY - 1));
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('24 h') });
    world.clock.moveTo(at(DAY));
    const first = await settle(world, 'failed');
    expect(first).toMatchObject({ kind: 'ask_again', at: at(DAY + 60) });
    world.clock.moveTo(at(DAY + 59));
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'ask_again', at: at(DAY + 60) });
    world.clock.moveTo(at(DAY + 60));
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'settled' });
    expect(await lastEvent(world)).toMatchObject({
      type: 'IndeterminateResolved',
      data: { as: 'failed', absences: [{ firstAskedAt: at(DAY), secondAskedAt: at(DAY + 60) }] },
      metadata: { actor: 'support:maria' },
    });
    expect(invoiceView(await world.invoice(), world.clock.now())).toMatchObject({
      status: 'failed',
      failed_at: at(DAY + 60),
      error: { code: 'issue_failed' },
    });
    expect(await settle(world, 'failed')).toEqual({ kind: 'already_so' });
  });

  it('forgets the first absence when a late commit shows up', async () => {
    const world = await indeterminate('late');
    world.clock.moveTo(at(DAY));
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'ask_again' });
    world.authorizer.arriveLate();
    world.clock.moveTo(at(2 * DAY));
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('issued') });
    world.authorizer.notes = [];
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'ask_again' });
    expect(await world.status()).toBe('indeterminate');
  });

  it('is refused while the authorizer says nothing, whatever it said before', async () => {
    const world = await indeterminate();
    world.clock.moveTo(at(DAY));
    await settle(world, 'failed');
    world.clock.moveTo(at(2 * DAY));
    world.authorizer.mute = true;
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'refused' });
    expect(await world.status()).toBe('indeterminate');
  });

  it('is refused for ever once the authorizer said that the DPS exists', async () => {
    const world = await indeterminate({ unknown: ['E0014'] });
    world.clock.moveTo(at(3 * DAY));
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('E0014') });
  });

  it('is refused while a note with the same content stands under its DPS id', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['lost_answer'];
    world.authorizer.mute = true;
    await world.issue();
    world.authorizer.mute = false;
    const content = {
      amount: '1500.00',
      description: 'Desenvolvimento de sistema',
      customerDocument: '11111111000191',
    };
    world.authorizer.notes = world.authorizer.notes.map((note) => ({ ...note, digest: 'another', content }));
    await world.issueToTheEnd();
    expect(await world.status()).toBe('indeterminate');
    world.clock.moveTo(at(3 * DAY));
    world.authorizer.notes = [];
    expect(await settle(world, 'failed')).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('this very invoice'),
    });
  });

  it('is refused for an invoice that is still being worked on', async () => {
    const world = await issuingHarness();
    expect(await settle(world, 'failed')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('queued') });
    expect(await settle(world, 'issued')).toMatchObject({ kind: 'refused' });
  });
});

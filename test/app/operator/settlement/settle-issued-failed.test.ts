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
  const harness = await issuingHarness();
  harness.authorizer.script = script.length === 0 ? ['lost_request'] : script;
  harness.authorizer.mute = true;
  await harness.issueToTheEnd();
  expect(await harness.status()).toBe('indeterminate');
  harness.authorizer.mute = false;
  return harness;
};

const depsOf = ({ deps, notices }: IssuingHarness): SettleDeps => {
  const { store, authorizer, lookups, clock, limits } = deps;
  const notify: SettleDeps['notify'] = async (notice) => void notices.push(notice);
  return { store, authorizer, lookups, clock, limits, notify, actor: 'support:maria', holdersOf: async () => [] };
};

const settle = (harness: IssuingHarness, as: SettleCommand['as'], more: Partial<SettleCommand> = {}) =>
  settleInvoice({ stream: harness.stream, as, evidence: 'Consulta ao portal', ...more }, depsOf(harness));

const CUT_OUT = { digest: '', contradiction: { claimed: '', computed: 'y' } };

const lastEvent = async (harness: IssuingHarness) => (await harness.store.load(harness.stream)).events.at(-1);

describe('an indeterminate invoice settled as issued', () => {
  it('becomes issued with the note that holds its own DPS, and says who did it and on what', async () => {
    const harness = await indeterminate('lost_answer');
    const [note] = harness.authorizer.notes;
    expect(await settle(harness, 'issued')).toEqual({
      kind: 'settled',
      detail: `issued, access key ${note?.accessKey}`,
    });
    expect(await lastEvent(harness)).toMatchObject({
      type: 'IndeterminateResolved',
      metadata: { actor: 'support:maria' },
      data: { as: 'issued', evidence: 'Consulta ao portal', accessKey: note?.accessKey, nfseNumber: '1' },
    });
    const body = invoiceView(await harness.invoice(), harness.clock.now());
    expect(body).toMatchObject({ status: 'issued', access_key: note?.accessKey, issued_at: note?.authorizedAt });
    expect(body).not.toHaveProperty('error');
    expect(body).not.toHaveProperty('failed_at');
  });

  it('is settled once, however often it is asked for', async () => {
    const harness = await indeterminate('lost_answer');
    await settle(harness, 'issued');
    const before = await harness.types();
    expect(await settle(harness, 'issued')).toEqual({ kind: 'already_so' });
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
    expect(await harness.types()).toEqual(before);
  });

  it('is found by the access key that the operator gives', async () => {
    const harness = await indeterminate('lost_answer');
    const accessKey = harness.authorizer.notes[0]?.accessKey ?? '';
    harness.authorizer.calls = [];
    expect(await settle(harness, 'issued', { accessKey })).toMatchObject({ kind: 'settled' });
    expect(harness.authorizer.calls).toEqual(['findByAccessKey']);
  });

  it.each([
    ['holds another digest', { digest: 'another' }],
    ['holds another DPS id', { dpsId: 'DPS330455721234567800019500001000000000000099' }],
  ])('is refused with a document that %s', async (_what, change) => {
    const harness = await indeterminate('lost_answer');
    const note = harness.authorizer.notes[0];
    if (note === undefined) throw new Error('no note');
    harness.authorizer.notes = [{ ...note, ...change }];
    expect(await settle(harness, 'issued', { accessKey: note.accessKey })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('another invoice'),
    });
    expect(await harness.status()).toBe('indeterminate');
  });

  it.each([
    ['contradicts itself', { digest: '', contradiction: { claimed: 'x', computed: 'y' } }, 'contradicts itself'],
    ['was cut out of its signatures', { ...CUT_OUT, signatureFault: 'missing' }, 'contradicts itself'],
    ['holds another digest unsigned', { digest: 'another', signatureFault: 'missing' }, 'cannot be verified'],
  ])('is refused, and told, with a document that %s', async (_what, change, reason) => {
    const harness = await indeterminate('lost_answer');
    harness.authorizer.notes = harness.authorizer.notes.map((note) => ({ ...note, ...change }));
    harness.notices.length = 0;
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) });
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.notices).not.toEqual([]);
  });

  it('is settled by its own DPS under a signature that nobody can verify, and tells of it', async () => {
    const harness = await indeterminate('lost_answer');
    harness.authorizer.notes = harness.authorizer.notes.map((note) => ({ ...note, signatureFault: 'algorithm' }));
    harness.notices.length = 0;
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
    expect(harness.notices).toEqual([{ kind: 'signature_unverified', stream: harness.stream, detail: 'algorithm' }]);
  });

  it.each([
    ['has no such document', false, 'the authorizer has no such document'],
    ['says nothing', true, 'the answer proves nothing (html)'],
  ])('is refused while the authorizer %s', async (_what, mute, reason) => {
    const harness = await indeterminate();
    harness.authorizer.mute = mute;
    const result = await settle(harness, 'issued');
    expect(result.kind === 'refused' ? result.reason : '').toContain(reason.replace('the answer', 'answer'));
    expect(await harness.status()).toBe('indeterminate');
  });
});

describe('a refusal to settle as issued', () => {
  it('names the state of an invoice that is not indeterminate', async () => {
    const harness = await issuingHarness();
    const reason = 'it is queued: only an indeterminate invoice is settled as issued';
    expect(await settle(harness, 'issued')).toEqual({ kind: 'refused', reason });
  });

  it.each([
    ['status_400', 'HTTP status 400'],
    ['no_json_502', 'HTTP status 502 without JSON'],
    ['timeout', 'timeout'],
  ])('says what %s means', async (reason, words) => {
    const harness = await indeterminate();
    harness.authorizer.findByDps = async () => ({ kind: 'inconclusive', reason });
    const refusal = `the authorizer's answer proves nothing (${words}): try again later`;
    expect(await settle(harness, 'issued')).toEqual({ kind: 'refused', reason: refusal });
  });
});

describe('a certificate that keeps the authorizer from being asked', () => {
  const STORE = 'store a valid one with nfse certificate put';
  const AGAIN = 'try again, and look at nfse doctor if this stays';
  it.each([
    ['certificate_missing', 'the company has no certificate that can be opened', STORE],
    ['certificate_unread', "the company's certificate could not be read", AGAIN],
    ['certificate_expired', "the company's certificate has expired", STORE],
    ['certificate_unusable', "the company's certificate cannot be used", STORE],
  ])('%s is named with its cure', async (reason, words, cure) => {
    const harness = await indeterminate();
    harness.authorizer.findByDps = async () => ({ kind: 'inconclusive', reason });
    const refusal = `${words}, and the authorizer was not asked: ${cure}`;
    expect(await settle(harness, 'issued')).toEqual({ kind: 'refused', reason: refusal });
  });
});

describe('an indeterminate invoice settled as failed', () => {
  it('needs two absences, apart and both 24 h after the last attempt, and keeps them in the event', async () => {
    const harness = await indeterminate();
    harness.clock.moveTo(at(DAY - 1));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('24 h') });
    harness.clock.moveTo(at(DAY));
    const first = await settle(harness, 'failed');
    expect(first).toMatchObject({ kind: 'ask_again', at: at(DAY + 60) });
    harness.clock.moveTo(at(DAY + 59));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again', at: at(DAY + 60) });
    harness.clock.moveTo(at(DAY + 60));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'settled' });
    expect(await lastEvent(harness)).toMatchObject({
      type: 'IndeterminateResolved',
      data: { as: 'failed', absences: [{ firstAskedAt: at(DAY), secondAskedAt: at(DAY + 60) }] },
      metadata: { actor: 'support:maria' },
    });
    expect(invoiceView(await harness.invoice(), harness.clock.now())).toMatchObject({
      status: 'failed',
      failed_at: at(DAY + 60),
      error: { code: 'issue_failed' },
    });
    expect(await settle(harness, 'failed')).toEqual({ kind: 'already_so' });
  });

  it('forgets the first absence when the authorizer names a document that it does not give', async () => {
    const harness = await indeterminate('late');
    const { findByDps } = harness.authorizer;
    harness.clock.moveTo(at(DAY));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again' });
    harness.clock.moveTo(at(DAY + 30));
    harness.authorizer.findByDps = async () => ({ kind: 'inconclusive', reason: 'status_503', exists: true });
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
    harness.authorizer.findByDps = findByDps;
    harness.clock.moveTo(at(DAY + 60));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again', at: at(DAY + 120) });
  });

  it('forgets the first absence when a late commit shows up', async () => {
    const harness = await indeterminate('late');
    harness.clock.moveTo(at(DAY));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again' });
    harness.authorizer.arriveLate();
    harness.clock.moveTo(at(2 * DAY));
    expect(await settle(harness, 'failed')).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('issued'),
    });
    harness.authorizer.notes = [];
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again' });
    expect(await harness.status()).toBe('indeterminate');
  });

  it('begins the pause again where the first look-up was noted by a clock that was ahead', async () => {
    const harness = await indeterminate();
    harness.clock.moveTo(at(3 * DAY));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again', at: at(3 * DAY + 60) });
    harness.clock.pass(-2 * DAY);
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again', at: at(DAY + 60) });
    harness.clock.moveTo(at(DAY + 60));
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'settled' });
    expect(await lastEvent(harness)).toMatchObject({
      data: { as: 'failed', absences: [{ firstAskedAt: at(DAY), secondAskedAt: at(DAY + 60) }] },
    });
  });

  it('is refused while the authorizer says nothing, whatever it said before', async () => {
    const harness = await indeterminate();
    harness.clock.moveTo(at(DAY));
    await settle(harness, 'failed');
    harness.clock.moveTo(at(2 * DAY));
    harness.authorizer.mute = true;
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
    expect(await harness.status()).toBe('indeterminate');
  });

  it('is refused permanently once the authorizer said that the DPS exists', async () => {
    const harness = await indeterminate({ unknown: ['E0014'] });
    harness.clock.moveTo(at(3 * DAY));
    expect(await settle(harness, 'failed')).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('E0014'),
    });
  });

  it('is refused while a note with the same content stands under its DPS id', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_answer'];
    harness.authorizer.mute = true;
    await harness.issue();
    harness.authorizer.mute = false;
    const content = {
      amount: '1500.00',
      description: 'Desenvolvimento de sistema',
      customerDocument: '11111111000191',
    };
    harness.authorizer.notes = harness.authorizer.notes.map((note) => ({ ...note, digest: 'another', content }));
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('indeterminate');
    harness.clock.moveTo(at(3 * DAY));
    harness.authorizer.notes = [];
    expect(await settle(harness, 'failed')).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('this very invoice'),
    });
  });

  it('is refused for an invoice that is still being worked on', async () => {
    const harness = await issuingHarness();
    expect(await settle(harness, 'failed')).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('queued'),
    });
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'refused' });
  });
});

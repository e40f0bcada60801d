import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../../src/app/event-store/event-store.js';
import { invoiceIdOfAccessKey } from '../../../../src/app/event-store/hashes.js';
import {
  type SettleCommand,
  type SettleDeps,
  settleInvoice,
} from '../../../../src/app/operator/settlement/settle-invoice.js';
import { dpsId } from '../../../../src/domain/common/access-key.js';
import { dpsStream, invoiceStream } from '../../../../src/domain/common/ids.js';
import { addSeconds, DAY_SECONDS } from '../../../../src/domain/common/time.js';
import { dpsNumbers, moveNumber } from '../../../../src/domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../../src/domain/dps-number/events.js';
import { isOfLostAttempt } from '../../../../src/domain/invoice/note-met.js';
import type { AuthorizedNote } from '../../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../../support/fixture/demo.js';
import { appendTo, fixedKeys, generationOf } from '../../../support/harness/event-store.js';
import { noteFor } from '../../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../../support/harness/issuing.js';
import { waitingOf } from '../../../support/harness/waiting.js';

const OWN = { amount: '1500.00', description: 'Desenvolvimento de sistema', customerDocument: '11111111000191' };
const OTHER_STREAM = invoiceStream('live', DEMO_CNPJ, '77777777-7777-4777-8777-777777777777');
const OTHER_SALES = 'failed, the notes under its numbers are of other sales';
const ANOTHER_DAY = { ...OWN, description: 'Desenvolvimento de sistema, 20/11/2026' };

type Content = AuthorizedNote['content'];

/** The authorizer has this note under the number, which the log gives to the invoice of the harness. */
const putNote = ({ authorizer }: IssuingHarness, number: number, content: Content) => {
  const id = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number });
  const note = { ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), number), dpsId: id, content };
  authorizer.notes.push(note);
  return note;
};

const endADayAgo = async (harness: IssuingHarness): Promise<void> => {
  await harness.issueToTheEnd();
  expect(await harness.status()).toBe('indeterminate');
  harness.clock.moveTo(addSeconds(harness.clock.now(), DAY_SECONDS));
};

/** The invoice met this note under its number, whose content differs, and its time ended a day ago. */
const metOther = async (content: Content) => {
  const harness = await issuingHarness();
  const note = putNote(harness, 1, content);
  await endADayAgo(harness);
  return { harness, note };
};

/** The send was refused because its DPS exists, or its answer was lost; and no look-up answered until its time was over. */
const muteUntilItsEnd = async (content: Content, isLost = false) => {
  const harness = await issuingHarness();
  const { authorizer } = harness;
  if (isLost) authorizer.script = ['lost_request'];
  const note = putNote(harness, 1, content);
  authorizer.mute = true;
  await endADayAgo(harness);
  authorizer.mute = false;
  expect(await harness.types()).not.toContain('NumberConflictFound');
  return { harness, note };
};

/** Sends until the note under the number stops the series, and gives the invoice the next number. */
const meetAndMove = async (harness: IssuingHarness, next: number): Promise<void> => {
  const { clock, notices, store } = harness;
  const had = notices.length;
  for (let step = 0; step < 30 && !notices.slice(had).some(({ kind }) => kind === 'series_blocked'); step += 1) {
    const due = await harness.issue();
    if (due.kind === 'later') clock.moveTo(due.at);
  }
  const series = dpsStream('live', DEMO_CNPJ, '1');
  const { events } = await store.load<DpsNumberEvent>(series, { direction: 'backwards', limit: 1 });
  const moved = moveNumber(dpsNumbers(events[0], 1), next, clock.now());
  if ('refused' in moved) throw new Error(moved.refused);
  await appendTo(store, series, moved.events, clock.now());
};

const lastEvent = async (harness: IssuingHarness) => (await harness.events()).at(-1);

const settle = (
  { deps, notices, stream }: IssuingHarness,
  as: SettleCommand['as'],
  more: Partial<SettleCommand> = {},
  holders: readonly string[] = [],
) => {
  const { store, authorizer, lookups, clock, limits } = deps;
  const notify: SettleDeps['notify'] = async (notice) => void notices.push(notice);
  return settleInvoice(
    { stream, as, evidence: 'portal', ...more },
    { store, authorizer, lookups, clock, limits, notify, actor: 'support:maria', holdersOf: async () => holders },
  );
};

describe('an invoice that met a note with other content under its number', () => {
  it.each([
    ['amount', { ...OWN, amount: '99.00' }],
    ['customer', { ...OWN, customerDocument: '' }],
  ])('is settled as failed when the note has another %s, as the waiting work advises', async (_what, content) => {
    const { harness, note } = await metOther(content);
    const { detail, command } = (await waitingOf(harness, 'indeterminate')) ?? {};
    expect(detail).toBe('a note with other content has its number; first compare it at the national portal');
    expect(command).toMatch(/^nfse invoice resolve nfse_\S+ --as failed --evidence TEXT \(only where /);
    expect(await settle(harness, 'issued')).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/it is another invoice: the note under its number .* only --as failed can settle/),
    });
    const { length: asked } = harness.authorizer.calls;
    expect(await settle(harness, 'failed')).toEqual({ kind: 'settled', detail: OTHER_SALES });
    expect(harness.authorizer.calls.length).toBe(asked + 1);
    const { dpsId: id, accessKey } = note;
    expect(await lastEvent(harness)).toMatchObject({
      data: { as: 'failed', absences: [], otherSales: [{ dpsId: id, accessKey, by: 'content' }] },
    });
  });

  it('is not settled as failed while only the description differs, until the operator names that note', async () => {
    const { harness, note } = await metOther(ANOTHER_DAY);
    const refused = {
      kind: 'refused',
      reason: expect.stringMatching(
        new RegExp(
          `Compare note ${note.accessKey} .* only a date in its text differs.* leave the invoice indeterminate .* --as failed --other-sale ${note.accessKey}$`,
        ),
      ),
    };
    expect(await settle(harness, 'failed')).toEqual(refused);
    expect(await settle(harness, 'failed', { otherSales: ['6'.repeat(50)] })).toEqual(refused);
    expect(await harness.status()).toBe('indeterminate');
    const { length: asked } = harness.authorizer.calls;
    const settled = { kind: 'settled', detail: OTHER_SALES };
    expect(await settle(harness, 'failed', { otherSales: [note.accessKey] })).toEqual(settled);
    expect(harness.authorizer.calls.length).toBe(asked + 1);
    expect(await harness.status()).toBe('failed');
    const { dpsId: id, accessKey } = note;
    expect(await lastEvent(harness)).toMatchObject({
      data: { otherSales: [{ dpsId: id, accessKey, by: 'operator' }] },
    });
    expect(await lastEvent(harness)).not.toHaveProperty('data.otherSales.0.unseen');
  });

  const toCompare = 'may be of the same sale, on another day. Compare note';
  it.each<[string, (note: AuthorizedNote) => Partial<IssuingHarness['authorizer']>, string, true | undefined]>([
    ['is not there any more', () => ({ notes: [] }), toCompare, true],
    ['is another one now', (note) => ({ notes: [{ ...note, accessKey: '6'.repeat(50) }] }), toCompare, true],
    ['cannot be relied on', (note) => ({ notes: [{ ...note, signatureFault: 'digest' }] }), toCompare, undefined],
    ['cannot be looked up', () => ({ mute: true }), "the authorizer's answer proves nothing (", true],
  ])('is not settled as failed without that name when the note %s', async (_how, change, why, unseen) => {
    const { harness, note } = await metOther({ ...OWN, amount: '99.00' });
    Object.assign(harness.authorizer, change(note));
    expect(await settle(harness, 'failed')).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(`--as failed --other-sale ${note.accessKey}`),
    });
    expect(await settle(harness, 'failed')).toMatchObject({ reason: expect.stringContaining(why) });
    expect(await settle(harness, 'failed', { otherSales: [note.accessKey] })).toMatchObject({ kind: 'settled' });
    const { data } = (await lastEvent(harness)) as { data: { otherSales?: readonly { unseen?: true }[] } };
    expect(data.otherSales?.map((one) => one.unseen)).toEqual([unseen]);
  });

  it('is not settled as failed when the note holds what the invoice sent, whatever the operator says', async () => {
    const { harness, note } = await metOther(ANOTHER_DAY);
    const { digest = '' } = (await harness.invoice()).attempts[0] ?? {};
    harness.authorizer.notes.splice(0, 1, { ...note, digest });
    expect(await settle(harness, 'failed', { otherSales: [note.accessKey] })).toEqual({
      kind: 'refused',
      reason: `the authorizer has a document under ${note.dpsId}: try --as issued`,
    });
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
  });

  it.each<[string, Partial<AuthorizedNote>]>([
    ['has the content of the invoice', { content: OWN }],
    ['contradicts itself', { digest: '' }],
  ])('is not settled as failed by the name of a met note while another note there %s', async (_how, change) => {
    const { harness, note } = await metOther(ANOTHER_DAY);
    const another = { ...note, accessKey: '6'.repeat(50) as AuthorizedNote['accessKey'], ...change };
    harness.authorizer.notes.splice(0, 1, another);
    expect(await settle(harness, 'failed', { otherSales: [note.accessKey] })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('has a document under'),
    });
    expect(await harness.status()).toBe('indeterminate');
  });

  it('is asked for under a later number too, whose attempts were not sent and whose document no look-up could read', async () => {
    const harness = await issuingHarness();
    putNote(harness, 1, { ...OWN, amount: '99.00' });
    await meetAndMove(harness, 50);
    harness.authorizer.script = Array(400).fill('not_sent');
    const { notes } = harness.authorizer;
    const own = putNote(harness, 50, OWN);
    notes.splice(1, 1, { ...own, signatureFault: 'digest' });
    await endADayAgo(harness);
    expect((await harness.invoice()).attempts.at(-1)?.resolution).toBe('not_sent');
    expect(await waitingOf(harness, 'indeterminate')).toMatchObject({
      command: expect.stringContaining('--as issued'),
    });
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
    notes.splice(1, 1, own);
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
  });

  it('is told of all notes that are to be compared at once, with those that were named', async () => {
    const harness = await issuingHarness();
    const one = putNote(harness, 1, ANOTHER_DAY).accessKey;
    const other = putNote(harness, 2, { ...ANOTHER_DAY, description: 'outra' }).accessKey;
    await meetAndMove(harness, 2);
    await endADayAgo(harness);
    const flags = (...keys: string[]): string => keys.map((key) => `--other-sale ${key}`).join(' ');
    const refusal = async (...otherSales: string[]): Promise<string> =>
      ((await settle(harness, 'failed', { otherSales })) as { reason: string }).reason;
    expect(await refusal()).toMatch(new RegExp(`Compare the notes ${one} and ${other} with .* ${flags(one, other)}$`));
    expect(await refusal(one)).toMatch(new RegExp(`Compare note ${other} with .* ${flags(one, other)}$`));
    expect(await refusal(other)).toMatch(new RegExp(`Compare note ${one} with .* ${flags(other, one)}$`));
    const both = { otherSales: [one, other] };
    expect(await settle(harness, 'failed', both)).toEqual({ kind: 'settled', detail: OTHER_SALES });
  });

  it('needs the absence under its other number too, and a look-up there is not hidden by the note', async () => {
    const harness = await issuingHarness();
    const { accessKey } = putNote(harness, 1, { ...OWN, amount: '99.00' });
    await meetAndMove(harness, 50);
    harness.authorizer.script = ['lost_request'];
    await harness.issue();
    harness.authorizer.mute = true;
    await endADayAgo(harness);
    harness.authorizer.mute = false;
    expect(await waitingOf(harness, 'indeterminate')).toMatchObject({
      command: expect.stringContaining('--as issued'),
    });
    expect(await settle(harness, 'issued')).toMatchObject({
      reason: expect.stringMatching(/^the authorizer has no such/),
    });
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'ask_again' });
    harness.clock.pass(3_600);
    expect(await settle(harness, 'failed')).toEqual({
      kind: 'settled',
      detail: 'failed, under each of its numbers is no document, or the note of another sale',
    });
    expect(await lastEvent(harness)).toMatchObject({
      data: { absences: [{ dpsId: expect.any(String) }], otherSales: [{ accessKey, by: 'content' }] },
    });
  });

  it('is not settled as failed where the key of its content is gone, until the operator names the note', async () => {
    const harness = await issuingHarness('test');
    const { accessKey } = putNote(harness, 1, { ...OWN, amount: '99.00' });
    await endADayAgo(harness);
    const keys = fixedKeys();
    keys.destroy(generationOf.test);
    Object.assign(harness.deps, { store: createEventStore(harness.log, keys) });
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
    expect(await settle(harness, 'failed', { otherSales: [accessKey] })).toMatchObject({ kind: 'settled' });
  });
});

describe('a note under the number of an invoice that no look-up showed before its end', () => {
  it.each([
    ['whose DPS was said to exist', false],
    ['whose answer was lost', true],
  ])('settles an invoice %s as issued where its content is equal, and never as failed', async (_which, isLost) => {
    const { harness, note } = await muteUntilItsEnd(OWN, isLost);
    const { accessKey } = note;
    const refused = { kind: 'refused', reason: expect.stringMatching(/with the content .*--as issued gives it/) };
    for (const otherSales of [[], [accessKey]])
      expect(await settle(harness, 'failed', { otherSales })).toEqual(refused);
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
    expect(await lastEvent(harness)).toMatchObject({ data: { as: 'issued', accessKey, attemptLost: true } });
    expect(isOfLostAttempt(await harness.events())).toBe(true);
    const { invoiceId } = (await harness.invoice()).facts;
    const kept = invoiceStream('live', DEMO_CNPJ, invoiceIdOfAccessKey('live', DEMO_CNPJ, accessKey));
    expect((await harness.store.load(kept)).events).toMatchObject([{ type: 'ReferenceTaken', data: { invoiceId } }]);
  });

  it.each<[string, (note: AuthorizedNote) => AuthorizedNote, readonly string[], string]>([
    ['is held by another invoice', (note) => note, [OTHER_STREAM], 'is the note of nfse_'],
    ['has no good signature', (note) => ({ ...note, signatureFault: 'digest' }), [], 'cannot be verified'],
    ['has another text', (note) => ({ ...note, content: ANOTHER_DAY }), [], 'only --as failed can settle'],
  ])('does not settle it as issued where the note %s', async (_how, change, holders, reason) => {
    const { harness, note } = await muteUntilItsEnd(OWN);
    harness.authorizer.notes.splice(0, 1, change(note));
    expect(await settle(harness, 'issued', {}, holders)).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(reason),
    });
    expect(await harness.status()).toBe('indeterminate');
  });

  it.each([
    ['whose DPS was said to exist', false],
    ['whose answer was lost', true],
  ])('settles an invoice %s as failed where its amount differs', async (_which, isLost) => {
    const { harness, note } = await muteUntilItsEnd({ ...OWN, amount: '99.00' }, isLost);
    expect(await settle(harness, 'failed')).toEqual({ kind: 'settled', detail: OTHER_SALES });
    const { dpsId: id, accessKey } = note;
    expect(await lastEvent(harness)).toMatchObject({
      data: { absences: [], otherSales: [{ dpsId: id, accessKey, by: 'content' }] },
    });
  });

  it('settles it as failed where only its text differs, once the operator has named it', async () => {
    const { harness, note } = await muteUntilItsEnd(ANOTHER_DAY);
    const { accessKey } = note;
    expect(await settle(harness, 'failed')).toMatchObject({
      reason: expect.stringMatching(new RegExp(`Compare note ${accessKey} with .* --other-sale ${accessKey}$`)),
    });
    expect(await settle(harness, 'failed', { otherSales: ['6'.repeat(50)] })).toMatchObject({ kind: 'refused' });
    expect(await settle(harness, 'failed', { otherSales: [accessKey] })).toMatchObject({ kind: 'settled' });
    expect(await lastEvent(harness)).toMatchObject({ data: { otherSales: [{ accessKey, by: 'operator' }] } });
  });

  it('does not settle it as failed within a day of its attempt', async () => {
    const harness = await issuingHarness();
    putNote(harness, 1, { ...OWN, amount: '99.00' });
    harness.authorizer.mute = true;
    await harness.issueToTheEnd();
    harness.authorizer.mute = false;
    expect(await settle(harness, 'failed')).toMatchObject({ reason: expect.stringContaining('24 h after the last') });
  });

  it.each<[string, Partial<AuthorizedNote>]>([
    ['cannot be relied on', { signatureFault: 'digest' }],
    ['contradicts itself', { digest: '' }],
  ])('does not settle it as failed where the note %s, whatever the operator says', async (_how, fault) => {
    const { harness, note } = await muteUntilItsEnd({ ...OWN, amount: '99.00' });
    harness.authorizer.notes.splice(0, 1, { ...note, ...fault });
    const { accessKey } = note;
    for (const otherSales of [[], [accessKey]])
      expect(await settle(harness, 'failed', { otherSales })).toMatchObject({ kind: 'refused' });
  });

  it('settles nothing where the note holds what the invoice sent, and is then the note of the invoice', async () => {
    const { harness, note } = await muteUntilItsEnd({ ...OWN, amount: '99.00' });
    const { digest = '' } = (await harness.invoice()).attempts[0] ?? {};
    harness.authorizer.notes.splice(0, 1, { ...note, digest });
    for (const otherSales of [[], [note.accessKey]])
      expect(await settle(harness, 'failed', { otherSales })).toMatchObject({
        reason: expect.stringContaining('try --as issued'),
      });
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
    expect(await lastEvent(harness)).not.toHaveProperty('data.attemptLost');
  });

  it('that was said to exist is not proven absent', async () => {
    const { harness } = await muteUntilItsEnd(OWN);
    harness.authorizer.notes.splice(0);
    for (const seconds of [0, 3_600]) {
      harness.clock.pass(seconds);
      expect(await settle(harness, 'failed')).toMatchObject({ reason: expect.stringContaining('(E0014)') });
    }
  });
});

it('an invoice that met a note with equal content is advised that note alone', async () => {
  const { harness } = await metOther(OWN);
  expect(await waitingOf(harness, 'indeterminate')).toMatchObject({
    command: expect.stringMatching(/--as issued --evidence TEXT \(where that is refused, it stays/),
  });
  expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
  expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
});

it('an invoice whose note with equal content is gone or another one is said to stay indeterminate', async () => {
  const { harness, note } = await metOther(OWN);
  const stays = { kind: 'refused', reason: expect.stringContaining('stays indeterminate') };
  for (const notes of [[], [{ ...note, accessKey: '6'.repeat(50) }]]) {
    Object.assign(harness.authorizer, { notes });
    expect(await settle(harness, 'issued')).toEqual(stays);
    expect(await settle(harness, 'failed')).toEqual(stays);
  }
});

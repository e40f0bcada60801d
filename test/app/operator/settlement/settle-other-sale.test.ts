import { describe, expect, it } from 'vitest';
import {
  type SettleCommand,
  type SettleDeps,
  settleInvoice,
} from '../../../../src/app/operator/settlement/settle-invoice.js';
import { waitingWork } from '../../../../src/app/operator/support/waiting.js';
import { dpsId } from '../../../../src/domain/common/access-key.js';
import { addSeconds, DAY_SECONDS } from '../../../../src/domain/common/time.js';
import type { AuthorizedNote } from '../../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../../support/fixture/demo.js';
import { noteFor } from '../../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../../support/harness/issuing.js';

const OWN = { amount: '1500.00', description: 'Desenvolvimento de sistema', customerDocument: '11111111000191' };
const ANOTHER_DAY = { ...OWN, description: 'Desenvolvimento de sistema, 20/11/2026' };

/** The invoice met this note under its number, whose content differs, and its time ended a day ago. */
const metOther = async (content: AuthorizedNote['content']) => {
  const harness = await issuingHarness();
  const id = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 1 });
  const note = { ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), 1), dpsId: id, content };
  harness.authorizer.notes.push(note);
  await harness.issueToTheEnd();
  expect(await harness.status()).toBe('indeterminate');
  harness.clock.moveTo(addSeconds(harness.clock.now(), DAY_SECONDS));
  return { harness, note };
};

const settle = (
  { deps, notices, stream }: IssuingHarness,
  as: SettleCommand['as'],
  more: Partial<SettleCommand> = {},
) => {
  const { store, authorizer, lookups, clock, limits } = deps;
  const notify: SettleDeps['notify'] = async (notice) => void notices.push(notice);
  return settleInvoice(
    { stream, as, evidence: 'portal', ...more },
    { store, authorizer, lookups, clock, limits, notify, actor: 'support:maria', holdersOf: async () => [] },
  );
};

const waiting = async (harness: IssuingHarness) => {
  const row = { stream: harness.stream, createdAt: harness.clock.now(), state: await harness.invoice() };
  const { oldest } = await waitingWork(
    {
      supportReads: {
        indeterminate: async () => ({ count: 1, oldest: [row] }),
        failedCancellations: async () => ({ count: 0, oldest: [] }),
      },
      readModel: { companies: async () => [] },
      store: harness.store,
      queue: { parked: async () => ({ work: [], count: 0 }) },
    },
    1,
  );
  return oldest[0];
};

describe('an invoice that met a note with other content under its number', () => {
  it.each([
    ['amount', { ...OWN, amount: '99.00' }],
    ['customer', { ...OWN, customerDocument: '' }],
  ])('is settled as failed when the note has another %s, as the waiting work advises', async (_what, content) => {
    const { harness } = await metOther(content);
    const { detail, command } = (await waiting(harness)) ?? {};
    expect(detail).toBe('a note with other content has its number; first compare it at the national portal');
    expect(command).toMatch(/^nfse invoice resolve nfse_\S+ --as failed --evidence TEXT \(only where /);
    expect(await settle(harness, 'issued')).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/it is another invoice: the note under its number .* only --as failed can settle/),
    });
    expect(await settle(harness, 'failed')).toMatchObject({ kind: 'settled' });
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
    expect(await settle(harness, 'failed', { otherSales: [note.accessKey] })).toMatchObject({ kind: 'settled' });
    expect(await harness.status()).toBe('failed');
  });

  it.each<[how: string, change: (note: AuthorizedNote) => Partial<IssuingHarness['authorizer']>]>([
    ['is not there any more', () => ({ notes: [] })],
    ['is another one now', (note) => ({ notes: [{ ...note, accessKey: '6'.repeat(50) }] })],
    ['cannot be relied on', (note) => ({ notes: [{ ...note, signatureFault: 'digest' }] })],
    ['cannot be looked up', () => ({ mute: true })],
  ])('is not settled as failed without that name when the note %s', async (_how, change) => {
    const { harness, note } = await metOther({ ...OWN, amount: '99.00' });
    Object.assign(harness.authorizer, change(note));
    expect(await settle(harness, 'failed')).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(`--as failed --other-sale ${note.accessKey}`),
    });
    expect(await settle(harness, 'failed', { otherSales: [note.accessKey] })).toMatchObject({ kind: 'settled' });
  });
});

it('an invoice that met a note with equal content is advised that note alone', async () => {
  const { harness } = await metOther(OWN);
  expect(await waiting(harness)).toMatchObject({
    command: expect.stringMatching(/--as issued --evidence TEXT \(where another invoice has the note, it stays/),
  });
  expect(await settle(harness, 'failed')).toMatchObject({ kind: 'refused' });
  expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
});

it('a document that came under a DPS id after the end of the invoice and is not its own sends nobody from one end to the other', async () => {
  const harness = await issuingHarness();
  harness.authorizer.script = ['lost_request'];
  harness.authorizer.mute = true;
  await harness.issueToTheEnd();
  harness.authorizer.mute = false;
  const id = (await harness.invoice()).attempts[0]?.dpsId ?? '';
  harness.authorizer.notes.push({ ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), 1), content: OWN });
  harness.clock.moveTo(addSeconds(harness.clock.now(), DAY_SECONDS));
  expect(await settle(harness, 'issued')).toMatchObject({ kind: 'refused' });
  const { reason } = (await settle(harness, 'failed')) as { reason: string };
  expect(reason).toContain('so it stays indeterminate');
  expect(reason).not.toContain('--as issued');
});

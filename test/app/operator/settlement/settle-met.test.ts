import { describe, expect, it } from 'vitest';
import { invoiceIdOfAccessKey } from '../../../../src/app/event-store/hashes.js';
import { type SettleDeps, settleInvoice } from '../../../../src/app/operator/settlement/settle-invoice.js';
import { dpsId } from '../../../../src/domain/common/access-key.js';
import { invoiceStream, type Mode } from '../../../../src/domain/common/ids.js';
import type { AuthorizedNote } from '../../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../../../support/fixture/demo.js';
import { imported } from '../../../support/fixture/invoice.js';
import { appendTo } from '../../../support/harness/event-store.js';
import { noteFor } from '../../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../../support/harness/issuing.js';

const OWN = { amount: '1500.00', description: 'Desenvolvimento de sistema', customerDocument: '11111111000191' };
const OTHER_ID = '77777777-7777-4777-8777-777777777777';

/** The authorizer has a note under the first number, which the log has lost and has given again to the invoice. */
const met = async (content: AuthorizedNote['content'] = OWN, mode: Mode = 'live') => {
  const harness = await issuingHarness(mode);
  const id = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 1 });
  const note = { ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), 1), dpsId: id, content };
  harness.authorizer.notes.push(note);
  return { harness, note };
};

const metAndEnded = async (mode: Mode = 'live') => {
  const { harness, note } = await met(OWN, mode);
  await harness.issueToTheEnd();
  expect(await harness.status()).toBe('indeterminate');
  return { harness, note };
};

const settle = (
  { deps, notices, stream }: IssuingHarness,
  { accessKey, holders = [] }: { accessKey?: string; holders?: readonly string[] } = {},
) => {
  const { store, authorizer, lookups, clock, limits } = deps;
  const notify: SettleDeps['notify'] = async (notice) => void notices.push(notice);
  return settleInvoice(
    { stream, as: 'issued', evidence: 'portal', ...(accessKey === undefined ? {} : { accessKey }) },
    { store, authorizer, lookups, clock, limits, notify, actor: 'support:maria', holdersOf: async () => holders },
  );
};

const other = invoiceStream('live', DEMO_CNPJ, OTHER_ID);

describe('the note that an invoice met under its number, with its own content', () => {
  it.each<[how: string, named: boolean]>([
    ['found by the number', false],
    ['named by its access key', true],
  ])('settles the invoice, %s', async (_how, named) => {
    const { harness, note } = await metAndEnded();
    const { accessKey } = note;
    expect(await settle(harness, named ? { accessKey } : {})).toEqual({
      kind: 'settled',
      detail: `issued, access key ${accessKey}, the note with its content under its number`,
    });
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'IndeterminateResolved',
      data: { as: 'issued', accessKey },
    });
    expect((await harness.invoice()).outcome).toMatchObject({ status: 'issued', accessKey });
    expect(await settle(harness, { holders: [harness.stream] })).toEqual({ kind: 'already_so' });
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('is kept for the invoice, so that no import gives the note to another one', async () => {
    const { harness, note } = await metAndEnded();
    await settle(harness);
    const { invoiceId } = (await harness.invoice()).facts;
    const stream = invoiceStream('live', DEMO_CNPJ, invoiceIdOfAccessKey('live', DEMO_CNPJ, note.accessKey));
    expect((await harness.store.load(stream)).events).toMatchObject([{ type: 'ReferenceTaken', data: { invoiceId } }]);
  });

  it('is kept in live mode only', async () => {
    const { harness, note } = await metAndEnded('test');
    expect(await settle(harness)).toMatchObject({ kind: 'settled' });
    const stream = invoiceStream('test', DEMO_CNPJ, invoiceIdOfAccessKey('test', DEMO_CNPJ, note.accessKey));
    expect((await harness.store.load(stream)).events).toEqual([]);
  });

  it.each<[what: string, change: Partial<AuthorizedNote>, reason: string]>([
    ['has another key than the conflict names', { accessKey: '6'.repeat(50) }, 'it is another invoice'],
    ['has other content', { content: { ...OWN, amount: '1500.01' } }, 'it is another invoice'],
    ['is under another number', { dpsId: 'DPS330455721234567800019500001000000000000099' }, 'it is another invoice'],
    ['has no valid signature of the authorizer', { signatureFault: 'digest' }, 'cannot be verified'],
    ['contradicts itself', { digest: '', contradiction: { claimed: 'x', computed: 'y' } }, 'contradicts itself'],
    ['cannot be made of its DPS', { misfit: true }, 'contradicts itself'],
  ])('does not settle it when the document found %s', async (_what, change, reason) => {
    const { harness, note } = await metAndEnded();
    harness.authorizer.findByAccessKey = async () => ({ kind: 'found', found: { ...note, ...change } });
    expect(await settle(harness, { accessKey: note.accessKey })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(reason),
    });
    expect(await harness.status()).toBe('indeterminate');
  });

  it('does not settle it when another invoice of the company and mode has the note', async () => {
    const { harness } = await metAndEnded();
    const elsewhere = [
      invoiceStream('test', DEMO_CNPJ, OTHER_ID),
      invoiceStream('live', '11444777000161', OTHER_ID),
      harness.stream,
    ];
    expect(await settle(harness, { holders: [...elsewhere, other] })).toEqual({
      kind: 'refused',
      reason: `the document found is the note of nfse_${OTHER_ID}`,
    });
    expect(await harness.status()).toBe('indeterminate');
    expect(await settle(harness, { holders: elsewhere })).toMatchObject({ kind: 'settled' });
  });

  it('does not settle it while an import has kept the note for another invoice', async () => {
    const { harness, note } = await metAndEnded();
    const { accessKey } = note;
    const stream = invoiceStream('live', DEMO_CNPJ, invoiceIdOfAccessKey('live', DEMO_CNPJ, accessKey));
    const at = harness.clock.now();
    await appendTo(harness.store, stream, [{ type: 'ReferenceTaken', data: { invoiceId: OTHER_ID, takenAt: at } }], at);
    await appendTo(harness.store, other, [imported({ mode: 'live', invoiceId: OTHER_ID, accessKey })], at);
    expect(await settle(harness)).toEqual({
      kind: 'refused',
      reason: `the document found is kept for another invoice: access_key is held by nfse_${OTHER_ID}`,
    });
    expect(await harness.status()).toBe('indeterminate');
  });
});

it('a note with other content under the number of an invoice settles nothing', async () => {
  const { harness, note } = await met({ ...OWN, description: 'de outro' });
  harness.authorizer.mute = false;
  await harness.issueToTheEnd();
  expect(await harness.types()).toContain('NumberConflictFound');
  expect(await harness.status()).toBe('indeterminate');
  // The conflict has judged; the note is not compared again in favour of the invoice.
  harness.authorizer.notes = [{ ...note, content: OWN }];
  expect(await settle(harness)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('another invoice') });
});

import { expect, it } from 'vitest';
import { CONTENDED } from '../../../../src/app/event-store/transact.js';
import {
  type SettleAs,
  type SettleDeps,
  settleInvoice,
} from '../../../../src/app/operator/settlement/settle-invoice.js';
import { invoiceStream } from '../../../../src/domain/common/ids.js';
import { invoiceView } from '../../../../src/http/invoice-body.js';
import { dataOf, imported } from '../../../support/fixture/invoice.js';
import { appendTo } from '../../../support/harness/event-store.js';
import { type IssuingHarness, issuingHarness } from '../../../support/harness/issuing.js';

const OTHER_ID = '99999999-9999-4999-8999-999999999999';
const REQUESTED_AT = '2026-11-21T12:30:00.000Z';

const issued = async (): Promise<IssuingHarness> => {
  const harness = await issuingHarness();
  await harness.issueToTheEnd();
  expect(await harness.status()).toBe('issued');
  return harness;
};

const requested = (harness: IssuingHarness, request = 1) =>
  harness.record({
    type: 'CancellationRequested',
    data: { request, reason: 'other', description: 'Pedido repetido', requestedAt: REQUESTED_AT },
  });

/** The event was registered, but every answer was lost until the time was over. */
const cancellationFailed = async (registered: boolean): Promise<IssuingHarness> => {
  const harness = await issued();
  await requested(harness);
  harness.authorizer.script = [registered ? 'lost_answer' : 'lost_request'];
  harness.authorizer.mute = true;
  await harness.cancelToTheEnd();
  harness.authorizer.mute = false;
  expect(await harness.invoice()).toMatchObject({ cancellation: { status: 'failed' } });
  return harness;
};

const settle = (harness: IssuingHarness, store = harness.deps.store, as: SettleAs = 'canceled') => {
  const { authorizer, lookups, clock, limits } = harness.deps;
  const notify: SettleDeps['notify'] = async (notice) => void harness.notices.push(notice);
  return settleInvoice(
    { stream: harness.stream, as, evidence: 'Consulta ao portal' },
    { store, authorizer, lookups, clock, limits, notify, actor: 'support:maria', holdersOf: async () => [] },
  );
};

it('a cancellation that ended as failed is canceled once its event is found at the authorizer', async () => {
  const harness = await cancellationFailed(true);
  expect(await settle(harness)).toEqual({ kind: 'settled', detail: expect.stringContaining('canceled 2026-11-21T') });
  expect((await harness.events()).at(-1)).toMatchObject({
    type: 'CancellationSettledBySupport',
    data: { evidence: 'Consulta ao portal', canceledAt: harness.authorizer.events[0]?.registeredAt },
    metadata: { actor: 'support:maria' },
  });
  const body = invoiceView(await harness.invoice(), harness.clock.now());
  expect(body).toMatchObject({ status: 'canceled', cancellation: { status: 'succeeded' } });
  expect(body.cancellation).not.toHaveProperty('error');
  expect(body).not.toHaveProperty('cancelable_until');
  expect(await settle(harness)).toEqual({ kind: 'already_so' });
  expect(await settle(harness, harness.deps.store, 'issued')).toEqual({
    kind: 'refused',
    reason: 'its note is canceled, so there is nothing to settle',
  });
});

it('it is refused in one line while other writers are always first', async () => {
  const harness = await cancellationFailed(true);
  const losing = { ...harness.deps.store, append: async () => ({ ok: false as const }) };
  expect(await settle(harness, losing)).toEqual({ kind: 'refused', reason: CONTENDED });
  expect(await settle(harness)).toMatchObject({ kind: 'settled' });
});

it('it stays as it was without the event, and while the authorizer says nothing', async () => {
  const harness = await cancellationFailed(false);
  expect(await settle(harness)).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('no cancellation event'),
  });
  harness.authorizer.mute = true;
  expect(await settle(harness)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('proves nothing') });
  expect(await harness.status()).toBe('issued');
});

it('a note that was imported without access key stays issued, because no event can be looked up', async () => {
  const harness = await issued();
  const { accessKey: _key, ...data } = dataOf(imported({ invoiceId: OTHER_ID }), 'InvoiceImported');
  const stream = invoiceStream('live', data.companyId, OTHER_ID);
  await appendTo(harness.store, stream, [{ type: 'InvoiceImported', data }], harness.clock.now());
  expect(await settle({ ...harness, stream })).toEqual({
    kind: 'refused',
    reason:
      'it was imported without access_key, and only an event at the authorizer, which is looked up by that key, makes an invoice canceled: it stays issued',
  });
});

it('without a request it is settled by an event of another party, and never without an event', async () => {
  const harness = await issued();
  const none = { kind: 'refused', reason: expect.stringContaining('no cancellation event') };
  expect(await settle(harness)).toMatchObject(none);
  const { accessKey } = harness.authorizer.notes[0] ?? { accessKey: '' };
  const registeredAt = harness.clock.now();
  const requestId = `PRE${accessKey}105102`;
  harness.authorizer.events.push({
    xml: Buffer.from('<evento/>'),
    eventType: '105102',
    registeredAt,
    requestId,
    digest: '',
    contradiction: { claimed: '', computed: 'y' },
  });
  expect(await settle(harness)).toEqual({
    kind: 'settled',
    detail: `canceled ${registeredAt} by event 105102 of another party`,
  });
  expect((await harness.events()).at(-1)).toMatchObject({
    type: 'NoteCanceledElsewhere',
    data: { accessKey, eventType: '105102', canceledAt: registeredAt, evidence: 'Consulta ao portal' },
    metadata: { actor: 'support:maria' },
  });
  const body = invoiceView(await harness.invoice(), harness.clock.now());
  expect(body.status).toBe('canceled');
  expect(body).not.toHaveProperty('cancellation');
  expect(body).not.toHaveProperty('cancelable_until');
  expect(await settle(harness)).toEqual({ kind: 'already_so' });
});

it('nothing is settled that is still being worked on', async () => {
  const harness = await issued();
  await requested(harness);
  expect(await settle(harness)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('end by itself') });
});

it.each([
  ['contradicts itself', { digest: '', contradiction: { claimed: 'x', computed: '' } }, 'contradicts itself'],
  ['is another’s, and unsigned', { digest: 'another', signatureFault: 'missing' }, 'cannot be verified'],
])('an event that %s settles nothing, and is told', async (_what, change, reason) => {
  const harness = await cancellationFailed(true);
  harness.authorizer.events = harness.authorizer.events.map((event) => ({ ...event, ...change }));
  harness.notices.length = 0;
  expect(await settle(harness)).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) });
  expect(await harness.status()).toBe('issued');
  expect(harness.notices).not.toEqual([]);
});

it.each([
  ['another’s', { digest: 'another' }],
  ['another’s, by another algorithm', { digest: '', contradiction: { claimed: 'x', computed: 'y' } }],
  ['of the authorizer’s own pages', { digest: '', contradiction: { claimed: '', computed: 'another' } }],
])('an event that is %s, signed by the authorizer, is evidence as ever', async (_what, change) => {
  const harness = await cancellationFailed(true);
  harness.authorizer.events = harness.authorizer.events.map((event) => ({ ...event, ...change }));
  harness.notices.length = 0;
  expect(await settle(harness)).toMatchObject({ kind: 'settled' });
  expect(harness.notices).toEqual([]);
});

it('our own event under a signature that nobody can verify is recorded, and told', async () => {
  const harness = await cancellationFailed(true);
  harness.authorizer.events = harness.authorizer.events.map((event) => ({ ...event, signatureFault: 'algorithm' }));
  harness.notices.length = 0;
  expect(await settle(harness)).toMatchObject({ kind: 'settled' });
  expect(harness.notices).toEqual([{ kind: 'signature_unverified', stream: harness.stream, detail: 'algorithm' }]);
});

it('a failed cancellation is closed as valid only while the authorizer shows no event, and the client sees no change', async () => {
  const harness = await cancellationFailed(false);
  const close = () => settle(harness, harness.deps.store, 'valid');
  const before = invoiceView(await harness.invoice(), harness.clock.now());
  harness.authorizer.mute = true;
  expect(await close()).toMatchObject({ kind: 'refused', reason: expect.stringContaining('proves nothing') });
  harness.authorizer.mute = false;
  expect(await close()).toMatchObject({ kind: 'settled', detail: expect.stringContaining('valid') });
  expect((await harness.events()).at(-1)).toMatchObject({
    type: 'CancellationClosedBySupport',
    data: { evidence: 'Consulta ao portal' },
    metadata: { actor: 'support:maria' },
  });
  expect(invoiceView(await harness.invoice(), harness.clock.now())).toEqual(before);
  expect(await close()).toEqual({ kind: 'already_so' });
});

it('a failed cancellation whose event is there is not closed as valid, and one that was closed may still be canceled', async () => {
  const registered = await cancellationFailed(true);
  expect(await settle(registered, registered.deps.store, 'valid')).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('--as canceled'),
  });
  const closed = { type: 'CancellationClosedBySupport', data: { evidence: 'portal', at: REQUESTED_AT } } as const;
  await registered.record(closed);
  expect(await settle(registered)).toMatchObject({ kind: 'settled' });
  expect(await registered.status()).toBe('canceled');
});

it('nothing but a failed cancellation is closed as valid', async () => {
  const harness = await issued();
  const refused = { kind: 'refused', reason: 'it has no failed cancellation' };
  expect(await settle(harness, harness.deps.store, 'valid')).toEqual(refused);
  await requested(harness);
  expect(await settle(harness, harness.deps.store, 'valid')).toEqual(refused);
});

import { expect, it } from 'vitest';
import { CONTENDED } from '../../../../src/app/event-store/transact.js';
import { type SettleDeps, settleInvoice } from '../../../../src/app/operator/settlement/settle-invoice.js';
import { invoiceView } from '../../../../src/http/invoice-body.js';
import { type IssuingHarness, issuingHarness } from '../../../support/harness/issuing.js';

const REQUESTED_AT = '2026-11-21T12:30:00.000Z';

const issued = async (): Promise<IssuingHarness> => {
  const world = await issuingHarness();
  await world.issueToTheEnd();
  expect(await world.status()).toBe('issued');
  return world;
};

const requested = (world: IssuingHarness, request = 1) =>
  world.record({
    type: 'CancellationRequested',
    data: { request, reason: 'other', description: 'Pedido repetido', requestedAt: REQUESTED_AT },
  });

/** The event was registered, but every answer was lost until the time was over. */
const cancellationFailed = async (registered: boolean): Promise<IssuingHarness> => {
  const world = await issued();
  await requested(world);
  world.authorizer.script = [registered ? 'lost_answer' : 'lost_request'];
  world.authorizer.mute = true;
  await world.cancelToTheEnd();
  world.authorizer.mute = false;
  expect(await world.invoice()).toMatchObject({ cancellation: { status: 'failed' } });
  return world;
};

const settle = (world: IssuingHarness, store = world.deps.store) => {
  const { authorizer, lookups, clock, limits } = world.deps;
  const alarm: SettleDeps['alarm'] = async (notice) => void world.notices.push(notice);
  return settleInvoice(
    { stream: world.stream, as: 'canceled', evidence: 'Consulta ao portal' },
    { store, authorizer, lookups, clock, limits, alarm, actor: 'support:maria' },
  );
};

it('a cancellation that ended as failed is canceled once its event is found at the authorizer', async () => {
  const world = await cancellationFailed(true);
  expect(await settle(world)).toEqual({ kind: 'settled', detail: expect.stringContaining('canceled 2026-11-21T') });
  expect((await world.events()).at(-1)).toMatchObject({
    type: 'CancellationSettledBySupport',
    data: { evidence: 'Consulta ao portal', canceledAt: world.authorizer.events[0]?.registeredAt },
    metadata: { actor: 'support:maria' },
  });
  const body = invoiceView(await world.invoice(), world.clock.now());
  expect(body).toMatchObject({ status: 'canceled', cancellation: { status: 'succeeded' } });
  expect(body.cancellation).not.toHaveProperty('error');
  expect(body).not.toHaveProperty('cancelable_until');
  expect(await settle(world)).toEqual({ kind: 'already_so' });
});

it('it is refused in one line while other writers are always first', async () => {
  const world = await cancellationFailed(true);
  const losing = { ...world.deps.store, append: async () => ({ ok: false }) };
  expect(await settle(world, losing)).toEqual({ kind: 'refused', reason: CONTENDED });
  expect(await settle(world)).toMatchObject({ kind: 'settled' });
});

it('it stays as it was without the event, and while the authorizer says nothing', async () => {
  const world = await cancellationFailed(false);
  expect(await settle(world)).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('no cancellation event'),
  });
  world.authorizer.mute = true;
  expect(await settle(world)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('proves nothing') });
  expect(await world.status()).toBe('issued');
});

it('nothing is settled that nobody asked for, or that is still being worked on', async () => {
  const world = await issued();
  expect(await settle(world)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('nobody has asked') });
  await requested(world);
  expect(await settle(world)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('end by itself') });
});

it.each([
  ['contradicts itself', { digest: '', contradiction: { claimed: 'x', computed: 'y' } }, 'contradicts itself'],
  ['is another’s, and unsigned', { digest: 'another', signatureFault: 'missing' }, 'cannot be verified'],
])('an event that %s settles nothing, and is told', async (_what, change, reason) => {
  const world = await cancellationFailed(true);
  world.authorizer.events = world.authorizer.events.map((event) => ({ ...event, ...change }));
  world.notices.length = 0;
  expect(await settle(world)).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) });
  expect(await world.status()).toBe('issued');
  expect(world.notices).not.toEqual([]);
});

it.each([
  ['another’s', { digest: 'another' }],
  ['of the authorizer’s own pages', { digest: '', contradiction: { claimed: '', computed: 'another' } }],
])('an event that is %s, signed by the authorizer, is evidence as ever', async (_what, change) => {
  const world = await cancellationFailed(true);
  world.authorizer.events = world.authorizer.events.map((event) => ({ ...event, ...change }));
  world.notices.length = 0;
  expect(await settle(world)).toMatchObject({ kind: 'settled' });
  expect(world.notices).toEqual([]);
});

it('our own event under a signature that nobody can verify is recorded, and told', async () => {
  const world = await cancellationFailed(true);
  world.authorizer.events = world.authorizer.events.map((event) => ({ ...event, signatureFault: 'algorithm' }));
  world.notices.length = 0;
  expect(await settle(world)).toMatchObject({ kind: 'settled' });
  expect(world.notices).toEqual([{ notice: 'signature_unverified', stream: world.stream, detail: 'algorithm' }]);
});

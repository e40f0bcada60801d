import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { settleInvoice } from '../../../src/app/operator/settlement/settle-invoice.js';
import { dpsId } from '../../../src/domain/shared/access-key.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { fixedKeys, generationOf } from '../../support/harness/event-store.js';
import { noteFor, type Turn } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

/** The day key was lost with the database; later fields are sealed with another key. */
const loseContent = (world: IssuingHarness): void => {
  const keys = fixedKeys();
  keys.destroy(generationOf.test);
  world.deps.store = createEventStore(world.log, keys);
};

const lostAfter = async (...script: Turn[]): Promise<IssuingHarness> => {
  const world = await issuingHarness('test');
  world.authorizer.script = script;
  if (script.length > 0) await world.issue();
  loseContent(world);
  return world;
};

const noticesOf = ({ notices }: IssuingHarness): ReadonlySet<string> => new Set(notices.map(({ notice }) => notice));

describe('an invoice whose content was lost', () => {
  it('is not issued without it: it says so and ends when its time is over', async () => {
    const world = await lostAfter();
    await world.issueToTheEnd();
    expect(noticesOf(world)).toEqual(new Set(['content_lost']));
    expect(await world.types()).toEqual(['InvoiceAccepted', 'NotProcessed']);
    expect(world.authorizer.calls).toEqual([]);
  });

  it('is not sent again when the bytes of its attempt are gone', async () => {
    const world = await lostAfter('not_sent');
    await world.issueToTheEnd();
    expect(noticesOf(world)).toEqual(new Set(['content_lost']));
    expect(await world.types()).toEqual([
      ...['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceNotSent', 'IssuanceFailed'],
    ]);
    expect(world.authorizer.sends).toEqual([]);
  });

  it('is found all the same when its answer was lost', async () => {
    const world = await lostAfter('lost_answer');
    await world.issueToTheEnd();
    expect(await world.status()).toBe('issued');
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('is neither recorded as issued nor called a conflict when nothing of what was sent can be compared', async () => {
    const world = await issuingHarness('test');
    world.authorizer.script = ['lost_answer'];
    await world.issue();
    loseContent(world);
    const { notes } = world.authorizer;
    notes.splice(0, notes.length, ...notes.map(({ signatureMark: _mark, ...note }) => note));
    await world.issueToTheEnd();
    expect(await world.types()).not.toContain('NumberConflictFound');
    expect(await world.status()).toBe('indeterminate');
    expect(world.authorizer.sends).toHaveLength(1);
    expect(noticesOf(world)).toContain('lookup_inconclusive');
    const deps = { ...world.deps, actor: 'support:maria' as const, alarm: async () => undefined };
    const settled = await settleInvoice({ stream: world.stream, as: 'issued', evidence: 'Consulta ao portal' }, deps);
    expect(JSON.stringify(settled)).toContain('nobody can tell');
  });

  it('gets no second number when another note stands under its own: it may be ours', async () => {
    const world = await issuingHarness('test');
    const id = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 1 });
    const content = { amount: '9.99', description: 'de outro', customerDocument: '' };
    world.authorizer.notes.push({ ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), 1), dpsId: id, content });
    world.authorizer.script = ['lost_request'];
    await world.issue();
    loseContent(world);
    await world.issueToTheEnd();
    expect(await world.types()).toContain('NumberConflictFound');
    expect(await world.status()).toBe('indeterminate');
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it.each([
    ['not begun', [] as Turn[]],
    ['not sent', ['not_sent'] as Turn[]],
  ])('is not canceled by a request that is gone too: %s', async (_case, script) => {
    const world = await issuingHarness('test');
    await world.issueToTheEnd();
    await world.record({
      type: 'CancellationRequested',
      data: { request: 1, reason: 'other', description: 'Cancelamento pedido.', requestedAt: world.clock.now() },
    });
    world.authorizer.script = [...script];
    world.authorizer.sends = [];
    if (script.length > 0) await world.cancel();
    loseContent(world);
    await world.cancelToTheEnd();
    expect(noticesOf(world)).toEqual(new Set(['content_lost']));
    expect((await world.types()).at(-1)).toBe('CancellationNotConfirmed');
    expect(world.authorizer.sends).toEqual([]);
  });
});

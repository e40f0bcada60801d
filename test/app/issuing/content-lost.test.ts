import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { settleInvoice } from '../../../src/app/operator/settlement/settle-invoice.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { fixedKeys, generationOf } from '../../support/harness/event-store.js';
import { noteFor, type Turn } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

/** The day key was lost with the database; later fields are sealed with another key. */
const loseContent = (harness: IssuingHarness): void => {
  const keys = fixedKeys();
  keys.destroy(generationOf.test);
  harness.deps.store = createEventStore(harness.log, keys);
};

const lostAfter = async (...script: Turn[]): Promise<IssuingHarness> => {
  const harness = await issuingHarness('test');
  harness.authorizer.script = script;
  if (script.length > 0) await harness.issue();
  loseContent(harness);
  return harness;
};

const noticesOf = ({ notices }: IssuingHarness): ReadonlySet<string> => new Set(notices.map(({ kind }) => kind));

const settled = ({ deps, stream }: IssuingHarness) =>
  settleInvoice(
    { stream, as: 'issued', evidence: 'Consulta ao portal' },
    { ...deps, actor: 'support:maria', notify: async () => undefined, holdersOf: async () => [] },
  );

describe('an invoice whose content was lost', () => {
  it('is not issued without it: it says so and ends when its time is over', async () => {
    const harness = await lostAfter();
    await harness.issueToTheEnd();
    expect(noticesOf(harness)).toEqual(new Set(['content_lost']));
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'NotProcessed']);
    expect(harness.authorizer.calls).toEqual([]);
  });

  it('is not sent again when the bytes of its attempt are gone', async () => {
    const harness = await lostAfter('not_sent');
    await harness.issueToTheEnd();
    expect(noticesOf(harness)).toEqual(new Set(['content_lost']));
    expect(await harness.types()).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'IssuanceNotSent',
      'IssuanceFailed',
    ]);
    expect(harness.authorizer.sends).toEqual([]);
  });

  it('is found all the same when its answer was lost', async () => {
    const harness = await lostAfter('lost_answer');
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('is neither recorded as issued nor called a conflict when nothing of what was sent can be compared', async () => {
    const harness = await issuingHarness('test');
    harness.authorizer.script = ['lost_answer'];
    await harness.issue();
    loseContent(harness);
    const { notes } = harness.authorizer;
    notes.splice(0, notes.length, ...notes.map(({ signatureMark: _mark, ...note }) => note));
    await harness.issueToTheEnd();
    expect(await harness.types()).not.toContain('NumberConflictFound');
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(noticesOf(harness)).toContain('lookup_inconclusive');
    expect(JSON.stringify(await settled(harness))).toContain('nobody can tell');
  });

  it('gets no second number when another note stands under its own: it may be ours', async () => {
    const harness = await issuingHarness('test');
    const id = dpsId({ municipality: '3304557', cnpj: DEMO_CNPJ, series: '1', number: 1 });
    const content = { amount: '9.99', description: 'de outro', customerDocument: '' };
    harness.authorizer.notes.push({ ...noteFor(Buffer.from(`<infDPS Id="${id}"/>`), 1), dpsId: id, content });
    harness.authorizer.script = ['lost_request'];
    await harness.issue();
    loseContent(harness);
    await harness.issueToTheEnd();
    expect(await harness.types()).toContain('NumberConflictFound');
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.authorizer.sends).toHaveLength(1);
    // The conflict counts as one of equal content, which nothing can show.
    expect(await harness.events()).toContainEqual(
      expect.objectContaining({ type: 'NumberConflictFound', data: expect.objectContaining({ sameContent: true }) }),
    );
    expect(await settled(harness)).toMatchObject({ kind: 'refused' });
  });

  it.each([
    ['not begun', [] as Turn[]],
    ['not sent', ['not_sent'] as Turn[]],
  ])('is not canceled by a request that is gone too: %s', async (_case, script) => {
    const harness = await issuingHarness('test');
    await harness.issueToTheEnd();
    await harness.record({
      type: 'CancellationRequested',
      data: { request: 1, reason: 'other', description: 'Cancelamento pedido.', requestedAt: harness.clock.now() },
    });
    harness.authorizer.script = [...script];
    harness.authorizer.sends = [];
    if (script.length > 0) await harness.cancel();
    loseContent(harness);
    await harness.cancelToTheEnd();
    expect(noticesOf(harness)).toEqual(new Set(['content_lost']));
    expect((await harness.types()).at(-1)).toBe('CancellationNotConfirmed');
    expect(harness.authorizer.sends).toEqual([]);
  });
});

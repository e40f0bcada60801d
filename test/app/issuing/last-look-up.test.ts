import { describe, expect, it } from 'vitest';
import { concludeCancellationIfDue } from '../../../src/app/issuing/cancellation.js';
import type { IssuerDeps } from '../../../src/app/issuing/deps.js';
import { concludeIssueIfDue } from '../../../src/app/issuing/note.js';
import { settleInvoice } from '../../../src/app/operator/settlement/settle-invoice.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { differenceOf } from '../../../src/domain/invoice/reconciliation.js';
import { cancelRequested } from '../../support/fixture/invoice.js';
import { noteFor } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

const HOUR = 3_600;
/** The recording is retried for this long past the time-out. */
const RECORDING = 600;

/** The store, in which no append of this site succeeds. */
const withoutAppend = ({ deps: { store } }: IssuingHarness, site: string): IssuerDeps['store'] => ({
  ...store,
  append: async (stream, version, events, context) => {
    if (context.site === site) throw new Error('broken');
    return await store.append(stream, version, events, context);
  },
});

const cancellationOf = async (harness: IssuingHarness) => (await harness.invoice()).cancellation;

/** The cancellation is registered, its answer was lost, and its hour is over. */
const registeredAndDue = async (): Promise<IssuingHarness> => {
  const harness = await issuingHarness();
  await harness.issueToTheEnd();
  harness.clock.pass(10);
  await harness.record(cancelRequested(10));
  harness.authorizer.script = ['lost_answer'];
  harness.authorizer.mute = true;
  await harness.cancel();
  harness.authorizer.mute = false;
  harness.clock.pass(HOUR + 1);
  return harness;
};

describe('given a registered cancellation whose confirmation cannot be recorded, when its time is over', () => {
  it('then no failure is claimed, and the next sweep that can record it confirms it', async () => {
    const harness = await registeredAndDue();
    const { store } = harness.deps;
    harness.deps.store = withoutAppend(harness, 'record_cancel_lookup');
    for (const seconds of [0, 5, RECORDING - 10]) {
      harness.clock.pass(seconds);
      await concludeCancellationIfDue(harness.stream, harness.deps);
      expect(await cancellationOf(harness)).toMatchObject({ status: 'pending' });
    }
    expect(harness.notices.map(({ kind }) => kind)).toContain('last_look_up_failed');
    harness.deps.store = store;
    await concludeCancellationIfDue(harness.stream, harness.deps);
    expect(await cancellationOf(harness)).toMatchObject({ status: 'succeeded' });
    expect(await harness.status()).toBe('canceled');
  });

  it('then a worker comes back after a pause instead of asking without end', async () => {
    const harness = await registeredAndDue();
    harness.deps.store = withoutAppend(harness, 'record_cancel_lookup');
    const calls = harness.authorizer.calls.length;
    expect(await harness.cancel()).toEqual({ kind: 'later', at: addSeconds(harness.clock.now(), 30) });
    expect(harness.authorizer.calls.slice(calls)).toEqual(['findCancellation']);
  });

  it('then it still ends, as not confirmed; the reconciliation sees the difference and support settles it', async () => {
    const harness = await registeredAndDue();
    const { store } = harness.deps;
    harness.deps.store = withoutAppend(harness, 'record_cancel_lookup');
    harness.clock.pass(RECORDING);
    await concludeCancellationIfDue(harness.stream, harness.deps);
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'timeout', codes: [] },
    });
    const invoice = await harness.invoice();
    const accessKey = harness.authorizer.notes[0]?.accessKey ?? '';
    expect(differenceOf(invoice, { about: 'cancellation', accessKey, held: 'event' }, false)).toEqual({
      kind: 'canceled_there_only',
      accessKey,
    });
    const notify = async (): Promise<void> => undefined;
    const settled = await settleInvoice(
      { stream: harness.stream, as: 'canceled', evidence: 'portal' },
      { ...harness.deps, store, notify, actor: 'support:maria', holdersOf: async () => [] },
    );
    expect(settled).toMatchObject({ kind: 'settled' });
    expect(await harness.status()).toBe('canceled');
  });

  it('then an event that nobody vouches for delays nothing', async () => {
    const harness = await registeredAndDue();
    const doubt = { digest: 'another', signatureFault: 'missing' };
    harness.authorizer.events = harness.authorizer.events.map((event) => ({ ...event, ...doubt }));
    await concludeCancellationIfDue(harness.stream, harness.deps);
    expect(await cancellationOf(harness)).toMatchObject({ status: 'failed' });
  });

  it('then an event of another party that cannot be recorded is waited for like its own, and recorded once it can be', async () => {
    const harness = await registeredAndDue();
    harness.authorizer.events = harness.authorizer.events.map((event) => ({ ...event, digest: 'another' }));
    const { store } = harness.deps;
    harness.deps.store = withoutAppend(harness, 'record_cancel_lookup');
    await concludeCancellationIfDue(harness.stream, harness.deps);
    expect(await cancellationOf(harness)).toMatchObject({ status: 'pending' });
    harness.deps.store = store;
    await concludeCancellationIfDue(harness.stream, harness.deps);
    expect(await cancellationOf(harness)).toMatchObject({ status: 'succeeded' });
    expect((await harness.events()).at(-1)).toMatchObject({ type: 'NoteCanceledElsewhere' });
  });
});

/** Every attempt was proven not sent, a document of this kind stands under the DPS id all the same, and the hour is over. */
const notSentAndDue = async (document: (digest: string) => object): Promise<IssuingHarness> => {
  const harness = await issuingHarness();
  harness.authorizer.script = ['not_sent'];
  await harness.issue();
  const [attempt] = (await harness.invoice()).attempts;
  const note = noteFor(Buffer.from(`<infDPS Id="${attempt?.dpsId}"/>`), 1);
  harness.authorizer.notes.push({ ...note, ...document(attempt?.digest ?? '') });
  harness.clock.pass(HOUR + 100);
  return harness;
};

describe('given attempts that were all not sent, when the last look-up shows a document of unknown owner', () => {
  const doubtful: readonly (readonly [what: string, document: (digest: string) => object])[] = [
    ['that contradicts itself', (digest) => ({ digest: '', contradiction: { claimed: digest, computed: 'x' } })],
    ['of another content, without the signature of the authorizer', () => ({ signatureFault: 'missing' })],
  ];

  it.each(doubtful)('%s, then the invoice is indeterminate and not failed', async (_what, document) => {
    const harness = await notSentAndDue(document);
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect((await harness.types()).at(-1)).toBe('IssuanceInterrupted');
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.authorizer.sends).toHaveLength(0);
  });

  it.each([
    ['', undefined],
    [', also when the look-up cannot be recorded', 'put'],
  ] as const)(
    'that is named and not given%s, then the invoice is indeterminate and not failed',
    async (_how, broken) => {
      const harness = await notSentAndDue(() => ({}));
      const exists = { kind: 'inconclusive', reason: 'status_503', exists: true } as const;
      harness.authorizer.findByDps = async () => exists;
      const lookups = {
        ...harness.deps.lookups,
        ...(broken && { [broken]: () => Promise.reject(new Error('broken')) }),
      };
      await concludeIssueIfDue(harness.stream, { ...harness.deps, lookups });
      expect((await harness.types()).at(-1)).toBe('IssuanceInterrupted');
      expect(await harness.status()).toBe('indeterminate');
    },
  );

  it('then support cannot call the invoice failed while the document stands', async () => {
    const harness = await notSentAndDue(() => ({ signatureFault: 'missing' }));
    await concludeIssueIfDue(harness.stream, harness.deps);
    harness.clock.pass(25 * HOUR);
    const notify = async (): Promise<void> => undefined;
    const settle = () =>
      settleInvoice(
        { stream: harness.stream, as: 'failed', evidence: 'portal' },
        { ...harness.deps, notify, actor: 'support:maria', holdersOf: async () => [] },
      );
    expect(await settle()).toMatchObject({ kind: 'refused', reason: expect.stringContaining('has a document') });
    harness.authorizer.notes = [];
    expect(await settle()).toMatchObject({ kind: 'ask_again' });
    harness.clock.pass(60);
    expect(await settle()).toMatchObject({ kind: 'settled' });
  });
});

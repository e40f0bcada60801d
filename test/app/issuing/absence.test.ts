import { describe, expect, it } from 'vitest';
import type { IssuerDeps } from '../../../src/app/issuing/deps.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { cancelRequested, limits } from '../../support/fixture/invoice.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

type Found = 'notes' | 'events';

/** A send whose answer was lost, in a harness whose look-ups show nothing yet; the time of its deadline has come. */
const sentNote = async (overrides?: Partial<IssuerDeps>): Promise<IssuingHarness> => {
  const harness = await issuingHarness('live', overrides);
  harness.authorizer.script = ['lost_request'];
  await harness.issue();
  harness.clock.pass(35);
  return harness;
};

const sentCancellation = async (overrides?: Partial<IssuerDeps>): Promise<IssuingHarness> => {
  const harness = await issuingHarness('live', overrides);
  await harness.issueToTheEnd();
  await harness.record(cancelRequested(0));
  harness.authorizer.script = ['lost_request'];
  await harness.cancel();
  harness.clock.pass(35);
  return harness;
};

const kinds = [
  ['a note', sentNote, 'issue', 'IssuanceProvenAbsent', 'notes'],
  ['a cancellation', sentCancellation, 'cancel', 'CancellationProvenAbsent', 'events'],
] as const;

/** A document that contradicts itself stands under the id of what was sent. */
const put = async (harness: IssuingHarness, list: Found): Promise<void> => {
  const doubt = { contradiction: { claimed: 'x', computed: 'y' } };
  if (list === 'notes') {
    const dpsId = (await harness.invoice()).attempts[0]?.dpsId ?? '';
    const content = { amount: '1.00', description: 'outra nota', customerDocument: '' };
    const rest = { accessKey: '3'.repeat(50), nfseNumber: '1', authorizedAt: harness.clock.now(), content };
    harness.authorizer.notes.push({ ...rest, xml: Buffer.from('<NFSe/>'), dpsId, digest: '', ...doubt });
    return;
  }
  const requestId = (await harness.invoice()).cancellation?.sends[0]?.requestId ?? '';
  const event = { xml: Buffer.from('<evento/>'), eventType: '101101' as const, registeredAt: harness.clock.now() };
  harness.authorizer.events.push({ ...event, requestId, digest: '', ...doubt, signatureFault: 'missing' });
};

describe.each(kinds)('given %s that was sent and not answered', (_what, sent, work, proof, list) => {
  it('when look-ups say absent, found without an owner, absent, then nothing is proven', async () => {
    const harness = await sent();
    await harness[work]();
    await put(harness, list);
    harness.clock.pass(60);
    await harness[work]();
    harness.authorizer[list].length = 0;
    harness.clock.pass(120);
    await harness[work]();
    expect(await harness.types()).not.toContain(proof);
    expect(harness.authorizer.calls.filter((call) => call.startsWith('find'))).toHaveLength(3);
    harness.clock.pass(300);
    await harness[work]();
    expect(await harness.types()).toContain(proof);
  });

  it('when look-ups say absent, nothing, absent, then the absence is proven', async () => {
    const harness = await sent();
    await harness[work]();
    harness.authorizer.mute = true;
    harness.clock.pass(60);
    await harness[work]();
    harness.authorizer.mute = false;
    harness.clock.pass(120);
    await harness[work]();
    expect(await harness.types()).toContain(proof);
  });

  it('when a look-up is asked before the deadline and answered after it, then its absence does not count', async () => {
    const harness = await sent();
    harness.clock.pass(-3);
    const { findByDps, findCancellation } = harness.authorizer;
    const slowly = async <T>(answer: Promise<T>): Promise<T> => {
      harness.clock.pass(10);
      return await answer;
    };
    harness.authorizer.findByDps = (...asked) => slowly(findByDps(...asked));
    harness.authorizer.findCancellation = (...asked) => slowly(findCancellation(...asked));
    await harness[work]();
    Object.assign(harness.authorizer, { findByDps, findCancellation });
    harness.clock.pass(120);
    await harness[work]();
    expect(harness.authorizer.calls.filter((call) => call.startsWith('find'))).toHaveLength(2);
    expect(await harness.types()).not.toContain(proof);
    harness.clock.pass(180);
    await harness[work]();
    expect(await harness.types()).toContain(proof);
  });

  it('when the two absences need no gap, then one of them still proves nothing', async () => {
    const harness = await sent({ limits: { ...limits, lookupIntervalsSeconds: [30, 0, 60] } });
    const asked = harness.clock.now();
    await harness[work]();
    const proven = (await harness.events()).flatMap(({ type, data }) => (type === proof ? [data] : []));
    expect(proven).toEqual([]);
    harness.clock.pass(60);
    await harness[work]();
    expect((await harness.events()).find(({ type }) => type === proof)?.data).toMatchObject({
      firstAskedAt: asked,
      secondAskedAt: addSeconds(asked, 60),
    });
  });
});

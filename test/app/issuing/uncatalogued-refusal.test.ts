import { describe, expect, it } from 'vitest';
import type { SendResult } from '../../../src/ports/authorizer.js';
import { at, cancelRequested } from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

/** The answer to a send whose code is in no catalogue. */
const refused = {
  kind: 'unknown',
  reason: 'uncatalogued_refusal',
  refused: true,
  codes: [UNCATALOGUED_CODE],
  httpStatus: 400,
  texts: ['Regra nova da Sefin.'],
} as const satisfies SendResult<never>;

/** The first send of this kind is refused; what it was about is kept, so that a test can let it become a document all the same. */
const refusing = async (work: 'issue' | 'cancel'): Promise<{ harness: IssuingHarness; arriveAllTheSame(): void }> => {
  const harness = await issuingHarness();
  if (work === 'cancel') {
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(0));
  }
  const { authorizer } = harness;
  const { sendDps, sendCancellation } = authorizer;
  let arrive = (): void => undefined;
  const once =
    <Asked extends unknown[], Sent>(send: (...asked: Asked) => Promise<SendResult<Sent>>) =>
    async (...asked: Asked): Promise<SendResult<Sent>> => {
      authorizer.script = ['late'];
      await send(...asked);
      arrive = authorizer.arriveLate;
      authorizer.sendDps = sendDps;
      authorizer.sendCancellation = sendCancellation;
      return refused;
    };
  authorizer.sendDps = once(sendDps);
  authorizer.sendCancellation = once(sendCancellation);
  return { harness, arriveAllTheSame: () => arrive() };
};

const lookUps = ({ authorizer }: IssuingHarness): number =>
  authorizer.calls.filter((call) => call.startsWith('find')).length;

describe('given a refusal with a code that is in no catalogue', () => {
  it('when two look-ups prove the absence of a note, then the invoice is rejected with code and text, after one send', async () => {
    const { harness } = await refusing('issue');
    await harness.issueToTheEnd();
    expect(await harness.types()).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'IssuanceOutcomeUnknown',
      'IssuanceRejected',
    ]);
    expect((await harness.events()).at(-1)?.data).toEqual({
      attempt: 1,
      codes: [UNCATALOGUED_CODE],
      httpStatus: 400,
      texts: ['Regra nova da Sefin.'],
      firstAskedAt: at(90),
      secondAskedAt: at(510),
      at: at(510),
    });
    const { outcome, attempts } = await harness.invoice();
    expect(outcome).toMatchObject({ status: 'failed', code: 'issue_failed', codes: [UNCATALOGUED_CODE] });
    expect(attempts).toMatchObject([{ resolution: 'rejected', codes: [UNCATALOGUED_CODE] }]);
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('when the authorizer names the note between two absences and does not give it, then the first absence is void', async () => {
    const { harness } = await refusing('issue');
    const { authorizer } = harness;
    const { findByDps } = authorizer;
    const first = await harness.issue();
    if (first.kind !== 'later') throw new Error('nothing is waited for');
    harness.clock.moveTo(first.at);
    const second = await harness.issue();
    if (second.kind !== 'later') throw new Error('nothing is waited for');
    harness.clock.moveTo(second.at);
    authorizer.findByDps = async () => ({ kind: 'inconclusive', reason: 'status_503', exists: true });
    await harness.issue();
    authorizer.findByDps = findByDps;
    const looks = lookUps(harness);
    harness.clock.moveTo(at(511));
    await harness.issue();
    expect(lookUps(harness)).toBe(looks + 1);
    expect(await harness.types()).not.toContain('IssuanceRejected');
    await harness.issueToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'IssuanceRejected',
      data: { firstAskedAt: at(511) },
    });
  });

  it.each([
    ['before the first look-up', 30],
    ['between the two look-ups', 200],
    ['just before the second', 509],
  ])('when a note appears all the same, %s, then the invoice is issued', async (_when, seconds) => {
    const { harness, arriveAllTheSame } = await refusing('issue');
    for (;;) {
      const next = await harness.issue();
      if (next.kind !== 'later') break;
      if (next.at > at(seconds)) arriveAllTheSame();
      harness.clock.moveTo(next.at);
    }
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.notes).toHaveLength(1);
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('when look-ups prove nothing, then the invoice ends indeterminate and nothing is sent again', async () => {
    const { harness } = await refusing('issue');
    harness.authorizer.mute = true;
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('when an earlier send may have arrived, then absences prove nothing about it and nothing is sent again', async () => {
    const harness = await issuingHarness();
    const { sendDps } = harness.authorizer;
    harness.authorizer.script = ['lost_request'];
    harness.authorizer.sendDps = async (...asked) =>
      harness.authorizer.sends.length === 0 ? await sendDps(...asked) : refused;
    await harness.issueToTheEnd();
    expect(await harness.types()).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'IssuanceOutcomeUnknown',
      'IssuanceProvenAbsent',
      'IssuanceAttempted',
      'IssuanceOutcomeUnknown',
      'IssuanceInterrupted',
    ]);
    expect(lookUps(harness)).toBeGreaterThan(5);
  });

  it('when every earlier attempt was not sent, then two absences make it a rejection', async () => {
    const harness = await issuingHarness();
    const { sendDps } = harness.authorizer;
    harness.authorizer.script = ['not_sent'];
    let tries = 0;
    harness.authorizer.sendDps = async (...asked) => {
      tries += 1;
      return tries === 1 ? await sendDps(...asked) : refused;
    };
    await harness.issueToTheEnd();
    expect((await harness.types()).at(-1)).toBe('IssuanceRejected');
    expect(tries).toBe(2);
  });

  it('when it is about a cancellation whose event look-ups do not show, then the request is refused with code and text', async () => {
    const { harness } = await refusing('cancel');
    await harness.cancelToTheEnd();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'refused', codes: [UNCATALOGUED_CODE], httpStatus: 400, texts: ['Regra nova da Sefin.'] },
    });
    expect((await harness.invoice()).cancellation).toMatchObject({ status: 'failed', codes: [UNCATALOGUED_CODE] });
  });

  it('when its cancellation is registered all the same, then the note is canceled', async () => {
    const { harness, arriveAllTheSame } = await refusing('cancel');
    await harness.cancel();
    arriveAllTheSame();
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
  });
});

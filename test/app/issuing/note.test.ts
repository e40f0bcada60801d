import { describe, expect, it } from 'vitest';
import type { IssuerDeps } from '../../../src/app/issuing/deps.js';
import { isBefore } from '../../../src/domain/common/time.js';
import { at } from '../../support/fixture/invoice.js';
import { ProcessDied } from '../../support/harness/fake-authorizer.js';
import { issuingHarness, recordedDocuments, signFakely } from '../../support/harness/issuing.js';

describe('issuing', () => {
  it('sends once and records the note', async () => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'Authorized']);
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.notes).toHaveLength(1);
    expect(await harness.status()).toBe('issued');
  });

  it('sends exactly the bytes that it recorded before', async () => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    expect(recordedDocuments(await harness.events())).toEqual(harness.authorizer.sends.map(String));
  });

  it('does nothing to an invoice that has its outcome', async () => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    const calls = harness.authorizer.calls.length;
    expect(await harness.issue()).toEqual({ kind: 'done' });
    expect(harness.authorizer.calls).toHaveLength(calls);
  });

  it('retries after a pause when no byte left, with the same number and bytes', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['not_sent', 'not_sent', 'not_sent', 'answer'];
    expect(await harness.issue()).toEqual({ kind: 'later', at: at(1) });
    harness.clock.moveTo(at(1));
    expect(await harness.issue()).toEqual({ kind: 'later', at: at(3) });
    await harness.issueToTheEnd();
    expect(new Set(recordedDocuments(await harness.events())).size).toBe(1);
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('sends the recorded bytes again when they cannot be signed again with the same content', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['not_sent'];
    await harness.issue();
    harness.deps.signer = { ...harness.deps.signer, renew: async () => signFakely('<other/>') };
    await harness.issueToTheEnd();
    expect(new Set(recordedDocuments(await harness.events())).size).toBe(1);
    expect(recordedDocuments(await harness.events())).toContain(String(harness.authorizer.sends[0]));
  });

  it('gives the permit of the breaker back when nothing could be sent', async () => {
    let released = 0;
    const breaker: IssuerDeps['breaker'] = {
      isAnswering: () => true,
      probeWithoutSend: async () => undefined,
      requestPermit: async () => ({
        kind: 'permit',
        report: () => undefined,
        release: () => {
          released += 1;
        },
      }),
    };
    const harness = await issuingHarness('live', { breaker, identityOf: async () => undefined });
    await harness.issue();
    expect(released).toBe(1);
  });

  it('gives a notice when the channel certificate is refused, and goes on', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['certificate_refused'];
    await harness.issueToTheEnd();
    expect(harness.notices.map(({ kind }) => kind)).toContain('certificate_refused');
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('outlives a condition that passes by itself after 40 minutes, with the sends that the hour has', async () => {
    const harness = await issuingHarness();
    for (;;) {
      harness.authorizer.script = isBefore(harness.clock.now(), at(2400)) ? [{ unknown: ['RNG9999'] }] : [];
      const next = await harness.issue();
      if (next.kind !== 'later') break;
      harness.clock.moveTo(next.at);
    }
    const sends = (await harness.invoice()).attempts.map(({ attemptedAt }) => attemptedAt);
    expect(sends).toEqual([at(0), at(210), at(450), at(1350), at(3150)]);
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('finds the note whose answer was lost', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_answer'];
    await harness.issueToTheEnd();
    const events = await harness.events();
    expect(await harness.types()).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'IssuanceOutcomeUnknown',
      'Authorized',
    ]);
    expect(events.at(-1)?.data).toMatchObject({ evidence: 'lookup' });
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('sends the same bytes again only after two proofs of absence, both after the deadline', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_request'];
    await harness.issueToTheEnd();
    const events = await harness.events();
    const proof = events.find((event) => event.type === 'IssuanceProvenAbsent');
    if (proof?.type !== 'IssuanceProvenAbsent') throw new Error('no proof');
    expect(proof.data.firstAskedAt >= at(35)).toBe(true);
    expect(Date.parse(proof.data.secondAskedAt) - Date.parse(proof.data.firstAskedAt)).toBeGreaterThanOrEqual(60_000);
    expect(harness.authorizer.sends).toHaveLength(2);
    expect(harness.authorizer.sends[1]).toEqual(harness.authorizer.sends[0]);
    expect(harness.authorizer.notes).toHaveLength(1);
    expect(await harness.status()).toBe('issued');
  });

  it('looks up again when the answer to the resend says that the DPS exists', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['late', 'answer'];
    await harness.issueToTheEnd();
    const unknown = (await harness.events()).filter((event) => event.type === 'IssuanceOutcomeUnknown');
    expect(unknown.at(-1)?.data).toMatchObject({ attempt: 2, codes: ['E0014'] });
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.sends).toHaveLength(2);
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('never proves an absence once the authorizer said that the DPS exists', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = [{ unknown: ['E0014'] }];
    await harness.issueToTheEnd();
    expect(await harness.types()).not.toContain('IssuanceProvenAbsent');
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('fails on a final refusal of the first send', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = [{ rejected: ['E0120'] }];
    await harness.issueToTheEnd();
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceRejected']);
    expect(await harness.status()).toBe('failed');
    expect(harness.authorizer.notes).toHaveLength(0);
  });

  it('fails on a final refusal when every earlier send never left', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['not_sent', { rejected: ['E0120'] }];
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('failed');
    expect(harness.authorizer.notes).toHaveLength(0);
  });

  it('takes a refusal after an unknown send as evidence only, and ends indeterminate', async () => {
    const harness = await issuingHarness();
    const refusal = { rejected: ['E0120'] };
    harness.authorizer.script = ['lost_request', ...Array.from({ length: 9 }, () => refusal)];
    await harness.issueToTheEnd();
    const types = await harness.types();
    expect(types).not.toContain('IssuanceRejected');
    expect(types.at(-1)).toBe('IssuanceInterrupted');
    expect(await harness.status()).toBe('indeterminate');
    expect(harness.authorizer.sends.length).toBeLessThanOrEqual(5);
    expect(harness.authorizer.notes).toHaveLength(0);
  });

  it('finds the note that arrived after a refusal', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['late', { rejected: ['E0120'] }];
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it.each(['die_before_arrival', 'die_after_arrival'] as const)(
    'leaves the attempt of a dead process alone until its deadline (%s)',
    async (death) => {
      const harness = await issuingHarness();
      harness.authorizer.script = [death];
      await expect(harness.issue()).rejects.toBeInstanceOf(ProcessDied);
      const calls = harness.authorizer.calls.length;
      harness.clock.moveTo(at(34));
      expect(await harness.issue()).toEqual({ kind: 'later', at: at(35) });
      expect(harness.authorizer.calls).toHaveLength(calls);
      await harness.issueToTheEnd();
      expect(await harness.status()).toBe('issued');
      expect(harness.authorizer.sends).toHaveLength(death === 'die_after_arrival' ? 1 : 2);
      expect(harness.authorizer.notes).toHaveLength(1);
    },
  );

  it('gives an attempt up unsent when its append took longer than the grace', async () => {
    const harness = await issuingHarness();
    const { store, clock } = harness;
    let slow = true;
    harness.deps.store = {
      ...store,
      append: async (stream, version, events, context) => {
        const result = await store.append(stream, version, events, context);
        if (slow && context.site === 'record_issue_attempt') clock.pass(6);
        slow = slow && context.site !== 'record_issue_attempt';
        return result;
      },
    };
    await harness.issueToTheEnd();
    expect(await harness.types()).toContain('IssuanceNotSent');
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('lets one of two workers send', async () => {
    const harness = await issuingHarness();
    await Promise.all([harness.issue(), harness.issue(), harness.issue()]);
    await harness.issueToTheEnd();
    expect((await harness.types()).filter((type) => type === 'IssuanceAttempted')).toHaveLength(1);
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.notes).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { at } from '../../support/fixture/invoice.js';
import { ProcessDied } from '../../support/harness/fake-authorizer.js';
import { issuingHarness, recordedDocuments } from '../../support/harness/issuing.js';

describe('issuing', () => {
  it('sends once and records the note', async () => {
    const world = await issuingHarness();
    await world.issueToTheEnd();
    expect(await world.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'Authorized']);
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.notes).toHaveLength(1);
    expect(await world.status()).toBe('issued');
  });

  it('sends exactly the bytes that it recorded before', async () => {
    const world = await issuingHarness();
    await world.issueToTheEnd();
    expect(recordedDocuments(await world.events())).toEqual(world.authorizer.sends.map(String));
  });

  it('does nothing to an invoice that has its outcome', async () => {
    const world = await issuingHarness();
    await world.issueToTheEnd();
    const calls = world.authorizer.calls.length;
    expect(await world.issue()).toEqual({ kind: 'done' });
    expect(world.authorizer.calls).toHaveLength(calls);
  });

  it('backs off when no byte left, with the same number and bytes', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['not_sent', 'not_sent', 'not_sent', 'answer'];
    expect(await world.issue()).toEqual({ kind: 'later', at: at(1) });
    world.clock.moveTo(at(1));
    expect(await world.issue()).toEqual({ kind: 'later', at: at(3) });
    await world.issueToTheEnd();
    expect(new Set(recordedDocuments(await world.events())).size).toBe(1);
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('alarms when the channel certificate is refused, and goes on', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['certificate_refused'];
    await world.issueToTheEnd();
    expect(world.notices.map(({ notice }) => notice)).toContain('certificate_refused');
    expect(await world.status()).toBe('issued');
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('finds the note whose answer was lost', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['lost_answer'];
    await world.issueToTheEnd();
    const events = await world.events();
    expect(await world.types()).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'IssuanceOutcomeUnknown',
      'Authorized',
    ]);
    expect(events.at(-1)?.data).toMatchObject({ evidence: 'lookup' });
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('sends the same bytes again only after two proofs of absence, both after the deadline', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['lost_request'];
    await world.issueToTheEnd();
    const events = await world.events();
    const proof = events.find((event) => event.type === 'IssuanceProvenAbsent');
    if (proof?.type !== 'IssuanceProvenAbsent') throw new Error('no proof');
    expect(proof.data.firstAskedAt >= at(35)).toBe(true);
    expect(Date.parse(proof.data.secondAskedAt) - Date.parse(proof.data.firstAskedAt)).toBeGreaterThanOrEqual(60_000);
    expect(world.authorizer.sends).toHaveLength(2);
    expect(world.authorizer.sends[1]).toEqual(world.authorizer.sends[0]);
    expect(world.authorizer.notes).toHaveLength(1);
    expect(await world.status()).toBe('issued');
  });

  it('looks up again when the resend hears that the DPS exists', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['late', 'answer'];
    await world.issueToTheEnd();
    const unknown = (await world.events()).filter((event) => event.type === 'IssuanceOutcomeUnknown');
    expect(unknown.at(-1)?.data).toMatchObject({ attempt: 2, codes: ['E0014'] });
    expect(await world.status()).toBe('issued');
    expect(world.authorizer.sends).toHaveLength(2);
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('never proves an absence once the authorizer said that the DPS exists', async () => {
    const world = await issuingHarness();
    world.authorizer.script = [{ unknown: ['E0014'] }];
    await world.issueToTheEnd();
    expect(await world.types()).not.toContain('IssuanceProvenAbsent');
    expect(await world.status()).toBe('indeterminate');
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it('fails on a final refusal of the first send', async () => {
    const world = await issuingHarness();
    world.authorizer.script = [{ rejected: ['E0120'] }];
    await world.issueToTheEnd();
    expect(await world.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceRejected']);
    expect(await world.status()).toBe('failed');
    expect(world.authorizer.notes).toHaveLength(0);
  });

  it('fails on a final refusal when every earlier send never left', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['not_sent', { rejected: ['E0120'] }];
    await world.issueToTheEnd();
    expect(await world.status()).toBe('failed');
    expect(world.authorizer.notes).toHaveLength(0);
  });

  it('takes a refusal after an unknown send as evidence only, and ends indeterminate', async () => {
    const world = await issuingHarness();
    const refusal = { rejected: ['E0120'] };
    world.authorizer.script = ['lost_request', ...Array.from({ length: 9 }, () => refusal)];
    await world.issueToTheEnd();
    const types = await world.types();
    expect(types).not.toContain('IssuanceRejected');
    expect(types.at(-1)).toBe('IssuanceInterrupted');
    expect(await world.status()).toBe('indeterminate');
    expect(world.authorizer.sends.length).toBeLessThanOrEqual(5);
    expect(world.authorizer.notes).toHaveLength(0);
  });

  it('finds the note that arrived after a refusal', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['late', { rejected: ['E0120'] }];
    await world.issueToTheEnd();
    expect(await world.status()).toBe('issued');
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it.each(['die_before_arrival', 'die_after_arrival'] as const)(
    'leaves the attempt of a dead process alone until its deadline (%s)',
    async (death) => {
      const world = await issuingHarness();
      world.authorizer.script = [death];
      await expect(world.issue()).rejects.toBeInstanceOf(ProcessDied);
      const calls = world.authorizer.calls.length;
      world.clock.moveTo(at(34));
      expect(await world.issue()).toEqual({ kind: 'later', at: at(35) });
      expect(world.authorizer.calls).toHaveLength(calls);
      await world.issueToTheEnd();
      expect(await world.status()).toBe('issued');
      expect(world.authorizer.sends).toHaveLength(death === 'die_after_arrival' ? 1 : 2);
      expect(world.authorizer.notes).toHaveLength(1);
    },
  );

  it('gives an attempt up unsent when its append took longer than the grace', async () => {
    const world = await issuingHarness();
    const { store, clock } = world;
    let slow = true;
    world.deps.store = {
      ...store,
      append: async (stream, version, events, context) => {
        const result = await store.append(stream, version, events, context);
        if (slow && context.site === 'record_issue_attempt') clock.pass(6);
        slow = slow && context.site !== 'record_issue_attempt';
        return result;
      },
    };
    await world.issueToTheEnd();
    expect(await world.types()).toContain('IssuanceNotSent');
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('lets one of two workers send', async () => {
    const world = await issuingHarness();
    await Promise.all([world.issue(), world.issue(), world.issue()]);
    await world.issueToTheEnd();
    expect((await world.types()).filter((type) => type === 'IssuanceAttempted')).toHaveLength(1);
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.notes).toHaveLength(1);
  });
});

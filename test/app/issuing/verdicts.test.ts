import { describe, expect, it } from 'vitest';
import { concludeIssueIfDue } from '../../../src/app/issuing/note.js';
import type { Authorizer } from '../../../src/ports/authorizer.js';
import { at, attempted, provenAbsent, unknown } from '../../support/fixture/invoice.js';
import { issuingHarness } from '../../support/harness/issuing.js';

describe('verdicts by time', () => {
  it('fails an invoice that was queued for 15 minutes without an attempt', async () => {
    const world = await issuingHarness('live', { identityOf: async () => undefined });
    await world.issueToTheEnd();
    const last = (await world.events()).at(-1);
    expect(last).toMatchObject({ type: 'NotProcessed', data: { failedAt: at(900) } });
    expect(world.authorizer.calls).toEqual([]);
    expect(world.notices.map(({ notice }) => notice)).toContain('certificate_missing');
  });

  it('fails after an hour in which no byte ever left, and names the due instant', async () => {
    const world = await issuingHarness();
    world.authorizer.script = Array.from({ length: 200 }, () => 'not_sent' as const);
    await world.issueToTheEnd();
    const last = (await world.events()).at(-1);
    expect(last).toMatchObject({ type: 'IssuanceFailed', data: { failedAt: at(3600) } });
    expect(await world.status()).toBe('failed');
    expect(world.authorizer.sends).toHaveLength(0);
    expect(world.authorizer.notes).toHaveLength(0);
  });

  it('ends indeterminate 60 minutes after the last signal, with a last look-up before', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['lost_request'];
    world.authorizer.mute = true;
    await world.issue();
    world.clock.moveTo(at(3600));
    const calls = world.authorizer.calls.length;
    await world.issueToTheEnd();
    expect(world.authorizer.calls.slice(calls)).toEqual(['findByDps']);
    const last = (await world.events()).at(-1);
    expect(last).toMatchObject({ type: 'IssuanceInterrupted', data: { failedAt: at(3600) } });
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it('does not conclude a second early', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['lost_request'];
    world.authorizer.mute = true;
    await world.issue();
    world.clock.moveTo(at(3599));
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('processing');
  });

  it('finds a late commit at the last look-up', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['late'];
    world.authorizer.mute = true;
    await world.issue();
    world.clock.moveTo(at(3700));
    world.authorizer.arriveLate();
    world.authorizer.mute = false;
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('issued');
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('gives no verdict on a look-up that is older than the attempt whose time is up', async () => {
    const world = await issuingHarness();
    await world.record(attempted(1, 0), unknown(1, 30), provenAbsent(1, 600));
    world.clock.moveTo(at(3700));
    const findByDps: Authorizer['findByDps'] = async () => {
      await world.record(attempted(2, 3700));
      world.clock.moveTo(at(3700 + 3600));
      return { kind: 'absent' };
    };
    await concludeIssueIfDue(world.stream, { ...world.deps, authorizer: { ...world.authorizer, findByDps } });
    expect(await world.status()).toBe('processing');
    await concludeIssueIfDue(world.stream, world.deps);
    expect(await world.status()).toBe('indeterminate');
  });

  it('never says failed after a proven absence, because a late commit may still come', async () => {
    const world = await issuingHarness();
    world.authorizer.script = Array.from({ length: 20 }, () => 'lost_request' as const);
    await world.issueToTheEnd();
    expect(world.authorizer.sends).toHaveLength(5);
    expect(await world.status()).toBe('indeterminate');
    expect(new Set(world.authorizer.sends.map(String)).size).toBe(1);
  });

  it('starts no attempt later than the limit after the first', async () => {
    const world = await issuingHarness();
    world.authorizer.script = ['lost_request', 'answer'];
    world.authorizer.mute = true;
    await world.issue();
    world.clock.moveTo(at(3601));
    world.authorizer.mute = false;
    await world.issueToTheEnd();
    expect(world.authorizer.sends).toHaveLength(1);
    expect(await world.status()).toBe('indeterminate');
  });
});

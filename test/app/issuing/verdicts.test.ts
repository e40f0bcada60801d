import { describe, expect, it } from 'vitest';
import { concludeIssueIfDue, workOnIssue } from '../../../src/app/issuing/note.js';
import { stoppedSeries, stoppedTexts } from '../../../src/app/operator/support/stopped-series.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { MAX_DPS_NUMBER } from '../../../src/domain/dps-number/dps-number.js';
import type { Authorizer } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { accepted, at, attempted, provenAbsent, unknown } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { issuingHarness } from '../../support/harness/issuing.js';

describe('verdicts by time', () => {
  it('fails an invoice that was queued for 15 minutes without an attempt', async () => {
    const harness = await issuingHarness('live', { identityOf: async () => undefined });
    await harness.issueToTheEnd();
    const last = (await harness.events()).at(-1);
    expect(last).toMatchObject({ type: 'NotProcessed', data: { failedAt: at(900) } });
    expect(harness.authorizer.calls).toEqual([]);
    expect(harness.notices.map(({ kind }) => kind)).toContain('certificate_missing');
  });

  it('fails an invoice whose series is used up, and the notice says so, not that the series is blocked', async () => {
    const company = demoCompany(DEMO_CNPJ);
    const ofOneNumber = { series: '1', nextNumber: MAX_DPS_NUMBER };
    const registration = { ...company.registration, dps: { live: ofOneNumber, test: ofOneNumber } };
    const harness = await issuingHarness('live', { company: async () => ({ ...company, registration }) });
    await harness.issueToTheEnd();
    const id = '00000000-0000-4000-8000-0000000000aa';
    const stream = invoiceStream('live', DEMO_CNPJ, id);
    const acceptedAt = harness.clock.now();
    await appendTo(harness.store, stream, [accepted({ mode: 'live', invoiceId: id, acceptedAt })], acceptedAt);
    await workOnIssue(stream, harness.deps);
    harness.clock.pass(900);
    await concludeIssueIfDue(stream, harness.deps);
    expect(await harness.status()).toBe('issued');
    expect(harness.notices).toEqual([{ kind: 'series_exhausted', stream }]);
    const { state } = await loadInvoice(stream, harness.store);
    expect(state).toMatchObject({ outcome: { status: 'failed' } });
    const stopped = await stoppedSeries([{ registration }], harness.store);
    expect(stopped).toEqual([
      { companyId: DEMO_CNPJ, mode: 'live', series: '1', isUsedUp: true, since: expect.any(String) },
    ]);
    expect(stopped.map((one) => stoppedTexts(one).command)).toEqual([
      'nfse company put FILE.json with another dps.live.series',
    ]);
    const ofForeignNote = stoppedTexts({ mode: 'live', series: '1', isUsedUp: false });
    expect(ofForeignNote.detail).toContain('first compare it at the national portal');
  });

  it('fails after an hour in which no byte ever left, and names the due instant', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = Array.from({ length: 200 }, () => 'not_sent' as const);
    await harness.issueToTheEnd();
    const last = (await harness.events()).at(-1);
    expect(last).toMatchObject({ type: 'IssuanceFailed', data: { failedAt: at(3600) } });
    expect(await harness.status()).toBe('failed');
    expect(harness.authorizer.sends).toHaveLength(0);
    expect(harness.authorizer.notes).toHaveLength(0);
  });

  it('ends indeterminate 60 minutes after the last signal, with a last look-up before', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_request'];
    harness.authorizer.mute = true;
    await harness.issue();
    harness.clock.moveTo(at(3600));
    const calls = harness.authorizer.calls.length;
    await harness.issueToTheEnd();
    expect(harness.authorizer.calls.slice(calls)).toEqual(['findByDps']);
    const last = (await harness.events()).at(-1);
    expect(last).toMatchObject({ type: 'IssuanceInterrupted', data: { failedAt: at(3600) } });
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('gives no verdict a second early', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_request'];
    harness.authorizer.mute = true;
    await harness.issue();
    harness.clock.moveTo(at(3599));
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('processing');
  });

  it('finds a late commit at the last look-up', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['late'];
    harness.authorizer.mute = true;
    await harness.issue();
    harness.clock.moveTo(at(3700));
    harness.authorizer.arriveLate();
    harness.authorizer.mute = false;
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('gives no verdict on a look-up that is older than the attempt whose time is up', async () => {
    const harness = await issuingHarness();
    await harness.record(attempted(1, 0), unknown(1, 30), provenAbsent(1, 600));
    harness.clock.moveTo(at(3700));
    const findByDps: Authorizer['findByDps'] = async () => {
      await harness.record(attempted(2, 3700));
      harness.clock.moveTo(at(3700 + 3600));
      return { kind: 'absent' };
    };
    await concludeIssueIfDue(harness.stream, { ...harness.deps, authorizer: { ...harness.authorizer, findByDps } });
    expect(await harness.status()).toBe('processing');
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('indeterminate');
  });

  it('never says failed after a proven absence, because a late commit may still come', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = Array.from({ length: 20 }, () => 'lost_request' as const);
    await harness.issueToTheEnd();
    expect(harness.authorizer.sends).toHaveLength(5);
    expect(await harness.status()).toBe('indeterminate');
    expect(new Set(harness.authorizer.sends.map(String)).size).toBe(1);
  });

  it('starts no attempt later than the limit after the first', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_request', 'answer'];
    harness.authorizer.mute = true;
    await harness.issue();
    harness.clock.moveTo(at(3601));
    harness.authorizer.mute = false;
    await harness.issueToTheEnd();
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(await harness.status()).toBe('indeterminate');
  });
});

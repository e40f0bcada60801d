import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { authorizedData, interrupted } from '../../support/fixture/invoice.js';
import { openReconciliationHarness, type ReconciliationHarness } from '../../support/harness/reconciliation.js';

const HOUR = 3_600;

describe('a walk over an invoice with more than one difference', () => {
  let harness: ReconciliationHarness;
  beforeEach(async () => {
    harness = await openReconciliationHarness();
  });
  afterEach(() => harness.close());

  const fault = (order: object) => harness.simulator.control('POST', 'faults', order);

  it('reports what one answer showed although the next one proves nothing', async () => {
    const stream = await harness.issue();
    const [first, sent] = await harness.events(stream);
    if (first === undefined || sent?.type !== 'IssuanceAttempted') throw new Error('not an attempt');
    const twin = `${stream.slice(0, -2)}1f`;
    harness.streams.splice(0, 1, twin);
    await harness.record(
      twin,
      { type: first.type, data: first.data } as typeof first,
      { type: sent.type, data: { ...sent.data, digest: 'another' } },
      {
        type: 'Authorized',
        data: {
          ...authorizedData(1, 2),
          accessKey: await harness.accessKey(stream),
          authorizedAt: harness.clock.now(),
          at: harness.clock.now(),
        },
      },
    );
    harness.clock.pass(HOUR);
    await fault({ on: 'event_lookup', kind: 'http_404_html', times: 100 });
    await harness.walkToTheEnd();
    expect(await harness.differences(twin)).toEqual(['digest_differs']);
    expect(harness.looks).toEqual(['inconclusive', 'inconclusive', 'inconclusive']);
  });

  it('is silent about a foreign note once support has settled that note as another sale’s, and about no other note', async () => {
    const stream = await harness.issue();
    const accessKey = await harness.accessKey(stream);
    const [first, sent] = await harness.events(stream);
    if (first === undefined || sent?.type !== 'IssuanceAttempted') throw new Error('not an attempt');
    const { dpsId } = sent.data;
    const settled = (key: string): InvoiceEvent => ({
      type: 'IndeterminateResolved',
      data: {
        as: 'failed',
        otherSales: [{ dpsId, accessKey: key, by: 'operator' }],
        evidence: 'portal',
        at: harness.clock.now(),
      },
    });
    const lives: [digest: string, key: string][] = [
      ['another', accessKey],
      ['another', 'of another note'],
      [sent.data.digest ?? '', accessKey],
    ];
    const twins = lives.map((_, index) => `${stream.slice(0, -2)}${index}f`);
    harness.streams.splice(0, 1, ...twins);
    for (const [index, [digest, key]] of lives.entries()) {
      const start = { type: first.type, data: first.data } as typeof first;
      const attempt = { type: sent.type, data: { ...sent.data, digest } };
      await harness.record(twins[index] ?? '', start, attempt, interrupted, settled(key));
    }
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd();
    const found = await Promise.all(twins.map((twin) => harness.differences(twin)));
    expect(found).toEqual([[], ['foreign_note'], ['failed_but_found']]);
    expect(harness.looks).toEqual(['agrees', 'differs', 'differs']);
  });

  it('concludes nothing from a note that cannot be verified, reports it once a round, and continues with the cancellation', async () => {
    const stream = await harness.issue();
    await harness.simulator.control('POST', 'events', {
      environment: 'live',
      access_key: await harness.accessKey(stream),
      type: '101101',
    });
    harness.clock.pass(HOUR);
    const { authorizer } = harness.deps;
    const findByDps: typeof authorizer.findByDps = async (caller, dpsId) => {
      const answer = await authorizer.findByDps(caller, dpsId);
      if (answer.kind !== 'found') return answer;
      const doubt = { digest: '', contradiction: { claimed: '', computed: 'x' }, signatureFault: 'missing' };
      return { kind: 'found', found: { ...answer.found, ...doubt } };
    };
    await harness.walkToTheEnd('live', { ...harness.deps, authorizer: { ...authorizer, findByDps } });
    expect(await harness.differences(stream)).toEqual([]);
    expect(await harness.status(stream)).toBe('canceled');
    expect(harness.looks).toEqual(['inconclusive']);
    expect(harness.notices.map(({ kind }) => kind)).toEqual(['signature_unverified', 'document_altered']);
  });

  it('concludes no cancellation from an event that cannot be verified', async () => {
    const stream = await harness.issue();
    await harness.simulator.control('POST', 'events', {
      environment: 'live',
      access_key: await harness.accessKey(stream),
      type: '101101',
    });
    harness.clock.pass(HOUR);
    const { authorizer } = harness.deps;
    const findCancellation: typeof authorizer.findCancellation = async (caller, accessKey) => {
      const answer = await authorizer.findCancellation(caller, accessKey);
      return answer.kind === 'found' ? { kind: 'found', found: { ...answer.found, signatureFault: 'digest' } } : answer;
    };
    await harness.walkToTheEnd('live', { ...harness.deps, authorizer: { ...authorizer, findCancellation } });
    expect(await harness.differences(stream)).toEqual([]);
    expect(harness.looks).toEqual(['inconclusive']);
    expect(harness.notices).toContainEqual({ kind: 'signature_unverified', stream, detail: 'digest' });
  });

  it('records in one round a cancellation elsewhere and reports a note that is not there', async () => {
    const stream = await harness.issue();
    await harness.simulator.control('POST', 'events', {
      environment: 'live',
      access_key: await harness.accessKey(stream),
      type: '101101',
    });
    harness.clock.pass(HOUR);
    await fault({ on: 'lookup', kind: 'stale', times: 2 });
    await harness.walkToTheEnd();
    expect(await harness.differences(stream)).toEqual(['issued_but_absent']);
    expect(await harness.status(stream)).toBe('canceled');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authorizedData } from '../../support/fixture/invoice.js';
import { openReconciliationHarness, type ReconciliationHarness } from '../../support/harness/reconciliation.js';

const HOUR = 3_600;

describe('a walk over an invoice with more than one difference', () => {
  let rig: ReconciliationHarness;
  beforeEach(async () => {
    rig = await openReconciliationHarness();
  });
  afterEach(() => rig.close());

  const fault = (order: object) => rig.simulator.control('POST', 'faults', order);

  it('tells what one answer showed though the next one proves nothing', async () => {
    const stream = await rig.issue();
    const [first, sent] = await rig.events(stream);
    if (first === undefined || sent?.type !== 'IssuanceAttempted') throw new Error('not an attempt');
    const twin = `${stream.slice(0, -2)}1f`;
    rig.streams.splice(0, 1, twin);
    await rig.record(
      twin,
      { type: first.type, data: first.data } as typeof first,
      { type: sent.type, data: { ...sent.data, digest: 'another' } },
      {
        type: 'Authorized',
        data: {
          ...authorizedData(1, 2),
          ...{ accessKey: await rig.accessKey(stream), authorizedAt: rig.clock.now(), at: rig.clock.now() },
        },
      },
    );
    rig.clock.pass(HOUR);
    await fault({ on: 'event_lookup', kind: 'http_404_html', times: 100 });
    await rig.walkToTheEnd();
    expect(await rig.differences(twin)).toEqual(['digest_differs']);
    expect(rig.looks).toEqual(['inconclusive', 'inconclusive', 'inconclusive']);
  });

  it('concludes nothing of a note that nobody vouches for, tells of it once a round, and goes on to the cancellation', async () => {
    const stream = await rig.issue();
    await rig.simulator.control('POST', 'events', {
      ...{ environment: 'live', access_key: await rig.accessKey(stream), type: '101101' },
    });
    rig.clock.pass(HOUR);
    const { authorizer } = rig.deps;
    const findByDps: typeof authorizer.findByDps = async (caller, dpsId) => {
      const answer = await authorizer.findByDps(caller, dpsId);
      if (answer.kind !== 'found') return answer;
      const doubt = { digest: '', contradiction: { claimed: '', computed: 'x' }, signatureFault: 'missing' };
      return { kind: 'found', found: { ...answer.found, ...doubt } };
    };
    await rig.walkToTheEnd('live', { ...rig.deps, authorizer: { ...authorizer, findByDps } });
    expect(await rig.differences(stream)).toEqual(['canceled_there_only']);
    expect(rig.looks).toEqual(['inconclusive']);
    expect(rig.notices.map(({ notice }) => notice)).toEqual(['signature_unverified', 'document_altered']);
  });

  it('concludes no cancellation from an event that nobody vouches for', async () => {
    const stream = await rig.issue();
    await rig.simulator.control('POST', 'events', {
      ...{ environment: 'live', access_key: await rig.accessKey(stream), type: '101101' },
    });
    rig.clock.pass(HOUR);
    const { authorizer } = rig.deps;
    const findCancellation: typeof authorizer.findCancellation = async (caller, accessKey) => {
      const answer = await authorizer.findCancellation(caller, accessKey);
      return answer.kind === 'found' ? { kind: 'found', found: { ...answer.found, signatureFault: 'digest' } } : answer;
    };
    await rig.walkToTheEnd('live', { ...rig.deps, authorizer: { ...authorizer, findCancellation } });
    expect(await rig.differences(stream)).toEqual([]);
    expect(rig.looks).toEqual(['inconclusive']);
    expect(rig.notices).toContainEqual({ notice: 'signature_unverified', stream, detail: 'digest' });
  });

  it('tells in one round of a cancellation there only and of a note that is not there', async () => {
    const stream = await rig.issue();
    await rig.simulator.control('POST', 'events', {
      ...{ environment: 'live', access_key: await rig.accessKey(stream), type: '101101' },
    });
    rig.clock.pass(HOUR);
    await fault({ on: 'lookup', kind: 'stale', times: 2 });
    await rig.walkToTheEnd();
    expect(await rig.differences(stream)).toEqual(['canceled_there_only', 'issued_but_absent']);
  });
});

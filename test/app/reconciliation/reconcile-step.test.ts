import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reconcileStep } from '../../../src/app/reconciliation/reconcile-step.js';
import type { StreamName } from '../../../src/domain/common/ids.js';
import { authorizedData } from '../../support/fixture/invoice.js';
import {
  openReconciliationHarness,
  REFUSED,
  type ReconciliationHarness,
  SETTINGS,
} from '../../support/harness/reconciliation.js';

const HOUR = 3_600;
const DAY = 86_400;

describe('the walk over what the authorizer holds', () => {
  let harness: ReconciliationHarness;
  beforeEach(async () => {
    harness = await openReconciliationHarness();
  });
  afterEach(() => harness.close());

  const fault = (order: object) => harness.simulator.control('POST', 'faults', order);
  const cancelElsewhere = async (stream: string, type = '101101') =>
    await harness.simulator.control('POST', 'events', {
      environment: 'live',
      access_key: await harness.accessKey(stream),
      type,
    });
  /** Our own event is registered, and every answer is lost until the request ends as failed. */
  const cancelWithoutConfirmation = async (stream: StreamName) => {
    await fault({ on: 'event', kind: 'lost_after_commit' });
    await fault({ on: 'event_lookup', kind: 'http_404_html', times: 500 });
    await harness.cancel(stream);
    await harness.simulator.control('DELETE', 'faults');
  };
  const lookups = async (): Promise<number> => {
    const calls = (await harness.simulator.control('GET', 'calls')).json as { method: string }[];
    return calls.filter(({ method }) => method === 'GET').length;
  };

  it('finds no difference for 100 invoices whose ledger is right: issued, canceled and refused', async () => {
    for (let n = 0; n < 100; n += 1) {
      if (n % 20 === 7) await fault({ on: 'issue', kind: 'reject', code: 'E0312' });
      const stream = await harness.issue();
      if (n % 10 === 3) await harness.cancel(stream);
    }
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd();
    expect(harness.reported).toEqual([]);
    expect(harness.looks).toEqual(Array.from({ length: 100 }, () => 'agrees'));
    for (const stream of harness.streams) expect(await harness.differences(stream)).toEqual([]);
  }, 600_000);

  it('reports a note of an invoice that failed, and changes no outcome', async () => {
    const stream = await failedBehindANote();
    await harness.walkToTheEnd();
    expect(await harness.differences(stream)).toEqual(['failed_but_found']);
    expect(await harness.status(stream)).toBe('failed');
  });

  /** The worst case: every attempt was recorded as not sent, and the authorizer still has a note. */
  const failedBehindANote = async (): Promise<string> => {
    const stream = await harness.issue();
    const events = await harness.events(stream);
    const twin = harness.streams[0]?.replace(/.$/, (last) => (last === '0' ? '1' : '0')) ?? '';
    const [first, sent] = events;
    if (first === undefined || sent?.type !== 'IssuanceAttempted') throw new Error('not an attempt');
    const now = harness.clock.now();
    harness.streams.splice(0, 1, twin);
    await harness.record(
      twin,
      { type: first.type, data: first.data } as typeof first,
      { type: sent.type, data: sent.data },
      { type: 'IssuanceNotSent', data: { attempt: 1, reason: 'ECONNREFUSED', codes: [], at: now } },
      { type: 'IssuanceFailed', data: { failedAt: now, at: now } },
    );
    harness.clock.pass(HOUR);
    return twin;
  };

  it('reports a note of an indeterminate invoice, which support settles', async () => {
    await fault({ on: 'issue', kind: 'lost_after_commit' });
    await fault({ on: 'lookup', kind: 'http_404_html', times: 500 });
    const stream = await harness.issue();
    expect(await harness.status(stream)).toBe('indeterminate');
    await harness.simulator.control('DELETE', 'faults');
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd();
    expect(await harness.differences(stream)).toEqual(['indeterminate_but_found']);
    expect(await harness.status(stream)).toBe('indeterminate');
  });

  it('reports an issued invoice without a note only after two absent answers, a minute apart', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await fault({ on: 'lookup', kind: 'stale', times: 1 });
    expect(await reconcileStep('live', harness.deps)).toBe('asked');
    expect(await reconcileStep('live', harness.deps)).toBe('nothing to do');
    harness.clock.pass(60);
    expect(await reconcileStep('live', harness.deps)).toBe('asked');
    expect([harness.looks, await harness.differences(stream)]).toEqual([['absent_once', 'agrees'], []]);

    await fault({ on: 'lookup', kind: 'stale', times: 2 });
    harness.clock.pass(DAY);
    await harness.walkToTheEnd();
    expect(await harness.differences(stream)).toEqual(['issued_but_absent']);
    expect(await harness.status(stream)).toBe('issued');
  });

  it('compares the same invoice again until the notice of a difference is given', async () => {
    const stream = await failedBehindANote();
    const told: boolean[] = [];
    const onDifference = async (of: StreamName, { isNew }: { isNew: boolean }): Promise<void> => {
      told.push(isNew && of === stream);
      if (told.length <= 4) throw new Error('the database does not answer');
    };
    const deps = { ...harness.deps, onDifference };
    for (let step = 0; step < 4; step += 1)
      await expect(reconcileStep('live', deps)).rejects.toThrow('the notice of a difference could not be given');
    expect(await reconcileStep('live', deps)).toBe('asked');
    expect(await reconcileStep('live', deps)).toBe('nothing to do');
    expect(told).toEqual([true, false, false, false, false]);
    expect(await harness.differences(stream)).toEqual(['failed_but_found']);
  });

  it('tells of a difference that is still there in each round, and records it once', async () => {
    const stream = await failedBehindANote();
    const told: object[] = [];
    const deps = { ...harness.deps, onDifference: async (_of: StreamName, found: object) => void told.push(found) };
    await harness.walkToTheEnd('live', deps);
    harness.clock.pass(DAY);
    await harness.walkToTheEnd('live', deps);
    const [first] = told;
    expect(told).toEqual([
      { kind: 'failed_but_found', foundAt: expect.any(String), isNew: true },
      { ...first, isNew: false },
    ]);
    expect(await harness.differences(stream)).toEqual(['failed_but_found']);
  });

  it('takes an HTML 404 for no absence, however often it comes, and continues with the next invoice', async () => {
    const streams = [await harness.issue(), await harness.issue()];
    harness.clock.pass(HOUR);
    await fault({ on: 'lookup', kind: 'http_404_html', times: 3 });
    await harness.walkToTheEnd();
    expect(harness.looks).toEqual(['inconclusive', 'inconclusive', 'inconclusive', 'agrees']);
    for (const stream of streams) expect(await harness.differences(stream)).toEqual([]);
  });

  it('asks once for each invoice whose company the authorizer refuses by a page, so that the next company waits for no other try', async () => {
    const streams = [await harness.issue(), await harness.issue()];
    harness.clock.pass(HOUR);
    const findByDps = async () => REFUSED;
    const deps = { ...harness.deps, authorizer: { ...harness.deps.authorizer, findByDps } };
    for (const _stream of streams) expect(await reconcileStep('live', deps)).toBe('asked');
    expect(await reconcileStep('live', deps)).toBe('nothing to do');
    expect(harness.looks).toEqual(['inconclusive', 'inconclusive']);
  });

  it('continues behind an invoice whose every look-up throws, and reports the fault', async () => {
    const broken = await harness.issue();
    const behind = await harness.issue();
    harness.clock.pass(7_200);
    const { store } = harness.deps;
    const load: typeof store.load = (stream, options) =>
      stream === broken ? Promise.reject(new Error('no key')) : store.load(stream, options);
    const deps = { ...harness.deps, store: { ...store, load } };
    const faults: unknown[] = [];
    const seen = harness.looks.length;
    for (let step = 0; step < 12; step += 1)
      await reconcileStep('live', deps).catch((error: unknown) => faults.push(error));
    expect(faults).toHaveLength(3);
    expect(harness.looks.slice(seen).filter((look) => look === 'agrees')).toHaveLength(1);
    expect(behind).not.toBe(broken);
  });

  it('records a cancellation that only the authorizer has, and reports one that only the log has', async () => {
    const there = await harness.issue();
    await cancelElsewhere(there);
    const here = await harness.issue();
    await harness.cancel(here);
    harness.clock.pass(HOUR);
    // One look-up asks for several types of events.
    for (const on of ['event_lookup', 'event_list'])
      await fault({ on, kind: 'stale', times: 20, match: { amount_in_cents: 100_001 } });
    await harness.walkToTheEnd();
    expect([await harness.status(there), await harness.differences(there)]).toEqual(['canceled', []]);
    expect([await harness.status(here), await harness.differences(here)]).toEqual(['canceled', ['canceled_here_only']]);
  });

  it('asks of an imported invoice only whether another party canceled its note', async () => {
    const [valid, canceled] = [await harness.importNote(), await harness.importNote()];
    const known = [await harness.importNote('canceled'), await harness.importNote('replaced')];
    await cancelElsewhere(canceled);
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd();
    expect([await harness.status(valid), await harness.status(canceled)]).toEqual(['issued', 'canceled']);
    expect(harness.looks.toSorted()).toEqual(['agrees', 'canceled_elsewhere']);
    harness.clock.pass(DAY);
    await harness.walkToTheEnd();
    for (const stream of [valid, canceled, ...known]) expect(await harness.differences(stream)).toEqual([]);
  });

  it('reports a note with another access key or another document than ours', async () => {
    const stream = await harness.issue();
    const [first, sent] = await harness.events(stream);
    if (first === undefined || sent?.type !== 'IssuanceAttempted') throw new Error('not an attempt');
    const twins = ['1', '2'].map((last) => `${stream.slice(0, -2)}${last}f`);
    const accessKey = await harness.accessKey(stream);
    const authorized = (changes: object) => ({
      type: 'Authorized' as const,
      data: { ...authorizedData(1, 2), authorizedAt: harness.clock.now(), at: harness.clock.now(), ...changes },
    });
    harness.streams.splice(0, 1, ...twins);
    const start = { type: first.type, data: first.data } as typeof first;
    await harness.record(twins[0] ?? '', start, { type: sent.type, data: sent.data }, authorized({}));
    await harness.record(
      twins[1] ?? '',
      start,
      { type: sent.type, data: { ...sent.data, digest: 'another' } },
      authorized({ accessKey }),
    );
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd();
    expect(await harness.differences(twins[0] ?? '')).toContain('access_key_differs');
    expect(await harness.differences(twins[1] ?? '')).toEqual(['digest_differs']);
  });

  it.each([
    ['by their list', false],
    ['one type after another, where the server has no list', true],
  ])('finds every event that cancels a note, %s, and no other event', async (_how, isWithoutList) => {
    if (isWithoutList) await fault({ on: 'event_list', kind: 'http_404_html', times: 1_000 });
    const canceling = ['101101', '105102', '105104', '305101'];
    const types = [...canceling, '203202', '105105', '305102'];
    const streams: StreamName[] = [];
    for (const type of types) {
      const stream = await harness.issue();
      streams.push(stream);
      const about = type === '305102' ? { about: '101101' } : {};
      const event = { environment: 'live', access_key: await harness.accessKey(stream), type };
      await harness.simulator.control('POST', 'events', { ...event, ...about });
    }
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd();
    for (const [index, type] of types.entries()) {
      const stream = streams[index] ?? '';
      const last = (await harness.events(stream)).at(-1);
      const found = last?.type === 'NoteCanceledElsewhere' ? last.data.eventType : undefined;
      expect([type, found, await harness.differences(stream)]).toEqual([
        type,
        canceling.includes(type) ? type : undefined,
        [],
      ]);
    }
    const replaced = (await harness.events(streams[1] ?? '')).at(-1);
    expect(replaced?.data).toMatchObject({ replacedBy: expect.stringMatching(/^3304557/) });
    harness.clock.pass(DAY);
    harness.looks.length = 0;
    await harness.walkToTheEnd();
    expect(harness.looks).toEqual(types.map(() => 'agrees'));
  });

  it('reports each difference once, in however many rounds it is found', async () => {
    const stream = await harness.issue();
    await cancelWithoutConfirmation(stream);
    for (let round = 0; round < 3; round += 1) {
      harness.clock.pass(DAY);
      await harness.walkToTheEnd();
    }
    expect(await harness.differences(stream)).toEqual(['canceled_there_only']);
    expect(harness.reported).toEqual([`${stream} canceled_there_only`]);
    expect(harness.looks).toEqual(['differs', 'differs', 'differs']);
  });

  it('reports a difference once when two processes find it at the same moment', async () => {
    const stream = await harness.issue();
    await cancelWithoutConfirmation(stream);
    harness.clock.pass(HOUR);
    await Promise.all([
      reconcileStep('live', harness.deps),
      reconcileStep('live', harness.deps),
      reconcileStep('live', harness.deps),
    ]);
    expect(harness.looks).toEqual(['differs', 'differs', 'differs']);
    expect(await harness.differences(stream)).toEqual(['canceled_there_only']);
    expect(harness.reported).toHaveLength(1);
  });

  it('continues after a restart where it was, first absences included', async () => {
    for (let n = 0; n < 6; n += 1) await harness.issue();
    harness.clock.pass(HOUR);
    await fault({ on: 'lookup', kind: 'stale', times: 1 });
    for (let n = 0; n < 3; n += 1) expect(await reconcileStep('live', harness.deps)).toBe('asked');
    // Everything that a process remembers is in these two.
    const afterRestart = { ...harness.deps, progressStore: harness.deps.progressStore, store: harness.deps.store };
    await harness.walkToTheEnd('live', afterRestart);
    expect(harness.looks).toEqual(['absent_once', 'agrees', 'agrees', 'agrees', 'agrees', 'agrees', 'agrees']);
  });

  it('begins the next round when the clock was set back behind the beginning of the last one', async () => {
    await harness.issue();
    harness.clock.pass(2 * DAY);
    await harness.walkToTheEnd();
    harness.clock.pass(-DAY);
    await harness.walkToTheEnd();
    expect(harness.looks).toEqual(['agrees', 'agrees']);
  });

  it('begins the pause between two absent answers again when the clock was set back', async () => {
    const stream = await harness.issue();
    harness.clock.pass(2 * DAY);
    await fault({ on: 'lookup', kind: 'stale', times: 2 });
    expect(await reconcileStep('live', harness.deps)).toBe('asked');
    harness.clock.pass(-DAY);
    expect(await reconcileStep('live', harness.deps)).toBe('nothing to do');
    expect(harness.looks).toEqual(['absent_once']);
    harness.clock.pass(60);
    expect(await reconcileStep('live', harness.deps)).toBe('asked');
    expect(await harness.differences(stream)).toEqual(['issued_but_absent']);
  });

  it('keeps a first absent answer over one that proves nothing, and reports the note that is not there', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await fault({ on: 'lookup', kind: 'stale', times: 1 });
    expect(await reconcileStep('live', harness.deps)).toBe('asked');
    harness.clock.pass(60);
    await fault({ on: 'lookup', kind: 'http_404_html', times: 1 });
    expect(await reconcileStep('live', harness.deps)).toBe('inconclusive');
    harness.clock.pass(60);
    await fault({ on: 'lookup', kind: 'stale', times: 1 });
    expect(await reconcileStep('live', harness.deps)).toBe('asked');
    expect(harness.looks).toEqual(['absent_once', 'inconclusive', 'differs']);
    expect(await harness.differences(stream)).toEqual(['issued_but_absent']);
  });

  it('skips invoices that are young or out of reach, and all when it is switched off', async () => {
    await harness.issue();
    harness.clock.pass(HOUR - 1);
    await harness.walkToTheEnd();
    expect(await reconcileStep('live', { ...harness.deps, settings: { ...SETTINGS, samplePercent: 0 } })).toBe(
      'nothing to do',
    );
    harness.clock.pass(60 * DAY);
    const before = await lookups();
    await harness.walkToTheEnd();
    expect([harness.looks, await lookups()]).toEqual([[], before]);
  });

  it('skips an old invoice that has a new event', async () => {
    const stream = await harness.issue();
    harness.clock.pass(DAY);
    await harness.cancel(stream);
    await harness.walkToTheEnd();
    expect(harness.looks).toEqual([]);
    harness.clock.pass(DAY);
    await harness.walkToTheEnd();
    expect(harness.looks).toEqual(['agrees']);
  });

  it('asks for test invoices in their own environment, and only while they live', async () => {
    const stream = await harness.issue('test');
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd('test');
    expect(harness.looks).toEqual(['agrees']);
    harness.clock.pass(7 * DAY);
    await harness.walkToTheEnd('test');
    expect([harness.looks, await harness.differences(stream)]).toEqual([['agrees'], []]);
  });

  it('looks at a sample of the issued ones, and at every other', async () => {
    for (let n = 0; n < 10; n += 1) {
      if (n < 4) await fault({ on: 'issue', kind: 'reject', code: 'E0312' });
      await harness.issue();
    }
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd('live', { ...harness.deps, settings: { ...SETTINGS, samplePercent: 1 } });
    expect(harness.looks.length).toBeGreaterThanOrEqual(4);
    expect(harness.looks.length).toBeLessThan(8);
  });

  it('always looks at an invoice whose cancellation failed, and finds the event that came late', async () => {
    const streams: string[] = [];
    for (let n = 0; n < 4; n += 1) streams.push(await harness.issue());
    for (const stream of streams) await cancelWithoutConfirmation(stream);
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd('live', { ...harness.deps, settings: { ...SETTINGS, samplePercent: 1 } });
    for (const stream of streams) {
      expect(await harness.status(stream)).toBe('issued');
      expect(await harness.differences(stream)).toEqual(['canceled_there_only']);
    }
  });
});

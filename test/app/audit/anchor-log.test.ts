import { describe, expect, it } from 'vitest';
import { anchorLog, findAnchor, positionBefore } from '../../../src/app/audit/anchor-log.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { type AuditHarness, emptyAuditHarness, endTestInvoice } from '../../support/harness/audit.js';
import { movableClock } from '../../support/harness/event-store.js';

const DAY = 86_400;

const anchor = ({ log, store, clock }: AuditHarness, signal?: AbortSignal) =>
  anchorLog({ log, store, clock, actor: 'timer:anchorer' }, signal);

describe('where a look for what was recorded since an instant begins', () => {
  it('is behind what an anchor covers that was made at least a day before', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    const first = await anchor(harness);
    expect(first?.at).toBe('2026-11-21T12:00:00.000Z');
    const upTo = BigInt(first?.upTo ?? 0);
    const begin = (since: string) => positionBefore(since, harness.store);
    expect(await begin('2026-11-22T23:59:59.999Z')).toBeNull();
    expect(await begin('2026-11-23T00:00:00.000Z')).toBe(upTo);
    harness.clock.pass(3 * DAY);
    const second = await anchor(harness);
    expect(await begin('2026-11-25T23:59:59.999Z')).toBe(upTo);
    expect(await begin('2027-01-01T00:00:00.000Z')).toBe(BigInt(second?.upTo ?? 0));
    expect(await begin('0000-01-01T00:00:00.000Z')).toBeNull();
  });

  it('is the beginning of the log while the last anchor was made after its day', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    const late = {
      ...harness.log,
      head: () => {
        harness.clock.pass(2 * DAY);
        return harness.log.head();
      },
    };
    expect(await anchor({ ...harness, log: late })).toMatchObject({ day: '2026-11-21' });
    expect(await positionBefore('2026-11-23T00:00:00.000Z', harness.store)).toBeNull();
  });
});

describe('the daily anchor', () => {
  it('waits for the first event, and stands once a day', async () => {
    const harness = emptyAuditHarness();
    expect(await anchor(harness)).toBeUndefined();
    await harness.issue(1);
    const first = await anchor(harness);
    await harness.issue(2);
    expect(await anchor(harness)).toEqual(first);
    expect(first).toMatchObject({
      day: '2026-11-21',
      after: '',
      live: { streams: 3, events: 5 },
      test: { streams: 0 },
    });
  });

  it('covers what moved since the one before, which it covers too', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    const first = await anchor(harness);
    await harness.issue(2, 'test');
    harness.clock.pass(3 * DAY);
    const second = await anchor(harness);
    expect(second).toMatchObject({ day: '2026-11-24', after: first?.upTo });
    expect(second).toMatchObject({ live: { streams: 1, events: 1 }, test: { streams: 2, events: 4 } });
    expect((await verifyLog(harness.log)).findings.kept).toEqual([]);
  });

  it('of two writers has one', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    const [one, other] = await Promise.all([anchor(harness), anchor(harness)]);
    expect(one).toEqual(other);
    expect(one?.hash).toBe((await findAnchor('2026-11-21', harness.store))?.hash);
  });

  it('follows the anchor before it in the log, also after a clock was wrong for a while', async () => {
    const harness = emptyAuditHarness();
    const anchorOn = (day: string) => anchor({ ...harness, clock: movableClock(`${day}T12:00:00.000Z`) });
    await harness.issue(1);
    await anchorOn('2026-11-21');
    const ofLaterDay = await anchorOn('2026-11-25');
    let before = ofLaterDay;
    for (const day of ['2026-11-22', '2026-11-23', '2026-11-24']) {
      await harness.issue(Number(day.slice(-2)));
      const next = await anchorOn(day);
      expect(next).toMatchObject({ day, after: before?.upTo });
      before = next;
    }
    expect(await anchorOn('2026-11-25')).toEqual(ofLaterDay);
    expect(await anchorOn('2026-11-26')).toMatchObject({ after: before?.upTo });
    const ofEarlierDay = await anchorOn('2026-11-20');
    expect(await anchorOn('2026-11-27')).toMatchObject({ after: ofEarlierDay?.upTo });
    const report = await verifyLog(harness.log);
    expect(report.findings.kept).toEqual([]);
    expect(report.anchors.anchors).toBe(8);
  });

  it('is not written when it is told to stop', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    expect(await anchor(harness, AbortSignal.abort())).toBeUndefined();
    expect(await findAnchor('2026-11-21', harness.store)).toBeUndefined();
  });

  it('is given up between the days that it looks back to', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    const stopping = new AbortController();
    let loads = 0;
    const store = {
      ...harness.store,
      load: (async (...asked) => {
        loads += 1;
        if (loads === 2) stopping.abort();
        return await harness.store.load(...asked);
      }) as typeof harness.store.load,
    };
    expect(await anchor({ ...harness, store }, stopping.signal)).toBeUndefined();
    expect(await positionBefore('2026-11-21T12:00:00.000Z', store, stopping.signal)).toBeNull();
    // The anchor of the day, and the days that were being looked at.
    expect(loads).toBe(1 + 8);
  });

  it('is found again from the events, also when others wrote while it was made', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    let wrote = false;
    const busy = {
      ...harness.log,
      head: async () => {
        const head = await harness.log.head();
        if (!wrote) await harness.issue(2);
        wrote = true;
        return head;
      },
    };
    await anchor({ ...harness, log: busy });
    const report = await verifyLog(harness.log);
    expect(report.findings.kept).toEqual([]);
    expect(report.anchors.anchors).toBe(1);
  });

  it('of a day whose test invoices have vanished says nothing about them, and still proves the live ones', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    await harness.issue(2, 'test');
    await anchor(harness);
    await endTestInvoice(harness, 2, 'cut');
    const report = await verifyLog(harness.log);
    expect(report.findings.kept).toEqual([]);
    expect(report.anchors).toEqual({ anchors: 1, testPartsGone: 1 });
  });
});

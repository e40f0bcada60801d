import { beforeAll, describe, expect, it } from 'vitest';
import { createMovedHeads } from '../../../src/app/audit/anchor-walk.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { anchorStream } from '../../../src/domain/audit/events.js';
import type { StreamName } from '../../../src/domain/common/ids.js';
import type { LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';
import { type AuditHarness, emptyAuditHarness, endTestInvoice, logOf, relinked } from '../../support/harness/audit.js';
import { appendTo } from '../../support/harness/event-store.js';

/** Appends the anchor of a day over the events after the position `after`, as the writer did that looked for the anchor before by day. */
const anchorOf = async (harness: AuditHarness, day: string, after: string): Promise<string> => {
  const moved = createMovedHeads();
  const all = await harness.all();
  for (const { stream, revision, position, metadata } of all) {
    if (after === '' || position > BigInt(after)) moved.add({ stream, revision, hash: metadata.hash ?? '' });
  }
  const upTo = String(all.at(-1)?.position);
  const at = harness.clock.now();
  const data = { day, after, upTo, live: moved.part('live'), test: moved.part('test'), at };
  await appendTo(harness.store, anchorStream(day), [{ type: 'LogAnchored', data }], at);
  return upTo;
};

/** On the 27th the clock showed the 30th for a while; no anchor of the 30th was written when that day came. */
const logOfWrongClock = async (): Promise<AuditHarness> => {
  const harness = emptyAuditHarness();
  await harness.issue(1);
  const ends = { '27': await anchorOf(harness, '2026-11-27', ''), '30': '', '28': '', '29': '' };
  await harness.issue(2);
  await harness.accept(3);
  ends['30'] = await anchorOf(harness, '2026-11-30', ends['27']);
  await harness.issue(4);
  await harness.issue(5, 'test');
  ends['28'] = await anchorOf(harness, '2026-11-28', ends['27']);
  await harness.issue(6);
  ends['29'] = await anchorOf(harness, '2026-11-29', ends['28']);
  await harness.issue(7);
  const last = await anchorOf(harness, '2026-12-01', ends['30']);
  await harness.issue(8);
  await anchorOf(harness, '2026-12-02', last);
  return harness;
};

const findingsOf = async (events: readonly RecordedEvent[]): Promise<readonly string[]> =>
  (await verifyLog(logOf(events))).findings.kept.map(({ kind, stream }) => `${kind} ${stream}`);

/** Another content in the first event of the stream, and every hash after it. */
const rewritten = (all: readonly RecordedEvent[], stream: StreamName): readonly RecordedEvent[] => {
  const isFirst = (event: RecordedEvent): boolean => event.stream === stream && event.revision === 0;
  const changed = all.map((event) =>
    isFirst(event) ? { ...event, data: { ...event.data, amountInCents: 1 } } : event,
  );
  return relinked(changed, stream);
};

describe('a log whose anchors overlap, because a clock was wrong for a while', () => {
  let harness: AuditHarness;
  let all: readonly RecordedEvent[];
  beforeAll(async () => {
    harness = await logOfWrongClock();
    all = await harness.all();
  });

  const without = (gone: (event: RecordedEvent) => boolean) => findingsOf(all.filter((event) => !gone(event)));

  it('is sound', async () => {
    const report = await verifyLog(harness.log);
    expect(report.findings.kept).toEqual([]);
    expect(report.anchors).toEqual({ anchors: 6, testPartsGone: 0 });
  });

  it('is sound after a test invoice of an overlap has vanished', async () => {
    const ended = await logOfWrongClock();
    await endTestInvoice(ended, 5, 'cut');
    const report = await verifyLog(ended.log);
    expect(report.findings.kept).toEqual([]);
    expect(report.anchors).toEqual({ anchors: 6, testPartsGone: 2 });
  });

  it.each([1, 2, 3, 4, 6, 7, 8])('shows that invoice %i was taken out', async (n) => {
    const found = await without(({ stream }) => stream === harness.streamOf(n));
    expect(found.some((one) => one.startsWith('anchor_mismatch'))).toBe(true);
  });

  it.each([
    [2, ['2026-11-30', '2026-11-28']],
    [4, ['2026-11-28', '2026-12-01']],
    [8, ['2026-12-02']],
  ])('shows by each anchor over it that invoice %i was rewritten with every hash', async (n, days) => {
    expect(await findingsOf(rewritten(all, harness.streamOf(n)))).toEqual(
      days.map((day) => `anchor_mismatch anchor-${day}`),
    );
  });

  it.each(['2026-11-27', '2026-11-30', '2026-11-28', '2026-11-29', '2026-12-01'])(
    'shows that the anchor of %s was taken out',
    async (day) => {
      const found = await without(({ stream }) => stream === anchorStream(day));
      expect(found.some((one) => one.startsWith('anchor_mismatch'))).toBe(true);
    },
  );
});

describe('an anchor that does not fit', () => {
  const setUp = async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    const first = await anchorOf(harness, '2026-11-21', '');
    await harness.issue(2);
    return { harness, first };
  };

  it.each([
    ['that leaves a gap', (first: string) => String(BigInt(first) + 1n)],
    ['that begins inside an earlier stretch', (first: string) => String(BigInt(first) - 1n)],
  ])('because it begins at a place %s, is found once, and the later anchors are judged', async (_what, place) => {
    const { harness, first } = await setUp();
    const second = await anchorOf(harness, '2026-11-22', place(first));
    await harness.issue(3);
    const third = await anchorOf(harness, '2026-11-23', second);
    await harness.issue(4);
    await anchorOf(harness, '2026-11-24', third);
    const all = await harness.all();
    expect(await findingsOf(all)).toEqual(['anchor_mismatch anchor-2026-11-22']);
    expect(await findingsOf(rewritten(all, harness.streamOf(3)))).toEqual([
      'anchor_mismatch anchor-2026-11-22',
      'anchor_mismatch anchor-2026-11-23',
    ]);
  });

  it.each([
    ['ends after itself', (upTo: bigint) => upTo + 5n, 'events after itself'],
    ['ends before an earlier one ended', () => 1n, 'before an earlier anchor ended'],
  ])('because it %s, is found, and moves nothing', async (_what, end, detail) => {
    const { harness, first } = await setUp();
    const second = await anchorOf(harness, '2026-11-22', first);
    await harness.issue(3);
    await anchorOf(harness, '2026-11-23', second);
    const all = (await harness.all()).map((event) =>
      event.stream === anchorStream('2026-11-22')
        ? { ...event, data: { ...event.data, upTo: String(end(BigInt(second) as LogPosition)) } }
        : event,
    );
    const found = (await verifyLog(logOf(all))).findings.kept.filter(({ kind }) => kind === 'anchor_mismatch');
    expect(found.map(({ stream }) => stream)).toEqual(['anchor-2026-11-22', 'anchor-2026-11-23']);
    expect(found[0]?.detail).toContain(detail);
  });
});

describe('the order between streams', () => {
  /** The same events with those of one stream behind all others that the first anchor covers, at the positions that were there. */
  const reordered = async (harness: AuditHarness, stream: StreamName): Promise<readonly RecordedEvent[]> => {
    const all = await harness.all();
    const end = all.findIndex(({ type }) => type === 'LogAnchored');
    const covered = all.slice(0, end);
    const moved = [
      ...covered.filter((one) => one.stream !== stream),
      ...covered.filter((one) => one.stream === stream),
    ];
    return [...moved, ...all.slice(end)].map((event, n) => ({ ...event, position: BigInt(n + 1) as LogPosition }));
  };

  it('of live events is in the anchor: a log of another order is found, although every chain and root fits', async () => {
    const harness = emptyAuditHarness();
    await harness.accept(1);
    for (const n of [2, 3]) await harness.issue(n);
    await harness.anchor();
    expect(await findingsOf(await reordered(harness, 'nfseLive-none'))).toEqual([]);
    expect(await findingsOf(await reordered(harness, harness.streamOf(1)))).toEqual([
      'anchor_mismatch anchor-2026-11-21',
    ]);
  });

  it('of test events is in no anchor, because the events vanish', async () => {
    const harness = emptyAuditHarness();
    for (const mode of ['live', 'test'] as const) await harness.issue(1, mode);
    await harness.issue(2, 'test');
    await harness.anchor();
    await endTestInvoice(harness, 1, 'cut');
    expect((await verifyLog(harness.log)).findings.kept).toEqual([]);
  });

  it('is not compared where an anchor of an earlier version has none', async () => {
    const harness = emptyAuditHarness();
    await harness.accept(1);
    await harness.issue(2);
    await anchorOf(harness, '2026-11-21', '');
    expect(await findingsOf(await reordered(harness, harness.streamOf(1)))).toEqual([]);
  });
});

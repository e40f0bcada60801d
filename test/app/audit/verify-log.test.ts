import { beforeAll, describe, expect, it } from 'vitest';
import { findAnchor } from '../../../src/app/audit/anchor-log.js';
import { anchorFileText, anchorsOfLog, compareAnchors } from '../../../src/app/audit/published-anchors.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { eventIdOf } from '../../../src/app/event-store/codec.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { toRecord } from '../../../src/domain/log/record.js';
import type { Json, JsonObject, LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';
import * as life from '../../support/fixture/invoice.js';
import {
  type AuditHarness,
  auditHarness,
  emptyAuditHarness,
  logOf,
  rehashed,
  relinked,
} from '../../support/harness/audit.js';

const kindsIn = async (events: readonly RecordedEvent[]): Promise<readonly string[]> =>
  (await verifyLog(logOf(events))).findings.kept.map(({ kind, stream, revision }) => `${kind} ${stream}@${revision}`);

const failed = (seconds: number) =>
  ({ type: 'IssuanceFailed', data: { failedAt: life.at(seconds), at: life.at(seconds) } }) as const;
const notProcessed = { type: 'NotProcessed', data: { failedAt: life.at(900), at: life.at(900) } } as const;
const settled = (seconds: number) =>
  ({ type: 'IndeterminateResolved', data: { as: 'failed', evidence: 'portal', at: life.at(seconds) } }) as const;
const ended = { type: 'TestInvoiceDeleted', data: { lastHash: 'a'.repeat(64), deletedAt: life.at(9) } } as const;

describe('verifying a log', () => {
  let harness: AuditHarness;
  let all: readonly RecordedEvent[];
  beforeAll(async () => {
    harness = await auditHarness();
    all = await harness.all();
  });

  const eventOf = (n: number, revision: number): RecordedEvent => {
    const found = all.find((event) => event.stream === harness.streamOf(n) && event.revision === revision);
    if (found === undefined) throw new Error('no such event in the log');
    return found;
  };
  const replaced = (event: RecordedEvent, by: RecordedEvent): readonly RecordedEvent[] =>
    all.map((one) => (one === event ? by : one));

  it('finds nothing wrong with what the service writes, vanished test invoices included', async () => {
    const { findings, events, streams, anchors } = await verifyLog(harness.log);
    expect(findings.kept).toEqual([]);
    expect(events).toBe(all.length);
    expect(streams).toBe(new Set(all.map(({ stream }) => stream)).size);
    expect(anchors).toEqual({ anchors: 2, testPartsGone: 1 });
  });

  it('names the event that was changed', async () => {
    const event = eventOf(9, 1);
    const found = await kindsIn(replaced(event, { ...event, data: { ...event.data, attempt: 2 } }));
    expect(found).toEqual([`hash_mismatch ${harness.streamOf(9)}@1`]);
  });

  it.each([
    ['companyId', '99999999000191'],
    ['mode', 'test'],
  ])('names the event that was given another %s by its metadata', async (name, value) => {
    const event = eventOf(9, 2);
    const forged = rehashed(event, { metadata: { ...event.metadata, [name]: value } });
    expect(await kindsIn(replaced(event, forged))).toEqual([`invariant ${harness.streamOf(9)}@2`]);
  });

  it('names the place of an event that was taken out, and the anchor that knew it', async () => {
    const found = await kindsIn(all.filter((event) => event !== eventOf(3, 2)));
    expect(found).toContain(`missing_revision ${harness.streamOf(3)}@3`);
    expect(found.some((one) => one.startsWith('anchor_mismatch'))).toBe(true);
  });

  it('finds the end of a stream, and a whole stream, that were taken out before an anchor', async () => {
    const end = all.filter((event) => event !== eventOf(1, 2));
    expect(await kindsIn(end)).toEqual(['anchor_mismatch anchor-2026-11-21@0']);
    const stream = all.filter(({ stream: name }) => name !== harness.streamOf(6));
    expect(await kindsIn(stream)).toEqual([
      'invariant dpsLive-12345678000195_1@4',
      'anchor_mismatch anchor-2026-11-22@0',
    ]);
  });

  it('finds that the end of the log was cut off', async () => {
    const cut = logOf(all.slice(0, -1));
    const log = { ...cut, head: async () => all[all.length - 1]?.position ?? null };
    expect((await verifyLog(log)).findings.kept).toMatchObject([{ kind: 'log_end' }]);
  });

  it('finds an event that was put in, and one that was put in twice', async () => {
    const event = eventOf(9, 2);
    const added = rehashed(event, {
      revision: 3,
      position: (event.position + 1n) as LogPosition,
      id: eventIdOf('forged', 0),
      metadata: { ...event.metadata, commandId: 'forged', prevHash: event.metadata.hash ?? '' },
    });
    expect(await kindsIn([...all, added])).toEqual([`sealing ${harness.streamOf(9)}@3`]);
    const again = { ...event, position: (event.position + 1n) as LogPosition };
    expect(await kindsIn([...all, again])).toEqual([`repeated_revision ${harness.streamOf(9)}@2`]);
  });

  it('finds events in another order', async () => {
    const [first, second] = [eventOf(9, 1), eventOf(9, 2)];
    const swapped = all.map((event) => (event === first ? second : event === second ? first : event));
    expect(await kindsIn(swapped)).toContain(`position_order ${harness.streamOf(9)}@1`);
    const moved = swapped.map((event, index) => ({ ...event, position: BigInt(index + 1) as LogPosition }));
    expect(await kindsIn(moved)).toContain(`repeated_revision ${harness.streamOf(9)}@1`);
  });

  it.each([{ upTo: 'x' }, { live: 'none' }, { test: undefined }])(
    'names an anchor that was made unreadable: %o',
    async (change) => {
      const anchor = all.find(({ type }) => type === 'LogAnchored');
      if (anchor === undefined) throw new Error('the log has no anchor');
      const data = { ...anchor.data, ...change } as unknown as JsonObject;
      const found = await kindsIn(replaced(anchor, { ...anchor, data }));
      expect(found).toContain(`hash_mismatch ${anchor.stream}@${anchor.revision}`);
      expect(found).toContain(`anchor_mismatch ${anchor.stream}@${anchor.revision}`);
    },
  );

  it('names an event whose data nests 100,000 levels deep, as it is read and as it is stored', async () => {
    const event = eventOf(9, 1);
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    const deep = { ...event, data: { ...event.data, a: JSON.parse(nested) as Json } };
    const name = `unreadable_event ${harness.streamOf(9)}@1`;
    const read = logOf(replaced(event, deep));
    expect(await kindsIn(replaced(event, deep))).toContain(name);
    expect((await verifyLog(read)).readable).toBe(false);
    const rows = all.map((one) => ({ ...one, ...toRecord(one.stream, one.revision, one) }));
    const row = rows[all.indexOf(event)];
    if (row === undefined) throw new Error('no such row');
    const page = rows.with(all.indexOf(event), { ...row, record: row.record.replace(/}]$/, `,"z":${nested}}]`) });
    const stored = { ...read, readStored: async ({ after }: { after: LogPosition | null }) => (after ? [] : page) };
    expect((await verifyLog(stored)).findings.kept).toContainEqual(
      expect.objectContaining({ kind: 'unreadable_event', stream: harness.streamOf(9), revision: 1 }),
    );
  });

  it('finds by the anchor what was rewritten with every hash after it', async () => {
    const event = eventOf(1, 0);
    const changed = replaced(event, { ...event, data: { ...event.data, amountInCents: 1 } });
    expect(await kindsIn(relinked(changed, harness.streamOf(1)))).toEqual(['anchor_mismatch anchor-2026-11-21@0']);
  });

  it('finds by the published anchors what was rewritten with the anchors of the log', async () => {
    const published = await Promise.all(
      ['2026-11-21', '2026-11-22'].map(async (day) => {
        const anchor = await findAnchor(day, harness.store);
        if (anchor === undefined) throw new Error('the log has no such anchor');
        return { name: `anchor-${day}.json`, text: anchorFileText(anchor, 'log') };
      }),
    );
    expect(await compareAnchors(published, anchorsOfLog(harness.store))).toEqual([]);
    const forged = emptyAuditHarness();
    await forged.issue(1);
    await forged.anchor();
    expect((await verifyLog(forged.log)).findings.kept).toEqual([]);
    const found = await compareAnchors(published, anchorsOfLog(forged.store));
    expect(found.map(({ kind, stream }) => [kind, stream])).toEqual([
      ['anchor_mismatch', 'anchor-2026-11-21'],
      ['anchor_missing', 'anchor-2026-11-22'],
    ]);
    const text = published[0]?.text.replace('"events": ', '"events": 1') ?? '';
    expect(await compareAnchors([{ name: 'a', text }], anchorsOfLog(harness.store))).toHaveLength(1);
    const twice = published[0]?.text.replace('{', '{"day": "2026-11-20",') ?? '';
    expect(JSON.parse(twice)).toEqual(JSON.parse(published[0]?.text ?? ''));
    expect(await compareAnchors([{ name: 'a', text: twice }], anchorsOfLog(harness.store))).toHaveLength(1);
    expect(await compareAnchors([{ name: 'a', text: '{}' }], anchorsOfLog(harness.store))).toMatchObject([
      { kind: 'anchor_mismatch', detail: 'a is no published anchor' },
    ]);
  });

  const shapes: readonly (readonly [string, string, (data: JsonObject) => JsonObject])[] = [
    ['a field too many', 'schema', (data) => ({ ...data, surprise: 1 })],
    ['a field of another type', 'schema', (data) => ({ ...data, attempt: 'one' })],
    ['a field too few', 'schema', ({ digest: _digest, ...data }) => data],
    ['personal data in clear', 'schema', (data) => ({ ...data, signedDpsGzip: 'H4sI' })],
    ['text sealed for another event', 'sealing', (data) => ({ ...data, signedDpsGzip: sealedLike('m1', 'a') })],
    [
      'text under a key of a test day',
      'sealing',
      (data) => ({ ...data, signedDpsGzip: sealedLike('t2026-11-21', '') }),
    ],
  ];
  const sealedLike = (generation: string, other: string): string =>
    String(eventOf(9, 1).data.signedDpsGzip).replace(/^sealed:1:m1:(.)/, (_all, first: string) => {
      const changed = other === '' ? first : first === other ? 'b' : other;
      return `sealed:1:${generation}:${changed}`;
    });

  it.each(shapes)('finds %s although every hash fits', async (_what, kind, change) => {
    const event = eventOf(9, 1);
    const forged = relinked(replaced(event, { ...event, data: change(event.data) }), harness.streamOf(9));
    expect(await kindsIn(forged)).toContain(`${kind} ${harness.streamOf(9)}@1`);
  });

  it('finds an id that does not come from its command, and a type that nobody knows', async () => {
    const event = eventOf(9, 2);
    const byHand = rehashed(event, { metadata: { ...event.metadata, commandId: 'by hand' } });
    expect(await kindsIn(replaced(event, byHand))).toEqual([`schema ${harness.streamOf(9)}@2`]);
    expect(await kindsIn(replaced(event, rehashed(event, { type: 'Blessed' })))).toEqual([
      `schema ${harness.streamOf(9)}@2`,
    ]);
  });
});

const ofAnotherDps = (event: InvoiceEvent): InvoiceEvent =>
  ({ ...event, data: { ...event.data, dpsId: 'DPS330455721234567800019500001000000000000099' } }) as InvoiceEvent;

describe('the invariants that a log can show', () => {
  const absent = (attempt: number, seconds: number) => life.provenAbsent(attempt, seconds);
  const lives: readonly (readonly [string, Parameters<AuditHarness['record']>[1], string])[] = [
    ['a second outcome', [life.attempted(1, 1), life.authorized(1, 2), life.interrupted], 'a second outcome'],
    [
      'an issued invoice called failed',
      [life.attempted(1, 1), life.authorized(1, 2), life.rejected(1, 3)],
      'after the outcome',
    ],
    [
      'failed after an attempt that may have left a note',
      [life.attempted(1, 1), life.unknown(1, 2), failed(4000)],
      'not proven unsent',
    ],
    ['an attempt while one is open', [life.attempted(1, 1), life.attempted(2, 2)], 'not settled'],
    [
      'a further attempt with another DPS',
      [life.attempted(1, 1), life.notSent(1, 2), ofAnotherDps(life.attempted(2, 3))],
      'another DPS',
    ],
    [
      'an attempt with the DPS id of another number',
      [ofAnotherDps(life.attempted(1, 1))],
      'a DPS id of another company',
    ],
    ['a skipped attempt', [life.attempted(2, 1)], 'attempt 2 follows attempt 0'],
    ['an indeterminate invoice that was never attempted', [life.interrupted], 'no attempt was made'],
    ['a note without an attempt', [life.authorized(1, 2)], 'never made'],
    ['not processed after an attempt', [life.attempted(1, 1), notProcessed], 'an attempt was made'],
    [
      'absence that was asked for too early',
      [life.attempted(1, 1), life.unknown(1, 2), absent(1, 70)],
      'before the deadline',
    ],
    [
      'absence although the DPS was said to exist',
      [life.attempted(1, 1), life.unknown(1, 2, ['E0014']), absent(1, 200)],
      'said that this DPS exists',
    ],
    ['a cancellation of what was not issued', [life.cancelRequested(5)], 'not issued'],
    [
      'a cancellation that nobody asked for',
      [life.attempted(1, 1), life.authorized(1, 2), life.cancelConfirmed(3)],
      'not under way',
    ],
    [
      'a settlement of what has an outcome',
      [life.attempted(1, 1), life.authorized(1, 2), settled(90_000)],
      'not indeterminate',
    ],
    [
      'failed by support within a day',
      [life.attempted(1, 1), life.unknown(1, 2), life.interrupted, settled(80_000)],
      'less than 24 hours',
    ],
    ['a second acceptance', [life.accepted()], 'follows the beginning'],
    ['a live invoice that was ended', [ended], 'a live invoice was ended'],
  ];

  it.each(lives)('have no place for %s', async (_what, events, detail) => {
    const harness = emptyAuditHarness();
    await harness.accept(1);
    await harness.record(1, events);
    const found = (await verifyLog(harness.log)).findings.kept;
    expect(found.map(({ kind }) => kind)).toContain('invariant');
    expect(found.map((finding) => finding.detail).join()).toContain(detail);
  });

  it.each([
    [
      'an indeterminate invoice whose attempts were not sent, because a look-up has shown a document',
      [life.attempted(1, 1), life.notSent(1, 2), life.interrupted],
    ],
    [
      'an indeterminate invoice that support settles a day later',
      [life.attempted(1, 1), life.unknown(1, 2), life.interrupted, settled(90_002)],
    ],
    [
      'absence, the same bytes again, and the note',
      [life.attempted(1, 1), life.unknown(1, 2), absent(1, 200), life.attempted(2, 201), life.authorized(2, 202)],
    ],
    [
      'a late note of an earlier attempt',
      [life.attempted(1, 1), life.unknown(1, 2), absent(1, 200), life.attempted(2, 201), life.authorized(1, 202)],
    ],
    [
      'a cancellation sent twice',
      [
        life.attempted(1, 1),
        life.authorized(1, 2),
        life.cancelRequested(5),
        life.cancelAttempted(1, 6),
        life.cancelNotSent(1, 7),
        life.cancelAttempted(2, 8),
        life.cancelConfirmed(9),
      ],
    ],
  ])('have a place for %s', async (_what, events) => {
    const harness = emptyAuditHarness();
    await harness.accept(1);
    await harness.record(1, events);
    expect((await verifyLog(harness.log)).findings.kept).toEqual([]);
  });

  it('find a DPS number, a DPS id or an access key that two invoices have', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    await harness.accept(2);
    const [, attempt, note] = (await harness.log.read(harness.streamOf(1))).map(({ data }) => data);
    if (attempt === undefined || note === undefined) throw new Error('not an issued invoice');
    const all = await harness.all();
    const first = all.find(({ stream, revision }) => stream === harness.streamOf(2) && revision === 0);
    if (first === undefined) throw new Error('not accepted');
    const copies = (await harness.log.read(harness.streamOf(1))).slice(1).map((event, index) => ({
      ...event,
      stream: harness.streamOf(2),
      position: (first.position + BigInt(index + 1)) as LogPosition,
    }));
    const forged = relinked([...all, ...copies], harness.streamOf(2)).map((event) => event);
    const details = (await verifyLog(logOf(forged))).findings.kept.map(({ kind, detail }) => `${kind} ${detail}`);
    for (const what of ['a DPS number that nfseLive', 'a DPS id that', 'an access key that']) {
      expect(details.join('\n')).toContain(`duplicate ${what}`);
    }
    expect(details.join('\n')).toContain('not allocated to this invoice');
  });
});

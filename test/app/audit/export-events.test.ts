import { describe, expect, it } from 'vitest';
import { exportEvents } from '../../../src/app/audit/export-events.js';
import { type ExportFilter, headOf, manifestText, readManifest, signedText } from '../../../src/app/audit/manifest.js';
import type { EventLog, LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';
import { COMPANY } from '../../support/fixture/histories.js';
import * as life from '../../support/fixture/invoice.js';
import { exportOf, verified } from '../../support/fixture/log-edits.js';
import {
  type AuditHarness,
  auditHarness,
  emptyAuditHarness,
  endTestInvoice,
  registerCompany,
  testSigner,
} from '../../support/harness/audit.js';

const signer = testSigner();

const exported = async (log: EventLog, filter: ExportFilter = {}) => {
  const texts = await exportOf(log, signer, filter);
  const report = await verified(texts, [await signer.publicKey()]);
  return { findings: report.findings.kept, losses: texts.losses, report, manifest: readManifest(texts.manifest) };
};

describe('an export of a period', () => {
  /** Two processes append to one stream in turn; the clock of the second is 5 ms behind. */
  const ofTwoClocks = async (): Promise<{ harness: AuditHarness; instants: readonly string[] }> => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    harness.clock.pass(60);
    await harness.accept(2);
    harness.clock.pass(-0.005);
    await harness.record(2, [life.attempted(1, 1)]);
    harness.clock.pass(0.007);
    await harness.record(2, [life.authorized(1, 2)]);
    harness.clock.pass(60);
    await harness.issue(3);
    return { harness, instants: (await harness.all()).map(({ metadata }) => metadata.recordedAt ?? '') };
  };

  it('has no gap in a stream wherever it begins and ends, although the clocks of processes differ', async () => {
    const { harness, instants } = await ofTwoClocks();
    const borders = [undefined, ...new Set(instants), '2036-01-01T00:00:00.000Z'];
    expect([...instants].sort()).not.toEqual(instants);
    for (const from of borders) {
      for (const to of borders) {
        const { findings, report } = await exported(harness.log, {
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
        });
        const recorded = instants.filter((at) => (from === undefined || at >= from) && (to === undefined || at < to));
        expect([from, to, findings]).toEqual([from, to, []]);
        expect(report.events).toBeGreaterThanOrEqual(recorded.length);
        if (recorded.length === 0) expect(report.events).toBe(0);
      }
    }
  });

  it('ends with the last event that was recorded before its end, and begins with the first at or after its beginning', async () => {
    const { harness, instants } = await ofTwoClocks();
    const [secondMinute = '', thirdMinute = ''] = [instants[5], instants.at(-1)];
    const { manifest } = await exported(harness.log, { from: secondMinute, to: thirdMinute });
    expect(manifest?.streams).toEqual([
      expect.objectContaining({ first_revision: 1, revision: 1 }),
      expect.objectContaining({ stream: harness.streamOf(2), first_revision: 0, revision: 2, events: 3 }),
    ]);
  });
});

/** The log, in which something happens after its head was read and before its events are. */
const afterTheHead = (log: EventLog, happen: () => Promise<void>): EventLog => ({
  ...log,
  head: async () => {
    const head = await log.head();
    await happen();
    return head;
  },
});

/** The log of an engine that numbers positions without a gap. */
const dense = (log: EventLog): EventLog => ({ ...log, readStored: async () => [] });

describe('an export of a whole log in which a test invoice ends meanwhile', () => {
  it('reads on to that end, which explains what an anchor covers and the file lacks', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1, 'test');
    await harness.issue(2);
    await harness.anchor();
    const ending = afterTheHead(harness.log, async () => {
      await harness.issue(3);
      await endTestInvoice(harness, 1, 'cut');
      await harness.issue(4);
    });
    const { findings, report, manifest } = await exported(ending);
    expect(findings).toEqual([]);
    expect(report.anchors).toEqual({ anchors: 1, testPartsGone: 1 });
    const names = manifest?.streams.map(({ stream }) => stream);
    expect(names).toContain(harness.streamOf(1, 'test'));
    expect(names).toContain(harness.streamOf(3));
    expect(names).not.toContain(harness.streamOf(4));
  });

  it('ends at the head of its start when none ends', async () => {
    const harness = emptyAuditHarness();
    await harness.issue(1, 'test');
    const { manifest } = await exported(afterTheHead(harness.log, () => harness.issue(2)));
    expect(manifest?.streams.map(({ stream }) => stream)).not.toContain(harness.streamOf(2));
  });
});

describe('an export of a whole log that has lost events', () => {
  /** The log without some of its events; its head is where it was. */
  const without = (log: EventLog, isLost: (event: RecordedEvent) => boolean): EventLog => ({
    ...log,
    readAll: async (options) => (await log.readAll(options)).filter((event) => !isLost(event)),
  });

  const issued = async (): Promise<AuditHarness> => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    await harness.accept(2);
    await harness.accept(3);
    return harness;
  };

  it('names no more broken events than a person can read, and counts the rest', async () => {
    const { log } = await issued();
    const [event] = await log.readAll({ prefixes: [''], after: null, limit: 1 });
    if (event === undefined) throw new Error('the log is empty');
    const broken = Array.from({ length: 1_003 }, (_, index) => ({
      ...event,
      stream: `${event.stream}-${index}`,
      position: BigInt(index + 1) as LogPosition,
    }));
    const edited: EventLog = {
      ...log,
      readAll: async ({ after }) => (after === null ? broken : []),
      head: async () => 1_003n as LogPosition,
    };
    const exporting = exportEvents({ company: COMPANY }, { log: edited });
    for await (const lines of exporting.lines()) expect(lines).not.toBe('');
    const { losses, unnamedLosses } = await exporting.finish();
    expect([losses.length, unnamedLosses]).toEqual([1_000, 3]);
  });

  it('says so, and so does its reader, when no other event misses the lost one', async () => {
    const harness = await issued();
    const log = without(dense(harness.log), ({ stream }) => stream === harness.streamOf(2));
    const { losses, findings } = await exported(log);
    const detail = 'empty positions of the log: 1 (6); the ends of test invoices account for 0';
    expect(losses).toEqual([{ kind: 'missing_position', detail }]);
    expect(findings).toEqual(losses);
  });

  it.each([
    ['with positions without a gap', dense],
    ['with other positions', (log: EventLog) => log],
  ])('says so when its end was cut off, in an engine %s', async (_which, engine) => {
    const harness = await issued();
    const log = without(engine(harness.log), ({ stream }) => stream === harness.streamOf(3));
    const { losses, findings } = await exported(log);
    const detail = 'the log says that it ends at 7, but its last event is at 6';
    expect(losses).toEqual([{ kind: 'log_end', detail }]);
    expect(findings).toEqual(losses);
  });

  it('is not said of a part of the log, nor of an engine whose positions have gaps', async () => {
    const harness = await issued();
    const isLost = ({ stream }: RecordedEvent): boolean => stream === harness.streamOf(2);
    const period = await exported(without(dense(harness.log), isLost), { from: life.T0 });
    expect(period).toMatchObject({ losses: [], findings: [] });
    expect(period.manifest).not.toHaveProperty('head_position');
    expect(period.manifest).not.toHaveProperty('dense_positions');
    expect(await exported(without(harness.log, isLost))).toMatchObject({ losses: [], findings: [] });
  });

  const lostInvoice = `a DPS number of ${emptyAuditHarness().streamOf(1)}, of which no event is left`;
  const lostCompany = 'an invoice of a company of which no event is left';

  it.each<[string, (harness: AuditHarness) => string, ExportFilter, readonly string[]]>([
    [
      'a numbered live invoice in an export of its company',
      ({ streamOf }) => streamOf(1),
      { company: COMPANY },
      [lostInvoice],
    ],
    ['a live invoice without a number', ({ streamOf }) => streamOf(2), { company: COMPANY }, []],
    ['a company', () => `company-${COMPANY}`, { company: COMPANY }, [lostCompany, lostCompany, lostCompany]],
  ])('shows to its reader the loss of %s', async (_what, streamOf, filter, details) => {
    const harness = await issued();
    const { findings } = await exported(
      without(dense(harness.log), ({ stream }) => stream === streamOf(harness)),
      filter,
    );
    expect(findings.map(({ detail }) => detail)).toEqual(details);
  });

  it.each<ExportFilter>([{ from: life.T0 }, { to: life.at(86_400) }, { company: COMPANY, to: life.at(86_400) }])(
    'does not show in an export of a period: %j',
    async (filter) => {
      const harness = await issued();
      const log = without(harness.log, ({ stream }) => stream === harness.streamOf(1));
      expect(await exported(log, filter)).toMatchObject({ losses: [], findings: [] });
    },
  );

  it.each<ExportFilter>([{}, { company: COMPANY }])(
    'is not found in an export of release 0.2.0, which left out each event that was recorded at or after `to`: %j',
    async (more) => {
      const harness = emptyAuditHarness();
      await registerCompany(harness);
      harness.clock.pass(61);
      await harness.accept(1);
      // The clock of another process is behind.
      harness.clock.pass(-2);
      await harness.record(1, [life.attempted(1, 59)]);
      const to = life.at(60);
      const log = without(harness.log, ({ metadata }) => (metadata.recordedAt ?? '') >= to);
      expect((await exported(log, { ...more, to })).findings).toEqual([]);
    },
  );

  it('is found in no part of a log that has lost none, wherever the part begins and ends', async () => {
    const harness = await auditHarness();
    const instants = [undefined, ...new Set((await harness.all()).map(({ metadata }) => metadata.recordedAt ?? ''))];
    for (const company of [undefined, COMPANY]) {
      for (const from of instants) {
        for (const to of instants) {
          const filter = JSON.parse(JSON.stringify({ company, from, to })) as ExportFilter;
          expect([filter, (await exported(harness.log, filter)).findings]).toEqual([filter, []]);
        }
      }
    }
  });

  it('is explained by the ends of all test invoices that ended meanwhile', async () => {
    const harness = await issued();
    await harness.issue(4, 'test');
    await harness.issue(5, 'test');
    const log = afterTheHead(dense(harness.log), async () => {
      await endTestInvoice(harness, 4, 'cut');
      await harness.issue(6);
      await endTestInvoice(harness, 5, 'cut');
      await harness.accept(7);
    });
    const { losses, findings, manifest } = await exported(log);
    expect(losses).toEqual([]);
    expect(findings).toEqual([]);
    expect(manifest?.dense_positions).toBe(true);
    expect(manifest?.streams.map(({ stream }) => stream)).not.toContain(harness.streamOf(7));
  });

  it('can still be read from a manifest of an earlier version, which does not name the end of the log', async () => {
    const { log } = await issued();
    const texts = await exportOf(log, signer);
    const manifest = readManifest(texts.manifest);
    if (manifest === undefined) throw new Error('not a manifest');
    const { head_position: _head, dense_positions: _dense, ...head } = headOf(manifest);
    const signature = await signer.sign(signedText(head));
    const earlier = { ...texts, manifest: [...manifestText(head, signature, manifest.streams)].join('') };
    const { findings } = await verified(earlier, [await signer.publicKey()]);
    expect(findings.kept).toEqual([]);
  });
});

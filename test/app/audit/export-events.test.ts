import { describe, expect, it } from 'vitest';
import { type ExportFilter, readManifest } from '../../../src/app/audit/manifest.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import { attempted, authorized } from '../../support/fixture/invoice.js';
import { exportOf, verified } from '../../support/fixture/log-edits.js';
import { type AuditHarness, emptyAuditHarness, endTestInvoice, testSigner } from '../../support/harness/audit.js';

const signer = testSigner();

const exported = async (log: EventLog, filter: ExportFilter = {}) => {
  const texts = await exportOf(log, signer, filter);
  const report = await verified(texts, [await signer.publicKey()]);
  return { findings: report.findings.kept, report, manifest: readManifest(texts.manifest) };
};

describe('an export of a period', () => {
  /** Two processes append to one stream in turn; the clock of the second is 5 ms behind. */
  const ofTwoClocks = async (): Promise<{ harness: AuditHarness; instants: readonly string[] }> => {
    const harness = emptyAuditHarness();
    await harness.issue(1);
    harness.clock.pass(60);
    await harness.accept(2);
    harness.clock.pass(-0.005);
    await harness.record(2, [attempted(1, 1)]);
    harness.clock.pass(0.007);
    await harness.record(2, [authorized(1, 2)]);
    harness.clock.pass(60);
    await harness.issue(3);
    return { harness, instants: (await harness.all()).map(({ metadata }) => metadata.recordedAt ?? '') };
  };

  it('has no gap in a stream wherever it begins and ends, although the clocks of processes differ', async () => {
    // given
    const { harness, instants } = await ofTwoClocks();
    const borders = [undefined, ...new Set(instants), '2036-01-01T00:00:00.000Z'];
    expect([...instants].sort()).not.toEqual(instants);
    for (const from of borders) {
      for (const to of borders) {
        // when
        const { findings, report } = await exported(harness.log, {
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
        });
        // then
        const recorded = instants.filter((at) => (from === undefined || at >= from) && (to === undefined || at < to));
        expect([from, to, findings]).toEqual([from, to, []]);
        expect(report.events).toBeGreaterThanOrEqual(recorded.length);
        if (recorded.length === 0) expect(report.events).toBe(0);
      }
    }
  });

  it('ends with the last event that was recorded before its end, and begins with the first at or after its beginning', async () => {
    // given
    const { harness, instants } = await ofTwoClocks();
    const [secondMinute = '', thirdMinute = ''] = [instants[4], instants.at(-1)];
    // when
    const { manifest } = await exported(harness.log, { from: secondMinute, to: thirdMinute });
    // then
    expect(manifest?.streams).toEqual([
      expect.objectContaining({ first_revision: 1, revision: 1 }),
      expect.objectContaining({ stream: harness.streamOf(2), first_revision: 0, revision: 2, events: 3 }),
    ]);
  });
});

describe('an export of a whole log in which a test invoice ends meanwhile', () => {
  /** The log, in which something happens after its head was read and before its events are. */
  const afterTheHead = (log: EventLog, happen: () => Promise<void>): EventLog => ({
    ...log,
    head: async () => {
      const head = await log.head();
      await happen();
      return head;
    },
  });

  it('reads on to that end, which explains what an anchor covers and the file lacks', async () => {
    // given
    const harness = emptyAuditHarness();
    await harness.issue(1, 'test');
    await harness.issue(2);
    await harness.anchor();
    const ending = afterTheHead(harness.log, async () => {
      await harness.issue(3);
      await endTestInvoice(harness, 1, 'cut');
      await harness.issue(4);
    });
    // when
    const { findings, report, manifest } = await exported(ending);
    // then
    expect(findings).toEqual([]);
    expect(report.anchors).toEqual({ anchors: 1, testPartsGone: 1 });
    const names = manifest?.streams.map(({ stream }) => stream);
    expect(names).toContain(harness.streamOf(1, 'test'));
    expect(names).toContain(harness.streamOf(3));
    expect(names).not.toContain(harness.streamOf(4));
  });

  it('ends at the head of its start when none ends', async () => {
    // given
    const harness = emptyAuditHarness();
    await harness.issue(1, 'test');
    // when
    const { manifest } = await exported(afterTheHead(harness.log, () => harness.issue(2)));
    // then
    expect(manifest?.streams.map(({ stream }) => stream)).not.toContain(harness.streamOf(2));
  });
});

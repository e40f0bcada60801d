import { expect, it } from 'vitest';
import { UnknownEventVersion } from '../../../src/app/event-store/codec.js';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import { stoppedSeries, stoppedTexts, UNREADABLE_EVENT } from '../../../src/app/operator/support/stopped-series.js';
import { type RecoveryReport, recordRecovery } from '../../../src/app/recovery/recover-log.js';
import { supportStream } from '../../../src/domain/audit/events.js';
import type { AccessKey } from '../../../src/domain/common/access-key.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { accepted, at, attempted, conflictFound } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const KEY: AccessKey = `330455722${DEMO_CNPJ}${'1'.padStart(27, '0')}`;

/** Invoice 8 was sent under number 3 after 25 s, and met the note after the pause. */
const stop = async ({ deps, stop: stopSeries }: RecoveryHarness): Promise<void> => {
  await stopSeries(8, 3, at(19));
  const { type, data } = attempted(1, 25);
  const conflict = conflictFound(1, 90);
  const met = { type: conflict.type, data: { ...conflict.data, accessKey: KEY } } as InvoiceEvent;
  const sent = { type, data: { ...data, number: 3 } } as InvoiceEvent;
  const facts = accepted({ mode: 'live', invoiceId: idOf(8), acceptedAt: at(19) });
  await appendTo(deps.store, invoiceStream('live', DEMO_CNPJ, idOf(8)), [facts, sent, met], at(90));
};

const recover = async (
  { deps, clock }: RecoveryHarness,
  seconds: number,
  report: Partial<Pick<RecoveryReport, 'unknown' | 'skipped'>> = {},
): Promise<void> => {
  clock.moveTo(at(seconds));
  expect(await recordRecovery({ series: [], skipped: [], unknown: [], ...report }, deps)).toBeUndefined();
};

const adviceOf = async ({ deps }: RecoveryHarness): Promise<readonly string[]> => {
  const stopped = await stoppedSeries([demoCompany(DEMO_CNPJ)], deps.store);
  return stopped.map((one) => stoppedTexts(one).command);
};

const LATER_NUMBER = 'nfse company put FILE.json with a dps.live.next_number after every note of the series';

const COMPARE_FIRST = `where a copy of the log or of DATA_DIR was put back: nfse restore --mark, then nfse doctor --reconcile; else ${LATER_NUMBER}`;

const afterComparisonOf = (seconds: number): string =>
  `${LATER_NUMBER}. Only where a copy of the log or of DATA_DIR was put back after the comparison that ended at ${at(seconds)}, first: nfse restore --mark, then nfse doctor --reconcile`;

const note = { mode: 'live', companyId: DEMO_CNPJ, series: '1', number: 3, accessKey: KEY } as const;
const unknown = [{ ...note, authorizedAt: at(0), amount: '1.00' }];

it.each<[string, number, Parameters<typeof recover>[2], string]>([
  ['came before the attempt that met the note', 20, {}, COMPARE_FIRST],
  ['came after that attempt', 60, {}, afterComparisonOf(60)],
  ['has accepted that note', 20, { unknown }, afterComparisonOf(20)],
  [
    'has left out the company',
    60,
    { skipped: [{ companyId: DEMO_CNPJ, why: 'it is left out', isHeld: true }] },
    COMPARE_FIRST,
  ],
])(
  'a comparison is not advised again for a stop whose comparison has ended: it %s',
  async (_what, seconds, report, advice) => {
    const harness = await recoveryHarness();
    await stop(harness);
    expect(await adviceOf(harness)).toEqual([COMPARE_FIRST]);
    await recover(harness, seconds, report);
    expect(await adviceOf(harness)).toEqual([advice]);
  },
);

it('a stop is told, and a comparison advised first, where an event that may be of a comparison cannot be read', async () => {
  const harness = await recoveryHarness();
  await stop(harness);
  await recover(harness, 120);
  const { store } = harness.deps;
  const why = `event type SomethingElse, schema version 1, at ${supportStream}@1`;
  const load: EventStore['load'] = async (stream, options) => {
    if (stream === supportStream) throw new UnknownEventVersion(why);
    return await store.load(stream, options);
  };
  const stopped = await stoppedSeries([demoCompany(DEMO_CNPJ)], { ...store, load });
  expect(stopped).toMatchObject([{ mode: 'live', series: '1', since: at(26), unreadable: { of: 'comparison', why } }]);
  const [{ detail, command } = { detail: '', command: '' }] = stopped.map(stoppedTexts);
  expect(detail).toContain('a note that is not ours has one of its numbers');
  expect(detail).toContain(`Whether the log was compared since cannot be read (${why})`);
  expect(command).toBe(`${UNREADABLE_EVENT}, and then ${COMPARE_FIRST}`);
});

it('the last comparison is the one that counts', async () => {
  const harness = await recoveryHarness();
  await recover(harness, 20, { unknown });
  await stop(harness);
  await recover(harness, 120);
  expect(await adviceOf(harness)).toEqual([afterComparisonOf(120)]);
});

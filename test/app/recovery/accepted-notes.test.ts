import { describe, expect, it } from 'vitest';
import { compareRestoredLog, type RecoveryReport, recordRecovery } from '../../../src/app/recovery/recover-log.js';
import { holdsPause } from '../../../src/app/recovery/unknown-notes.js';
import { logRecoveryChecks } from '../../../src/cli/commands/recovery-checks.js';
import type { Check } from '../../../src/cli/session.js';
import { type AuditEvent, supportStream } from '../../../src/domain/audit/events.js';
import { type InvoiceId, invoiceStream } from '../../../src/domain/common/ids.js';
import type { AuthorizedNote } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { at } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { idOf, type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

const keyOf = (number: number, cnpj = DEMO_CNPJ): string => `330455722${cnpj}${String(number).padStart(27, '0')}`;

/** The note of invoice `n` under this number, with a key of the company. */
const lost = ({ register }: RecoveryHarness, n: number, number: number, cnpj = DEMO_CNPJ): AuthorizedNote =>
  Object.assign(register(n, number), { accessKey: keyOf(number, cnpj) });

const compare = async ({ deps }: RecoveryHarness, acceptUnknown = false): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

/** As `doctor --reconcile --accept-unknown`. */
const accept = async (harness: RecoveryHarness): Promise<void> => {
  const report = await compare(harness, true);
  expect(report.isDone).toBe(true);
  expect(await recordRecovery(report, harness.deps)).toBeUndefined();
};

const linesOf = (report: RecoveryReport): readonly Check[] =>
  logRecoveryChecks({ kind: 'compared', resumed: false, ...report }).filter(({ name }) =>
    name.startsWith('note without'),
  );

const recordedKeys = async ({ deps }: RecoveryHarness): Promise<readonly unknown[]> => {
  const { events } = await deps.store.load<AuditEvent>(supportStream);
  return events.map(({ data }) => data);
};

describe('a note without an invoice that an earlier recovery of the log has accepted', () => {
  it('is ok, says who accepted it and when, and holds no pause, while a new one does', async () => {
    const harness = await recoveryHarness();
    lost(harness, 7, 3);
    await accept(harness);
    const acceptedAt = harness.clock.now();
    const again = await compare(harness);
    expect(again).toMatchObject({
      isDone: true,
      unknown: [{ number: 3, accepted: { by: 'support:maria', at: acceptedAt } }],
    });
    expect(linesOf(again)).toMatchObject([
      { ok: true, detail: expect.stringContaining(`, accepted by support:maria at ${acceptedAt}`) },
    ]);
    lost(harness, 9, 4);
    const more = await compare(harness);
    expect(more.isDone).toBe(false);
    expect(linesOf(more)).toMatchObject([{ ok: true, cure: undefined }, { ok: false }]);
    expect(more.unknown[1]).not.toHaveProperty('accepted');
    await accept(harness);
    expect(await compare(harness)).toMatchObject({ isDone: true });
    expect(await recordedKeys(harness)).toMatchObject([
      { unknownNotes: 1, accessKeys: [keyOf(3)] },
      { unknownNotes: 2, accessKeys: [keyOf(4)] },
    ]);
  });

  it('is another one than a live note with the key of a note of test mode', async () => {
    const harness = await recoveryHarness();
    const { accessKey } = Object.assign(harness.register(7, 3, 'test'), { accessKey: keyOf(3) });
    expect(await recordRecovery(await compare(harness), harness.deps)).toBeUndefined();
    expect(await recordedKeys(harness)).toMatchObject([{ unknownNotes: 1, accessKeys: [] }]);
    Object.assign(harness.register(8, 4), { accessKey });
    expect(await compare(harness)).toMatchObject({ isDone: false });
  });

  it('is another one than a note whose key names another company', async () => {
    const harness = await recoveryHarness();
    lost(harness, 7, 3, OTHER_CNPJ);
    await accept(harness);
    expect(await compare(harness)).toMatchObject({ isDone: false });
  });

  it('is asked for again where a recovery has accepted more than it records, until none is left', async () => {
    const harness = await recoveryHarness();
    const note = {
      mode: 'live',
      companyId: DEMO_CNPJ,
      series: '1',
      number: 1,
      authorizedAt: at(0),
      amount: '1.00',
    } as const;
    const report = await compare(harness);
    const unknown = [3, ...Array.from({ length: 1_000 }, (_, index) => 1_000 + index)].map((number) => ({
      ...note,
      accessKey: keyOf(number),
    }));
    const old = { ...note, accessKey: keyOf(2_500), accepted: { by: 'support:maria', at: at(0) } };
    await recordRecovery({ ...report, unknown: [old, ...unknown] }, harness.deps);
    const [recorded] = await recordedKeys(harness);
    expect(recorded).toMatchObject({ unknownNotes: 1_002 });
    expect((recorded as { accessKeys: readonly string[] }).accessKeys).toEqual(
      unknown.slice(0, 1_000).map(({ accessKey }) => accessKey),
    );
  });

  it('keeps the line of the invoice that it belongs to, and is BAD again where that invoice has events since', async () => {
    const harness = await recoveryHarness();
    const stream = await harness.accept(7);
    lost(harness, 7, 1);
    lost(harness, 7, 3);
    expect((await compare(harness)).unknown).toMatchObject([{ number: 3, owner: { status: 'issued' } }]);
    harness.clock.pass(1);
    await accept(harness);
    harness.clock.pass(1);
    const [line] = linesOf(await compare(harness));
    expect(line).toMatchObject({ ok: true, detail: expect.stringContaining('has another note') });
    expect(line?.detail).toContain('accepted by support:maria');
    const request = {
      request: 1,
      reason: 'service_not_provided',
      description: 'nada',
      requestedAt: harness.clock.now(),
    } as const;
    await appendTo(harness.deps.store, stream, [{ type: 'CancellationRequested', data: request }], harness.clock.now());
    const changed = await compare(harness);
    expect(changed.isDone).toBe(false);
    expect(linesOf(changed)).toMatchObject([{ ok: false, detail: expect.stringContaining('belongs to') }]);
  });

  it('is asked for again where the database has an invoice of it that the log has lost since', async () => {
    const harness = await recoveryHarness();
    lost(harness, 7, 3);
    await accept(harness);
    const invoiceId: InvoiceId = idOf(5);
    const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
    const deps = { ...harness.deps, byAccessKeys: async () => [{ accessKey: keyOf(3), stream }] };
    const report = await compare({ ...harness, deps });
    expect(report).toMatchObject({ isDone: false, unknown: [{ once: `nfse_${invoiceId}` }] });
    expect(report.unknown[0]).not.toHaveProperty('accepted');
  });

  it('holds the pause while an open invoice may be sent as a second note', async () => {
    const harness = await recoveryHarness();
    lost(harness, 7, 3);
    await accept(harness);
    // The same amount and customer as the note.
    await harness.accept(8);
    const report = await compare(harness, true);
    expect(report).toMatchObject({ isDone: false, unknown: [{ accepted: {}, sendableUntil: expect.any(String) }] });
    expect(linesOf(report)).toMatchObject([{ ok: false }]);
  });
});

it('a note of test mode never holds the pause', () => {
  expect(holdsPause({ mode: 'test' }, false)).toBe(false);
  expect(holdsPause({ mode: 'live' }, false)).toBe(true);
  expect(holdsPause({ mode: 'live' }, true)).toBe(false);
});

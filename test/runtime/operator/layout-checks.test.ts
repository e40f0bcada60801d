import { afterEach, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../../projections/invoices.js';
import { cataloguedCodes } from '../../../src/adapters/authorizer/answer-table.js';
import type { DomainEvent } from '../../../src/app/event-store/event-types.js';
import { publicInvoiceId } from '../../../src/domain/common/ids.js';
import type { Instant } from '../../../src/domain/common/time.js';
import { LAYOUT_CODES, layoutChecks } from '../../../src/runtime/operator/layout-checks.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  cancelAttempted,
  cancelRequested,
  streamOf,
} from '../../support/fixture/histories.js';
import { projecting } from '../../support/harness/projecting.js';
import { describeWithPostgres } from '../../support/postgres.js';

const rejected = (seconds: number, ...codes: string[]): DomainEvent => ({
  type: 'IssuanceRejected',
  data: { attempt: 1, codes, at: at(seconds) },
});
const cancelRefused = (seconds: number, ...codes: string[]): DomainEvent => ({
  type: 'CancellationNotConfirmed',
  data: { request: 1, reason: 'refused', codes, at: at(seconds) },
});

it('looks for codes that end an invoice at once, so that a refused layout holds none', () => {
  expect(LAYOUT_CODES.filter((code) => !cataloguedCodes.has(code))).toEqual([]);
});

describeWithPostgres('the layout in doctor', () => {
  const harness = projecting();
  const { append, rebuild } = harness;
  beforeEach(async () => {
    await append(streamOf('live', 1), [accepted('live', 1, 0), attempted(1, 1), rejected(5, 'E0116')]);
    await append(streamOf('live', 2), [accepted('live', 2, 0), attempted(1, 1), authorized(1, 6)]);
  });
  afterEach(() => harness.end());

  const lines = async (now: Instant = at(3_600)) => {
    await rebuild(invoices);
    return await layoutChecks({ pool: harness.pool }, { now: () => now });
  };

  it('is what is sent, and no fault while nothing was refused for it', async () => {
    expect((await lines()).at(-1)).toMatchObject({ name: 'layout', ok: true });
    expect((await lines()).at(-1)?.detail).toContain('sends 1.01 in live mode, 1.01 in test mode');
  });

  it('is a fault for a day after a refusal for version or schema, with the count, the newest, and what to do', async () => {
    await append(streamOf('live', 3), [accepted('live', 3, 0), attempted(1, 1), rejected(10, 'E0001', 'E0116')]);
    await append(streamOf('live', 4), [accepted('live', 4, 0), attempted(1, 1), rejected(20, 'E1235', 'E0001')]);
    await append(streamOf('test', 5), [accepted('test', 5, 0), attempted(1, 1), rejected(30, 'RNG6110')]);
    await append(streamOf('live', 2), [cancelRequested(40), cancelAttempted(1, 41), cancelRefused(42, 'E1825')]);
    const line = (await lines()).at(-1);
    const id = (mode: 'live' | 'test', n: number) => publicInvoiceId(streamOf(mode, n).split('_')[1] ?? '');
    expect(line).toMatchObject({ name: 'layout', ok: false });
    expect(line?.detail).toContain(`2 invoices in live mode (E0001, E1235; the newest is ${id('live', 4)})`);
    expect(line?.detail).toContain(`1 invoice in test mode (RNG6110; the newest is ${id('test', 5)})`);
    expect(line?.detail).toContain(`1 cancellation in live mode (E1825; the newest is ${id('live', 2)})`);
    expect(line?.cure).toContain('update');
    expect((await lines(at(86_400 + 35))).at(-1)).toMatchObject({ ok: false });
    expect((await lines(at(86_400 + 41))).at(-1)).toMatchObject({ ok: true });
  });

  it('is announced from 30 days before, without being a fault', async () => {
    expect(await lines('2026-10-31T12:00:00.000Z')).toHaveLength(1);
    const [announced] = await lines('2026-11-01T12:00:00.000Z');
    expect(announced).toMatchObject({ name: 'layout announced', ok: true });
    expect(announced?.detail).toContain('1.04 of Anexo VI (NT 009) may be wanted from 2026-12-01');
  });
});

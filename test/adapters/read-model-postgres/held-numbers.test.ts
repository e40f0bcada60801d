import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../../projections/invoices.js';
import { createHeldNumbersRead } from '../../../src/adapters/read-model-postgres/held-numbers.js';
import { dpsId } from '../../../src/domain/common/access-key.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import { applyBatch } from '../../../src/projector/batch.js';
import { accepted, attempted } from '../../support/fixture/invoice.js';
import { appendEvents, emptyProjections, liveOf, NOW } from '../../support/harness/projector.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const CNPJ = '12345678000195';
const RIO = '3304557';
const NITEROI = '3303302';

type Sent = { mode?: Mode; municipality?: string; series?: string };

describeWithPostgres('numbers that the database holds and the log does not', () => {
  let database: FreshDatabase;
  let log: EventLog;
  let count = 0;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    log = memoryEventLog();
    await emptyProjections(database.pool, log);
  });
  afterAll(() => database.close());

  const given = async (...events: readonly { mode: Mode; events: readonly InvoiceEvent[] }[]): Promise<void> => {
    for (const { mode, events: history } of events) {
      const invoiceId = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
      await appendEvents(log, invoiceStream(mode, CNPJ, invoiceId), [accepted({ mode, invoiceId }), ...history]);
    }
    const batch = await log.readAll({ prefixes: invoices.prefixes, after: null, limit: 500 });
    await applyBatch(database.pool, await liveOf(database.pool, invoices), null, batch, NOW);
  };
  const sent = (numbers: readonly number[], { mode = 'live', municipality = RIO, series = '1' }: Sent = {}) =>
    numbers.map((number) => {
      const attempt = attempted(1, 10);
      if (attempt.type !== 'IssuanceAttempted') throw new Error('not an attempt');
      const data = { ...attempt.data, series, number, dpsId: dpsId({ municipality, cnpj: CNPJ, series, number }) };
      return { mode, events: [{ ...attempt, data }] };
    });
  const end = (nextNumber: number, series = '1') => ({ mode: 'live', companyId: CNPJ, series, nextNumber }) as const;
  const held = (ends: readonly ReturnType<typeof end>[]) => createHeldNumbersRead(database.pool)(ends, 5);
  const run = (number: number, last: number, { mode = 'live', municipality = RIO, series = '1' }: Sent = {}) => ({
    mode,
    companyId: CNPJ,
    municipality,
    series,
    number,
    last,
  });

  it('are those from the end of their series on, and a wide gap begins another run', async () => {
    await given(...sent([1, 2, 119, 120, 125, 131, 1_000_000_000_001]));
    expect(await held([end(120)])).toEqual([run(120, 125), run(131, 131), run(1_000_000_000_001, 1_000_000_000_001)]);
  });

  it('are told apart by mode, series and city', async () => {
    const places: readonly Sent[] = [{}, { municipality: NITEROI }, { series: '49999' }, { mode: 'test' }];
    await given(...places.flatMap((place) => sent([7, 8], place)));
    expect(await held([end(8)])).toEqual([
      run(8, 8, { municipality: NITEROI }),
      run(8, 8),
      run(7, 8, { series: '49999' }),
      run(7, 8, { mode: 'test' }),
    ]);
    expect(await held([end(9), end(9, '49999')])).toEqual([run(7, 8, { mode: 'test' })]);
  });

  it('are none for an invoice that was never sent', async () => {
    await given({ mode: 'live', events: [] });
    expect(await held([])).toEqual([]);
  });
});

import { expect, it } from 'vitest';
import { memoryEventLog } from '../../../src/adapters/eventlog-memory/event-log.js';
import { replayInvoice } from '../../../src/app/audit/replay.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { invoiceStream } from '../../../src/domain/shared/ids.js';
import * as life from '../../domain/invoice/fixtures.js';
import { COMPANY } from '../../projections/histories.js';
import { appendTo, fixedKeys } from '../support.js';

const ID = '11111111-1111-4111-8111-111111111111';
const STREAM = invoiceStream('live', COMPANY, ID);

it('a replay never skips an event that bears a later instant than the one behind it', async () => {
  const store = createEventStore(memoryEventLog(), fixedKeys());
  await appendTo(store, STREAM, [life.accepted({ companyId: COMPANY, invoiceId: ID })], life.T0);
  await appendTo(store, STREAM, [life.attempted(1, 1)], life.at(1));
  // The issuer's clock is ahead of that of the api which then takes the cancellation.
  await appendTo(store, STREAM, [life.authorized(1, 12)], life.at(12));
  await appendTo(store, STREAM, [life.cancelRequested(10)], life.at(10));
  const at = async (seconds: number) =>
    (await replayInvoice(STREAM, life.at(seconds), { store, testRetentionSeconds: 604_800, baseUrl: 'http://api' }))
      ?.invoice;
  expect((await at(9))?.status).toBe('processing');
  expect(await at(11)).toMatchObject({ status: 'issued', cancellation: { status: 'pending' } });
});

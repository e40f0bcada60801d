import { expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { replayInvoice } from '../../../src/app/read/read-invoice.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { COMPANY } from '../../support/fixture/histories.js';
import * as life from '../../support/fixture/invoice.js';
import { appendTo, fixedKeys } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

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
    (await replayInvoice(STREAM, life.at(seconds), { store, testRetentionSeconds: 604_800 }))?.invoice;
  expect(await at(9)).toMatchObject({ outcome: { status: 'open' }, attempts: [{ attempt: 1 }] });
  expect(await at(11)).toMatchObject({ outcome: { status: 'issued' }, cancellation: { status: 'pending' } });
});

import { expect, it } from 'vitest';
import { cancelInvoice } from '../../../src/app/cancel/cancel-invoice.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { accepted, attempted, authorized, dataOf, T0 } from '../../support/fixture/invoice.js';
import { requester } from '../../support/harness/accept.js';
import { appendTo, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

it('answers only once the read model shows the request, so that another process shows it too', async () => {
  const store = createEventStore(memoryEventLog(), fixedKeys());
  const { mode, companyId, invoiceId } = dataOf(accepted(), 'InvoiceAccepted');
  const stream = invoiceStream(mode, companyId, invoiceId);
  await appendTo(store, stream, [accepted(), attempted(1, 1), authorized(1, 2)], T0);
  const waited: unknown[] = [];
  let show = (): void => undefined;
  const waitForProjection = (of: string, revision: number): Promise<void> => {
    waited.push([of, revision]);
    return new Promise((resolve) => {
      show = resolve;
    });
  };
  const deps = { store, clock: movableClock(T0), testRetentionSeconds: 604_800, waitForProjection };
  let isAnswered = false;
  const answer = cancelInvoice({ invoiceId }, { ...requester, mode, companyId }, deps).finally(() => {
    isAnswered = true;
  });
  await expect.poll(() => waited).toEqual([[stream, 3]]);
  expect(isAnswered).toBe(false);
  show();
  expect(await answer).toMatchObject({ accepted: { cancellation: { status: 'pending' } } });
});

import { expect, it } from 'vitest';
import { cancelInvoice } from '../../../src/app/cancel/cancel-invoice.js';
import { StreamContended } from '../../../src/app/event-store/transact.js';
import { isUnavailable } from '../../../src/runtime/roles/faults.js';
import { createHarness, type Harness, issuedInvoice } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';

it('POST /v1/nfse/{id}/cancel 503 while other writers are always first, and 202 later', async () => {
  let isContended = true;
  const harness: Harness = createHarness({
    isUnavailable,
    cancel: (command, requester) =>
      cancelInvoice(command, requester, {
        store: {
          ...harness.store,
          append: async (...args) => (isContended ? { ok: false } : harness.store.append(...args)),
        },
        clock: { now: () => harness.state.now },
        testRetentionSeconds: 604_800,
        waitForProjection: async () => {},
      }),
  });
  const id = await issuedInvoice(harness);
  const cancel = () => harness.call(`/v1/nfse/${id}/cancel`, { json: {} });
  const response = await cancel();
  expect(await expectRefusal(response, 503, 'service_unavailable')).toMatchObject({ retryable: true, livemode: false });
  expect(commonHeadersOf(response)).toEqual({ 'retry-after': expect.stringMatching(/^[1-9]\d*$/) });
  expect(harness.faults).toEqual([expect.any(StreamContended)]);
  isContended = false;
  expect((await cancel()).status).toBe(202);
});

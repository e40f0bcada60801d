import { describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../../../src/domain/invoice/events.js';
import {
  cancelAttempted,
  cancelNotConfirmed,
  cancelNotSent,
  cancelRequested,
  cancelUnknown,
} from '../../../support/fixture/invoice.js';
import { issuingHarness } from '../../../support/harness/issuing.js';
import { waitingOf } from '../../../support/harness/waiting.js';

const UNSENT = 'the log has no send of it that left: the note is valid unless it was canceled elsewhere';
const SENT = 'its cancellation failed, although the note may be canceled';

describe('a live cancellation that failed without codes', () => {
  it.each<[string, readonly InvoiceEvent[], string]>([
    ['was never sent', [], UNSENT],
    ['was tried, and no byte left', [cancelAttempted(1, 61), cancelNotSent(1, 62)], UNSENT],
    ['was sent', [cancelAttempted(1, 61), cancelUnknown(1, 62)], SENT],
    ['may have been sent, as its process died', [cancelAttempted(1, 61)], SENT],
  ])('waits for a person, who reads whether it %s', async (_what, sends, said) => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(60), ...sends, cancelNotConfirmed(3_700));
    expect(await waitingOf(harness, 'failedCancellations')).toMatchObject({
      kind: 'cancellation_unconfirmed',
      detail: expect.stringContaining(said),
    });
  });
});

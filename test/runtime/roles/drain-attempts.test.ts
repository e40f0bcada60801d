import { expect, it } from 'vitest';
import { cancelRequested } from '../../support/fixture/invoice.js';
import { issuingHarness } from '../../support/harness/issuing.js';

it('a process that was told to stop begins no attempt, and leaves the work to others at once', async () => {
  const stop = new AbortController();
  const harness = await issuingHarness('live', { stopping: stop.signal });
  stop.abort();
  expect(await harness.issue()).toEqual({ kind: 'later', at: harness.clock.now() });
  expect(await harness.types()).toEqual(['InvoiceAccepted']);
});

it('nor one of a cancellation', async () => {
  const stop = new AbortController();
  const harness = await issuingHarness('live', { stopping: stop.signal });
  await harness.issueToTheEnd();
  await harness.record(cancelRequested(0));
  stop.abort();
  expect(await harness.cancel()).toEqual({ kind: 'later', at: harness.clock.now() });
  expect((await harness.types()).at(-1)).toBe('CancellationRequested');
});

it('it ends and records the send that is under way', async () => {
  const stop = new AbortController();
  const harness = await issuingHarness('live', { stopping: stop.signal });
  const { authorizer } = harness.deps;
  harness.deps.authorizer = {
    ...authorizer,
    sendDps: (...args) => {
      stop.abort();
      return authorizer.sendDps(...args);
    },
  };
  expect(await harness.issue()).toEqual({ kind: 'done' });
  expect(await harness.status()).toBe('issued');
});

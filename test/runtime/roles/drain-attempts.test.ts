import { expect, it } from 'vitest';
import { cancelRequested } from '../../support/fixture/invoice.js';
import { issuingHarness } from '../../support/harness/issuing.js';

it('a process that was told to stop begins no attempt, and leaves the work to others at once', async () => {
  const stop = new AbortController();
  const world = await issuingHarness('live', { stopping: stop.signal });
  stop.abort();
  expect(await world.issue()).toEqual({ kind: 'later', at: world.clock.now() });
  expect(await world.types()).toEqual(['InvoiceAccepted']);
});

it('nor one of a cancellation', async () => {
  const stop = new AbortController();
  const world = await issuingHarness('live', { stopping: stop.signal });
  await world.issueToTheEnd();
  await world.record(cancelRequested(0));
  stop.abort();
  expect(await world.cancel()).toEqual({ kind: 'later', at: world.clock.now() });
  expect((await world.types()).at(-1)).toBe('CancellationRequested');
});

it('it ends and records the send that is under way', async () => {
  const stop = new AbortController();
  const world = await issuingHarness('live', { stopping: stop.signal });
  const { authorizer } = world.deps;
  world.deps.authorizer = {
    ...authorizer,
    sendDps: (...args) => {
      stop.abort();
      return authorizer.sendDps(...args);
    },
  };
  expect(await world.issue()).toEqual({ kind: 'done' });
  expect(await world.status()).toBe('issued');
});

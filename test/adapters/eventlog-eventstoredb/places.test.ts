import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogPosition } from '../../../src/ports/event-log.js';
import { streamOf } from '../../support/harness/event-log.js';
import { type EventStoreHarness, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

let harness: EventStoreHarness;
beforeEach(() => {
  harness = openEventStoreHarness();
});
afterEach(() => harness.close());

it('says whether a reader can begin at a position: of an event, inside a record, past the end', async () => {
  const { url } = await harness.double();
  const log = harness.open(url);
  await streamOf(log, 2, 'nfseTest-a');
  const head = ((await log.head()) ?? 0n) as LogPosition;
  const places = [head, head - 1n, head + 1_000n].map((position) => log.hasPlace?.(position as LogPosition));
  expect(await Promise.all(places)).toEqual([true, false, false]);
});

it('does not take a server that is silent for one without the position', async () => {
  const double = await harness.double();
  const log = harness.open(double.url, { readTimeoutMs: 50 });
  double.faults.reads = { kind: 'silent' };
  await expect(log.hasPlace?.(7n as LogPosition)).rejects.toThrow('did not answer');
});

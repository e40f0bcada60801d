import { expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { attempted, authorized, createHarness, type Harness, type KeyName } from '../../support/harness/http.js';

/** Issues with this key under an Idempotency-Key, then asks again once the invoice is issued, then cancels it. */
const bodiesOf = async (harness: Harness, key: KeyName): Promise<Record<string, unknown>[]> => {
  const issue = { key, json: issueBodyOf(), headers: { 'idempotency-key': key } };
  const first = (await (await harness.call('/v1/nfse', issue)).json()) as { id: string };
  const { now } = harness.state;
  await harness.record(first.id, [attempted(now), authorized(now)]);
  const replay = await harness.call('/v1/nfse', issue);
  const cancel = await harness.call(`/v1/nfse/${first.id}/cancel`, { key, json: {} });
  expect([replay.status, cancel.status]).toEqual([202, 202]);
  return [await replay.json(), await cancel.json()] as Record<string, unknown>[];
};

it('a key that may not read gets no links, which open documents without a key', async () => {
  const harness = createHarness();
  for (const body of await bodiesOf(harness, 'writeOnly')) {
    expect(body).toHaveProperty('status', 'issued');
    expect(body).not.toHaveProperty('links');
  }
});

it('a key that may read gets them from a POST too', async () => {
  for (const body of await bodiesOf(createHarness(), 'test')) expect(body).toHaveProperty('links.pdf');
});

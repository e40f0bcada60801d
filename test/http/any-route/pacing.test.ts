import { describe, expect, it } from 'vitest';
import type { Pacing } from '../../../src/http/deps.js';
import { createHarness } from '../../support/harness/http.js';

/** Holds every answer that asks, until it is released. */
const holdingPacing = () => {
  const held: string[] = [];
  let release = (): void => {};
  const hold = (kind: string) => (caller: string) => {
    held.push(`${kind} ${caller}`);
    return new Promise<void>((resolve) => {
      release = resolve;
    });
  };
  const pacing: Pacing = { refusals: hold('refusal'), pages: hold('page') };
  return { pacing, held, release: () => release() };
};

describe('an answer that no quota bounds', () => {
  it.each([
    ['a request over the limit', '/v1/activities', {}, 429, 'refusal'],
    ['a key without the scope', '/v1/nfse', { key: 'readOnly', json: {} }, 403, 'refusal'],
    ['no key', '/v1/activities', { key: 'none' }, 401, 'refusal'],
    ['an unknown route', '/v1/nope', {}, 404, 'refusal'],
    ['a page of the documents', '/docs/errors', {}, 200, 'page'],
  ] as const)('waits for its turn: %s', async (_what, path, options, status, kind) => {
    const { pacing, held, release } = holdingPacing();
    const harness = createHarness({ pacing, rateLimits: { write: 60, read: 1 } });
    if (status === 429) await harness.call(path);
    let isAnswered = false;
    const answer = harness.call(path, options).then((response) => {
      isAnswered = true;
      return response;
    });
    await expect.poll(() => held).toHaveLength(1);
    expect(isAnswered).toBe(false);
    release();
    expect((await answer).status).toBe(status);
    // These requests have no connection, so a caller without a key has no address.
    expect(held).toEqual([`${kind} ${kind === 'page' ? '' : (harness.summaries.at(-1)?.keyId ?? '')}`]);
  });

  it('waits for its turn while the API is switched off, without a look at the key', async () => {
    const { pacing, held, release } = holdingPacing();
    const harness = createHarness({ pacing });
    harness.state.switchedOff = true;
    const answer = harness.call('/v1/nfse');
    await expect.poll(() => held).toEqual(['refusal ']);
    release();
    expect((await answer).status).toBe(503);
  });

  it('is not one that the quota paid for', async () => {
    const { pacing, held } = holdingPacing();
    const harness = createHarness({ pacing });
    expect((await harness.call('/v1/activities')).status).toBe(200);
    expect((await harness.call('/v1/nfse', { json: {} })).status).toBe(400);
    expect(held).toEqual([]);
  });
});

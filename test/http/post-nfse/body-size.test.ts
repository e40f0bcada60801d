import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const MAX = 10_485_760;
const CHUNK = 65_536;

type Sent = { response: Response; pulled: number };

/** Sends a body of `length` bytes without declaring the length: JSON, then blanks. Counts the bytes that the service read. */
const stream = async (length: number, json = JSON.stringify(issueBodyOf())): Promise<Sent> => {
  const { app, keys } = createHarness();
  const start = Buffer.from(json);
  let pulled = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = Buffer.alloc(Math.min(CHUNK, length - pulled), ' ');
      if (pulled === 0) start.copy(chunk);
      pulled += chunk.byteLength;
      if (chunk.byteLength > 0) controller.enqueue(chunk);
      else controller.close();
    },
  });
  const headers = { authorization: `Bearer ${keys.test}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body, duplex: 'half' };
  return { response: await app.request('/v1/nfse', init as RequestInit), pulled };
};

describe('POST /v1/nfse: the size of a body of unknown length', () => {
  it.each([10_000_000, MAX])('%i bytes are read to the end', async (length) => {
    const { response, pulled } = await stream(length);
    expect(response.status).toBe(202);
    expect(pulled).toBe(length);
  });

  it('one byte more is refused', async () => {
    await expectRefusal((await stream(MAX + 1)).response, 413, 'payload_too_large');
  });

  it('a body that goes on is given up at the limit, whatever it holds', async () => {
    for (const json of [JSON.stringify(issueBodyOf()), 'no json']) {
      const { response, pulled } = await stream(4 * MAX, json);
      await expectRefusal(response, 413, 'payload_too_large');
      expect(pulled).toBeLessThan(MAX + 4 * CHUNK);
    }
  });
});

describe('POST /v1/nfse: the size of a body is its bytes', () => {
  it('not its characters', async () => {
    const wide = JSON.stringify(issueBodyOf({ description: 'é'.repeat(MAX / 2) }));
    expect(wide.length).toBeLessThan(MAX);
    await expectRefusal(await createHarness().call('/v1/nfse', { raw: wide }), 413, 'payload_too_large');
  });

  it('and a field too long within the limit is the field’s own fault', async () => {
    const response = await createHarness().call('/v1/nfse', {
      json: issueBodyOf({ description: 'x'.repeat(9_000_000) }),
    });
    const error = await expectRefusal(response, 400, 'invalid_request');
    expect(error.message.length).toBeLessThan(200);
  });
});

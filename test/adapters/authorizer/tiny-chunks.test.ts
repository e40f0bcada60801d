import { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ClientHarness,
  caller,
  errors,
  inAMinute,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import type { Answer } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
beforeEach(async () => {
  harness = await openClientHarness();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await harness.close();
});

const LONG = 128 * 1024;
const HEAD = 'HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n';
/** A final code: an answer that is read refuses the document. */
const refusal = (bytes: number): string => JSON.stringify(errors('E0316')).padEnd(bytes, ' ');

const wire =
  (bytes: string): Answer =>
  ({ socket }) => {
    socket.write(bytes);
  };
const inChunks = (text: string, size: number): Answer => {
  const parts = text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
  const framed = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  return wire(`${HEAD}transfer-encoding: chunked\r\n\r\n${framed.join('')}0\r\n\r\n`);
};
const behind = (interim: string, count: number): Answer => {
  const body = refusal(0);
  return wire(`${interim.repeat(count)}${HEAD}content-length: ${body.length}\r\n\r\n${body}`);
};
const INTERIM = 'HTTP/1.1 102 Processing\r\n\r\n';

const send = async (answer: Answer) => {
  harness.server.answer(answer);
  return await harness.client.sendDps(caller, harness.dps.bytes, inAMinute);
};

describe('an answer in tiny chunks', () => {
  it('is left after a thousand of them, and the outcome is unknown', async () => {
    const push = vi.spyOn(IncomingMessage.prototype, 'push');
    const result = await send(inChunks(refusal(LONG), 1));
    expect(result).toMatchObject({ kind: 'unknown', reason: 'response_chunks_too_small', codes: [] });
    expect(push.mock.calls.length).toBeLessThan(1_100);
  });

  it('proves nothing in a look-up', async () => {
    harness.server.answer(inChunks(refusal(LONG), 1));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({
      kind: 'inconclusive',
      reason: 'response_chunks_too_small',
    });
  });

  it.each([
    [1_000, 1],
    [LONG, 64],
  ])('is read where chunks are few or not so small: %i bytes in chunks of %i', async (bytes, size) => {
    expect(await send(inChunks(refusal(bytes), size))).toMatchObject({ kind: 'rejected' });
  });
});

describe('interim answers', () => {
  it('are left when they do not end, and the outcome is unknown', async () => {
    const result = await send(behind(INTERIM, 20_000));
    expect(result).toMatchObject({ kind: 'unknown', reason: 'too_many_interim_answers', codes: [] });
  });

  it('may come before the answer', async () => {
    expect(await send(behind(INTERIM, 5))).toMatchObject({ kind: 'rejected' });
  });
});

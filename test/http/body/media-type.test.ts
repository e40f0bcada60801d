import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, queuedInvoice } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { exchange, expectEnvelope, headOf, openConnection, start } from '../server/connection.js';

const withType = (type: string, raw: string | Uint8Array = JSON.stringify(issueBodyOf())): Promise<Response> =>
  createHarness().call('/v1/nfse', { raw, headers: { 'content-type': type } });

describe('Content-Type', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'APPLICATION/JSON; CHARSET=UTF-8',
    'application/json; charset=utf-8',
    'application/json;charset="utf-8"',
    'application/json ; charset=utf-8 ; x=y',
    'application/json; x="a,b"; y="c"',
    'application/json; charset="utf-8',
    'application/json;',
    'application/json; charset=latin1',
  ])('%s is taken', async (type) => {
    expect((await withType(type)).status).toBe(202);
  });

  it.each([
    'text/json',
    'application/json-patch+json',
    'application/problem+json',
    'application/vnd.api+json',
    'application/jsonx',
    'xapplication/json',
    'application/x-json',
    'json',
    '*/*',
    'application/*',
    'application /json',
    'application/json charset=utf-8',
    'application/json, application/json',
    'application/json; charset=utf-8, text/plain',
    'text/plain; application/json',
    'application/"x"json',
    'application/json; x="a", text/plain; y="b"',
    'multipart/form-data; boundary=x',
  ])('%s: 415', async (type) => {
    const error = await expectRefusal(await withType(type), 415, 'unsupported_media_type');
    expect(error).toMatchObject({ type: 'invalid_request', retryable: false, livemode: false });
  });

  it('whatever charset it names, the body is UTF-8: Latin-1 bytes are malformed, never another text', async () => {
    const description = 'Manutenção';
    const latin1 = Buffer.from(JSON.stringify(issueBodyOf({ description })), 'latin1');
    await expectRefusal(await withType('application/json; charset=latin1', latin1), 400, 'malformed_json');
    const utf8 = Buffer.from(JSON.stringify(issueBodyOf({ description })));
    const accepted = await withType('application/json; charset=latin1', utf8);
    expect(await accepted.json()).toMatchObject({ description });
  });

  it.each([
    ['none', ''],
    ['two, the first alone good', 'Content-Type: application/json\r\nContent-Type: text/plain\r\n'],
    ['the same twice', 'Content-Type: application/json\r\nContent-Type: application/json\r\n'],
  ])('over a real connection, %s: 415', async (_what, types) => {
    const harness = createHarness();
    const head = headOf(harness, 'POST /v1/nfse', `${types}Content-Length: 2\r\n`);
    await expectEnvelope(await exchange(await start(harness), `${head}{}`), 415, 'unsupported_media_type');
  });

  it('is asked for on cancel too, and not on what is only read', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    const headers = { 'content-type': 'text/plain' };
    const cancel = await harness.call(`/v1/nfse/${id}/cancel`, { json: {}, headers });
    await expectRefusal(cancel, 415, 'unsupported_media_type');
    expect((await harness.call(`/v1/nfse/${id}`, { headers })).status).toBe(200);
  });
});

describe('a compressed body', () => {
  const gzipped = gzipSync(JSON.stringify(issueBodyOf()));

  it.each(['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'gzip, identity', 'x'])(
    'Content-Encoding: %s is refused by name, and is not called malformed',
    async (encoding) => {
      const headers = { 'content-encoding': encoding };
      for (const raw of [gzipped, JSON.stringify(issueBodyOf())]) {
        const response = await createHarness().call('/v1/nfse', { raw, headers });
        const error = await expectRefusal(response, 415, 'unsupported_media_type');
        expect(error.message).toContain('Content-Encoding');
      }
    },
  );

  it('identity is none', async () => {
    const headers = { 'content-encoding': 'identity' };
    expect((await createHarness().call('/v1/nfse', { json: issueBodyOf(), headers })).status).toBe(202);
  });

  it('nor is it taken as a coding of the transfer', async () => {
    const harness = createHarness();
    const framing = 'Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n';
    const head = headOf(harness, 'POST /v1/nfse', framing);
    const bytes = Buffer.concat([
      Buffer.from(`${head}${gzipped.length.toString(16)}\r\n`),
      gzipped,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const answer = await exchange(await start(harness), bytes);
    const { message } = await expectRefusal(answer, 415, 'unsupported_media_type');
    expect(message).toContain('Transfer-Encoding');
    expect(message).not.toContain('Content-Encoding');
  });
});

describe('a chunked body', () => {
  const chunks = (parts: readonly string[], end = '0\r\n\r\n'): string =>
    parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join('') + end;

  it('may be cut anywhere, carry extensions and trailers, and trailers are no headers', async () => {
    const harness = createHarness();
    const connection = openConnection(await start(harness));
    const json = JSON.stringify(issueBodyOf({ description: 'Manutenção' }));
    const head = headOf(harness, 'POST /v1/nfse', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n');
    const trailers = '0\r\nAuthorization: Bearer x\r\nContent-Type: text/plain\r\nIdempotency-Key: a b\r\n\r\n';
    connection.socket.write(head + chunks([...json], trailers));
    const [answer] = await connection.answers(1);
    expect(answer?.status).toBe(202);
    expect(await answer?.json()).toMatchObject({ description: 'Manutenção' });
  });

  it.each([
    ['a size that is no number', 400, 'ZZ\r\n{}\r\n0\r\n\r\n'],
    ['a size beyond 64 bits', 400, 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
    ['more than its size', 400, '1\r\n{}\r\n0\r\n\r\n'],
    ['an extension of 20 KB', 400, `2;x=${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
    ['trailers of 20 KB', 431, `2\r\n{}\r\n0\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('with %s: %i', async (_what, status, body) => {
    const harness = createHarness();
    const framing = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
    const answer = await exchange(await start(harness), headOf(harness, 'POST /v1/nfse', framing) + body);
    await expectEnvelope(answer, status, 'invalid_request');
    expect(harness.faults).toEqual([]);
  });
});

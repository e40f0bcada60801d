import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessKey, issued, noteAround } from '../../support/fixture/sefin.js';
import {
  type ClientHarness,
  caller,
  errors,
  inAMinute,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { type Answer, json, raw } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await openClientHarness();
});
afterAll(() => harness.close());

const send = () => harness.client.sendDps(caller, harness.dps.bytes, inAMinute);

const compressed =
  (status: number, body: Buffer): Answer =>
  (_received, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(body);
  };

const marked =
  (status: number, body: unknown): Answer =>
  (_received, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(`\uFEFF${JSON.stringify(body)}`);
  };

describe('an answer that is compressed though nobody asked for it', () => {
  it('is read', async () => {
    const body = gzipSync(JSON.stringify(issued(noteAround(harness.dps.bytes))));
    harness.server.answer(compressed(201, body));
    expect(await send()).toMatchObject({ kind: 'done' });
  });

  it('is limited in what comes out of it', async () => {
    const huge = { padding: 'a'.repeat(3_000_000), ...errors('E0316') };
    harness.server.answer(compressed(400, gzipSync(JSON.stringify(huge))));
    expect(await send()).toMatchObject({ kind: 'unknown', reason: 'ERR_BUFFER_TOO_LARGE' });
  });

  it.each([
    ['cut', () => gzipSync(JSON.stringify(errors('E0316'))).subarray(0, 20)],
    ['not compressed at all', () => Buffer.from(JSON.stringify(errors('E0316')))],
  ])('proves nothing when it is %s', async (_name, body) => {
    harness.server.answer(compressed(400, body()));
    expect(await send()).toMatchObject({ kind: 'unknown' });
    harness.server.answer(compressed(404, body()));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({ kind: 'inconclusive' });
  });
});

describe('a body with a byte order mark', () => {
  it('is a success, a rejection or an absence as without it', async () => {
    harness.server.answer(marked(201, issued(noteAround(harness.dps.bytes))));
    expect(await send()).toMatchObject({ kind: 'done' });
    harness.server.answer(marked(400, errors('E0316')));
    expect(await send()).toMatchObject({ kind: 'rejected', codes: ['E0316'] });
    harness.server.answer(marked(404, errors('E2404')));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toEqual({ kind: 'absent' });
  });
});

describe('members that differ in casing alone', () => {
  it.each([
    ['erros', 'Erros'],
    ['Erros', 'erros'],
    ['erro', 'Erro'],
  ])('hide nothing: E0014 in %s, another code in %s', async (first, second) => {
    harness.server.answer(json(400, { [first]: [{ Codigo: 'E0014' }], [second]: [{ Codigo: 'E0316' }] }));
    expect(await send()).toMatchObject({ kind: 'unknown', reason: 'already_there' });
  });
});

describe('two members of one name in one object', () => {
  it.each([
    ['erros', '{"erros":[{"Codigo":"E0014"}],"erros":[{"Codigo":"E0316"}]}'],
    ['erros, once with an escape', '{"erros":[{"Codigo":"E0014"}],"\\u0065rros":[{"Codigo":"E0316"}]}'],
    ['Codigo of an item', '{"erros":[{"Codigo":"E0014","Codigo":"E0316"}]}'],
  ])('hide no code of a send: %s', async (_what, text) => {
    harness.server.answer(raw(400, text));
    expect(await send()).toMatchObject({ kind: 'unknown' });
  });

  it('hide no code of a cancellation', async () => {
    harness.server.answer(raw(400, '{"erro":[{"codigo":"E0840"}],"erro":[{"codigo":"E0822"}]}'));
    const { bytes } = harness.cancellation;
    expect(await harness.client.sendCancellation(caller, accessKey, bytes, inAMinute)).toMatchObject({
      kind: 'unknown',
    });
  });

  it('hide no code of a look-up', async () => {
    harness.server.answer(raw(404, '{"erro":{"codigo":"E999"},"erro":{"codigo":"E2404"}}'));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({ kind: 'inconclusive' });
  });

  it('are no matter in two objects', async () => {
    harness.server.answer(raw(400, '{"erros":[{"Codigo":"E0316"},{"Codigo":"E0188"}],"x":{"erros":"erros"}}'));
    expect(await send()).toMatchObject({ kind: 'rejected', codes: ['E0316', 'E0188'] });
  });
});

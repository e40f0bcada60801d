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

let rig: ClientHarness;
beforeAll(async () => {
  rig = await openClientHarness();
});
afterAll(() => rig.close());

const send = () => rig.client.sendDps(caller, rig.dps.bytes, inAMinute);

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
    const body = gzipSync(JSON.stringify(issued(noteAround(rig.dps.bytes))));
    rig.server.answer(compressed(201, body));
    expect(await send()).toMatchObject({ kind: 'done' });
  });

  it('is limited in what comes out of it', async () => {
    const huge = { padding: 'a'.repeat(3_000_000), ...errors('E0316') };
    rig.server.answer(compressed(400, gzipSync(JSON.stringify(huge))));
    expect(await send()).toMatchObject({ kind: 'unknown', reason: 'ERR_BUFFER_TOO_LARGE' });
  });

  it.each([
    ['cut', () => gzipSync(JSON.stringify(errors('E0316'))).subarray(0, 20)],
    ['not compressed at all', () => Buffer.from(JSON.stringify(errors('E0316')))],
  ])('proves nothing when it is %s', async (_name, body) => {
    rig.server.answer(compressed(400, body()));
    expect(await send()).toMatchObject({ kind: 'unknown' });
    rig.server.answer(compressed(404, body()));
    expect(await rig.client.findByDps(caller, rig.dps.id)).toMatchObject({ kind: 'inconclusive' });
  });
});

describe('a body with a byte order mark', () => {
  it('is a success, a rejection or an absence as without it', async () => {
    rig.server.answer(marked(201, issued(noteAround(rig.dps.bytes))));
    expect(await send()).toMatchObject({ kind: 'done' });
    rig.server.answer(marked(400, errors('E0316')));
    expect(await send()).toMatchObject({ kind: 'rejected', codes: ['E0316'] });
    rig.server.answer(marked(404, errors('E2404')));
    expect(await rig.client.findByDps(caller, rig.dps.id)).toEqual({ kind: 'absent' });
  });
});

describe('members that differ in casing alone', () => {
  it.each([
    ['erros', 'Erros'],
    ['Erros', 'erros'],
    ['erro', 'Erro'],
  ])('hide nothing: E0014 in %s, another code in %s', async (first, second) => {
    rig.server.answer(json(400, { [first]: [{ Codigo: 'E0014' }], [second]: [{ Codigo: 'E0316' }] }));
    expect(await send()).toMatchObject({ kind: 'unknown', reason: 'already_there' });
  });
});

describe('two members of one name in one object', () => {
  it.each([
    ['erros', '{"erros":[{"Codigo":"E0014"}],"erros":[{"Codigo":"E0316"}]}'],
    ['erros, once with an escape', '{"erros":[{"Codigo":"E0014"}],"\\u0065rros":[{"Codigo":"E0316"}]}'],
    ['Codigo of an item', '{"erros":[{"Codigo":"E0014","Codigo":"E0316"}]}'],
  ])('hide no code of a send: %s', async (_what, text) => {
    rig.server.answer(raw(400, text));
    expect(await send()).toMatchObject({ kind: 'unknown' });
  });

  it('hide no code of a cancellation', async () => {
    rig.server.answer(raw(400, '{"erro":[{"codigo":"E0840"}],"erro":[{"codigo":"E0822"}]}'));
    const { bytes } = rig.cancellation;
    expect(await rig.client.sendCancellation(caller, accessKey, bytes, inAMinute)).toMatchObject({ kind: 'unknown' });
  });

  it('hide no code of a look-up', async () => {
    rig.server.answer(raw(404, '{"erro":{"codigo":"E999"},"erro":{"codigo":"E2404"}}'));
    expect(await rig.client.findByDps(caller, rig.dps.id)).toMatchObject({ kind: 'inconclusive' });
  });

  it('are no matter in two objects', async () => {
    rig.server.answer(raw(400, '{"erros":[{"Codigo":"E0316"},{"Codigo":"E0188"}],"x":{"erros":"erros"}}'));
    expect(await send()).toMatchObject({ kind: 'rejected', codes: ['E0316', 'E0188'] });
  });
});

import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { acceptedBody, expectInvalid, post, postRaw } from './post.js';

/** A good body but for these bytes inside its description. */
const bytesAround = (...inside: readonly number[]): Uint8Array =>
  Buffer.concat([Buffer.from('{"amount_in_cents":100,"description":"x'), Uint8Array.from(inside), Buffer.from('y"}')]);

const BOM = '\ufeff';

const good = JSON.stringify(issueBodyOf());

describe('POST /v1/nfse: keys that stand twice', () => {
  it.each([
    ['a field', '{"amount_in_cents":1,"description":"x","amount_in_cents":200}'],
    ['a field, once escaped', '{"amount_in_cents":1,"description":"x","\\u0061mount_in_cents":200}'],
    ['a whole object', '{"customer":{"document":"1"},"amount_in_cents":200,"description":"x","customer":{}}'],
    ['a field of an object', '{"amount_in_cents":200,"description":"x","customer":{"name":"","name":"Ana"}}'],
  ])('the last one counts: %s', async (_what, raw) => {
    expect(await acceptedBody(await postRaw(raw))).toHaveProperty('amount_in_cents', 200);
  });

  it('the last one counts when it is the wrong one, and an unknown one is one cause', async () => {
    const raw = '{"amount_in_cents":200,"description":"x","foo":1,"amount_in_cents":1,"foo":2}';
    await expectInvalid(await postRaw(raw), ['amount_in_cents', 'foo']);
  });
});

describe('POST /v1/nfse: bytes that are no UTF-8', () => {
  it.each([
    ['a byte of no character', [0xff]],
    ['an overlong zero', [0xc0, 0x80]],
    ['half a surrogate pair as bytes', [0xed, 0xa0, 0x80]],
    ['a pair of surrogates as bytes', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['beyond the last code point', [0xf4, 0x90, 0x80, 0x80]],
    ['a character cut short', [0xe2, 0x82]],
    ['Latin-1', [0xe9]],
  ])('malformed_json: %s', async (_what, bytes) => {
    const { message } = await expectRefusal(await postRaw(bytesAround(...bytes)), 400, 'malformed_json');
    expect(message).toContain('não está em UTF-8');
  });

  it('malformed_json: UTF-16', async () => {
    await expectRefusal(await postRaw(Buffer.from(`${BOM}${good}`, 'utf16le')), 400, 'malformed_json');
  });

  it('the last code point of UTF-8 that XML can carry is a character like any other', async () => {
    const body = await acceptedBody(await postRaw(bytesAround(0xf4, 0x8f, 0xbf, 0xbd)));
    expect(body).toHaveProperty('description', 'x\u{10fffd}y');
  });
});

describe('POST /v1/nfse: byte order mark', () => {
  it('one before the JSON is skipped', async () => {
    await acceptedBody(await postRaw(`${BOM}${good}`));
  });

  it.each([
    ['two', `${BOM}${BOM}${good}`],
    ['one after white space', ` ${BOM}${good}`],
    ['one at the end', `${good}${BOM}`],
    ['nothing but one', BOM],
  ])('malformed_json: %s', async (_what, raw) => {
    await expectRefusal(await postRaw(raw), 400, 'malformed_json');
  });
});

describe('POST /v1/nfse: what JSON does not allow', () => {
  it.each([
    ['a line break inside a text', '{"amount_in_cents":100,"description":"a\nb"}'],
    ['a zero byte inside a text', '{"amount_in_cents":100,"description":"a\0b"}'],
    ['a zero byte after the body', `${good}\0`],
    ['two bodies', `${good}${good}`],
    ['a comment', `/* */${good}`],
    ['apostrophes', "{'amount_in_cents':100,'description':'x'}"],
    ['half an escape', '{"amount_in_cents":100,"description":"\\u12"}'],
  ])('malformed_json: %s', async (_what, raw) => {
    await expectRefusal(await postRaw(raw), 400, 'malformed_json');
  });
});

describe('POST /v1/nfse: escapes', () => {
  it('a pair of escaped surrogates is one character', async () => {
    const raw = '{"amount_in_cents":100,"description":"\\ud83d\\ude00"}';
    expect(await acceptedBody(await postRaw(raw))).toHaveProperty('description', '😀');
  });

  it.each(['\\ud800', '\\udfff', '\\ude00\\ud83d', '\\ud83d\\ud83d\\ude00'])(
    'half a pair is refused wherever it stands: %s',
    async (half) => {
      const raw = `{"amount_in_cents":100,"description":"a${half}b","customer":{"name":"${half}"},"reference":"r${half}"}`;
      await expectInvalid(await postRaw(raw), ['description', 'customer.name', 'reference']);
    },
  );

  it('half a pair in the name of an unknown field is one more unknown field', async () => {
    const raw = '{"amount_in_cents":100,"description":"x","\\ud800":1}';
    const error = await expectRefusal(await postRaw(raw), 400, 'invalid_request');
    expect(error.errors).toHaveLength(1);
  });
});

describe('POST /v1/nfse: depth', () => {
  const nested = (levels: number): string => `${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`;

  const raw = (levels: number): string => `{"x":${nested(levels)},"amount_in_cents":100,"description":"x"}`;

  it('64 levels are read', async () => {
    await expectInvalid(await postRaw(raw(64)), ['x']);
  });

  it.each([
    ['65 levels', raw(65)],
    ['a million nested objects, closed', `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`],
    ['a hundred thousand arrays, closed', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('%s are JSON, but no body: invalid_request', async (_what, sent) => {
    const error = await expectRefusal(await postRaw(sent), 400, 'invalid_request');
    expect(error.message).toBe('O corpo tem mais de 64 níveis de objetos e listas.');
    expect(error.errors).toEqual([{ code: 'invalid_request', message: error.message }]);
    expect(error).not.toHaveProperty('param');
  });

  it('brackets inside a text are text, also after an escaped quote', async () => {
    await acceptedBody(await post(issueBodyOf({ description: `"${'[{'.repeat(500)}\\` })));
  });
});

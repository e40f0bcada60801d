const MIB = 1024 * 1024;

/** As large as a body may be. */
export const LARGEST = 10 * MIB;

const filled = (start: string, unit: string, end: string): string =>
  start + unit.repeat(Math.floor((LARGEST - start.length - end.length) / Buffer.byteLength(unit))) + end;

const UNKNOWN_KEYS = (): string => {
  let body = '{"k":1';
  for (let n = 0; body.length < LARGEST - 20; n += 1) body += `,"k${n}":1`;
  return `${body}}`;
};

/** Bodies of 10 MiB that cost a parser, a validator or a decoder as much as possible, and the refusal of each. */
export const hostileBodies: Readonly<
  Record<string, { make(): string | Uint8Array; code: 'invalid_request' | 'malformed_json' }>
> = {
  'unknown keys': { make: UNKNOWN_KEYS, code: 'invalid_request' },
  'nested arrays': {
    make: () => filled('{"a":[1', `,${'['.repeat(60)}${']'.repeat(60)}`, ']}'),
    code: 'invalid_request',
  },
  'arrays without an end': { make: () => '['.repeat(LARGEST), code: 'malformed_json' },
  'empty objects': { make: () => filled('{"a":[{}', ',{}', ']}'), code: 'invalid_request' },
  'one key again and again': { make: () => filled('{"a":1', ',"a":1', '}'), code: 'invalid_request' },
  'one long string': { make: () => filled('{"description":"', 'x', '"}'), code: 'invalid_request' },
  'long strings': { make: () => filled('{"a":[""', `,"${'é'.repeat(40_000)}"`, ']}'), code: 'invalid_request' },
  'one long key': { make: () => filled('{"', 'k', '":1}'), code: 'invalid_request' },
  'short strings without commas': { make: () => filled('{"a":[', '""', ']}'), code: 'malformed_json' },
  'escapes of letters': { make: () => filled('{"description":"', '\\u0041', '"}'), code: 'invalid_request' },
  'escapes of halves of pairs': { make: () => filled('{"description":"', '\\ud83d', '"}'), code: 'invalid_request' },
  'escapes of line breaks': { make: () => filled('{"description":"', '\\n', '"}'), code: 'invalid_request' },
  'long digits': { make: () => filled('{"amount_in_cents":', '1', '}'), code: 'invalid_request' },
  'numbers of a hundred digits': {
    make: () => filled('{"a":[1', `,${'9'.repeat(100)}`, ']}'),
    code: 'invalid_request',
  },
  'white space': { make: () => filled('{', ' \n\t\r', '}'), code: 'invalid_request' },
  'white space between words': { make: () => filled('{"a":', '1 ', '}'), code: 'malformed_json' },
  'one long word': { make: () => filled('', 'a', ''), code: 'malformed_json' },
  'bytes that are no UTF-8': { make: () => new Uint8Array(LARGEST).fill(0xff), code: 'malformed_json' },
  'UTF-8 that breaks at its end': {
    make: () => Buffer.concat([Buffer.from(filled('{"a":"', 'é', '')), Buffer.from([0xc3])]).subarray(-LARGEST),
    code: 'malformed_json',
  },
};

import type { HashedEvent } from '../../src/domain/log/hash-text.js';

type HashSample = { stream: string; revision: number; event: HashedEvent };

const sample = (data: unknown, metadata: Record<string, string> = {}, revision = 0): HashSample => ({
  stream: 'nfseLive-12345678000195_11111111-1111-4111-8111-111111111111',
  revision,
  event: {
    id: '0f8fad5b-d9cb-869f-a165-70867728950e',
    type: 'Happened',
    data,
    metadata: { schemaVersion: '1', commandId: 'c', prevHash: revision === 0 ? '' : 'ef'.repeat(32), ...metadata },
  },
});

/** What two implementations of the hash text may see differently. */
export const hashSamples: Readonly<Record<string, HashSample>> = {
  first_event: sample({ amountInCents: 1 }),
  empty_data: sample({}),
  later_event: sample({ text: 'x' }, {}, 41),
  hash_is_left_out: sample({ text: 'x' }, { hash: 'aa'.repeat(32) }),
  unicode: sample({ accents: 'ação é São João', emoji: '😀👩‍💻', composed: 'é', decomposed: 'e\u0301', cjk: '漢字' }),
  unsorted_nested_keys: sample({ z: { y: { b: 1, a: 2 }, x: 0 }, a: [{ d: 1, c: 2 }], _b: 1, B: 2, a10: 1, a9: 2 }),
  keys_by_code_unit: sample({ '\uffee': 1, '😀': 2, é: 3, e: 4, Z: 5, '-': 6, '': 7 }),
  arrays: sample({ empty: [], nested: [[], [[1]], ['a', true, { k: 'v' }]], order: [3, 1, 2] }),
  booleans: sample({ yes: true, no: false, list: [true, false], text: 'true' }),
  integers: sample({ max: Number.MAX_SAFE_INTEGER, min: Number.MIN_SAFE_INTEGER, zero: 0, negative: -1, big: 1e15 }),
  empty_strings: sample({ a: '', list: [''], '': '' }, { traceparent: '' }),
  control_characters: sample({ text: '\u0000\u0001\b\t\n\u000b\f\r\u001f\u007f\u2028\u2029\ufeff', quote: '"\\/' }),
  metadata_order: sample({ a: 1 }, { zulu: '1', Alpha: '2', ação: '3', '10': '4', '9': '5' }),
  html: sample({ text: '<NFSe a="b">&amp;</NFSe>', script: '</script>' }),
};

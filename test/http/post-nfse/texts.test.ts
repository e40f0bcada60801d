import { describe, expect, it } from 'vitest';
import { exportBodyOf, issueBodyOf } from '../../support/fixture/demo.js';
import { acceptedBody, expectInvalid, post } from './post.js';

type Field = {
  path: string;
  max: number;
  /** The layout's type is Latin-1. */
  latin?: boolean;
  bodyWith(value: string): object;
  /** The field as the answer shows it. */
  shown(body: Record<string, unknown>): unknown;
};

type Foreign = { customer: { address: Record<string, string>; [field: string]: unknown } };

const plain = (path: string, max: number): Field => ({
  path,
  max,
  bodyWith: (value) => issueBodyOf({ [path]: value }),
  shown: (body) => body[path],
});

const ofCustomer = (name: string, max: number): Field => ({
  path: `customer.${name}`,
  max,
  bodyWith: (value) => exportBodyOf({}, { [name]: value }),
  shown: (body) => (body as Foreign).customer[name],
});

const ofAddress = (name: string, max: number, latin = false): Field => ({
  path: `customer.address.${name}`,
  max,
  latin,
  bodyWith: (value) => {
    const { customer } = exportBodyOf() as Foreign;
    return exportBodyOf({}, { address: { ...customer.address, [name]: value } });
  },
  shown: (body) => (body as Foreign).customer.address[name],
});

const texts: readonly Field[] = [
  plain('description', 2000),
  ofCustomer('name', 300),
  ofCustomer('tax_id', 40),
  ofAddress('street', 255, true),
  ofAddress('number', 60, true),
  ofAddress('district', 60, true),
  ofAddress('city', 60),
  ofAddress('state', 60),
  ofAddress('postal_code', 11),
];
const reference = plain('reference', 64);

const takes = async ({ bodyWith, shown }: Field, value: string): Promise<void> => {
  expect(shown(await acceptedBody(await post(bodyWith(value))))).toBe(value);
};

const refuses = async ({ path, bodyWith }: Field, value: string): Promise<string> =>
  (await expectInvalid(await post(bodyWith(value)), [path])).message;

describe.each([...texts, reference])('POST /v1/nfse: $path', (field) => {
  const { max, latin } = field;

  it('holds one character, and the most that it may, counted in code points and shown as sent', async () => {
    const widest = latin ? 'ç' : '😀';
    await takes(field, widest);
    await takes(field, widest.repeat(max));
  });

  it('refuses one more, naming the limit', async () => {
    for (const character of ['x', latin ? 'ç' : '😀']) {
      expect(await refuses(field, character.repeat(max + 1))).toContain(String(max));
    }
  });

  it('counts a letter and its mark as the two characters that they are', async () => {
    if (!latin) await takes(field, 'e\u0301'.repeat(Math.floor(max / 2)));
    expect(await refuses(field, 'e\u0301'.repeat(Math.floor(max / 2) + 1))).toContain(String(max));
  });

  it('is not empty', async () => {
    await refuses(field, '');
  });

  it.each(['\u0000', '\u0001', '\b', '\t', '\v', '\f', '\u001f', '\u007f', '\u0080', '\u0085', '\u009f'])(
    'has no control character: %j',
    async (control) => {
      await refuses(field, `a${control}b`);
    },
  );
});

describe.each(texts)('POST /v1/nfse: $path', (field) => {
  it.each([' ', '\u00a0', '\u2003\u3000', '\n', ' \r\n '])('is not blank: %j', async (blank) => {
    await refuses(field, blank);
  });

  it.each(['\ufffe', '\uffff'])('has nothing that XML cannot carry: %j', async (character) => {
    await refuses(field, `a${character}b`);
  });

  it('takes line breaks, and shows each line end as LF (TEXT-5)', async () => {
    expect(field.shown(await acceptedBody(await post(field.bodyWith('a\nb\r\nc\rd'))))).toBe('a\nb\nc\nd');
  });

  it('counts a line end of two characters as one (TEXT-5)', async () => {
    await acceptedBody(await post(field.bodyWith(`x${'\r\n'.repeat(field.max - 2)}x`)));
    await refuses(field, `x${'\r\n'.repeat(field.max - 1)}x`);
  });

  it('keeps blanks at its ends, and what XML has to escape', async () => {
    await takes(field, ' <a&"\'> ');
  });
});

describe('POST /v1/nfse: reference', () => {
  it.each([' ', '\n', '\r', '\u00a0', '\u1680', '\u2000', '\u2028', '\u2029', '\u202f', '\u205f', '\u3000', '\ufeff'])(
    'has no white space of any kind, also at its ends: %j',
    async (blank) => {
      for (const value of [`a${blank}b`, `${blank}a`, `a${blank}`]) await refuses(reference, value);
    },
  );

  it('takes every other sign', async () => {
    await takes(reference, '/?#%&+=;:@"<>\\{}[]|^`~!$*()_-.,\'漢字é😀');
  });
});

describe('POST /v1/nfse: codes', () => {
  it.each([
    ['cnae', ['', '620150', '62015010', '6201501 ', ' 6201501', '６２０１５０１', '6201-5/01', '620150a', '6201501\n']],
    ['service_code', ['', ' ', '01.01.01', '01010a', ' 010101', '010101\n', '０１０１０１', '-10101', '1e5']],
  ])('%s has digits only', async (field, values) => {
    for (const value of values) await expectInvalid(await post(issueBodyOf({ [field]: value })), [field]);
  });

  it.each(['br', 'foreign'])('customer.type is in lower case and nothing else: %s', async (type) => {
    for (const value of [type.toUpperCase(), ` ${type}`, `${type}\n`, ''])
      await expectInvalid(await post(exportBodyOf({}, { type: value })), ['customer.type']);
  });

  it.each(['exempt', 'not_required'])('customer.tax_id_absence_reason: %s', async (reason) => {
    await acceptedBody(await post(exportBodyOf({}, { tax_id: undefined, tax_id_absence_reason: reason })));
    const wrong = exportBodyOf({}, { tax_id: undefined, tax_id_absence_reason: reason.toUpperCase() });
    await expectInvalid(await post(wrong), ['customer.tax_id_absence_reason']);
  });
});

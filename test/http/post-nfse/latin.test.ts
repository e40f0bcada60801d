import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import type { InvoiceEventData } from '../../../src/domain/invoice/events.js';
import { DEMO_CNPJ, exportBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { schemaFaults } from '../../support/schema.js';
import { expectInvalid, post } from './post.js';

type Foreign = { customer: { address: Record<string, string> } };

type Field = 'street' | 'number' | 'district';

const TAGS = { street: 'xLgr', number: 'nro', district: 'xBairro' } as const satisfies Record<Field, string>;

/** The fields whose type in the layout is Latin-1 without line breaks. */
const fields: readonly (readonly [Field, number])[] = [
  ['street', 255],
  ['number', 60],
  ['district', 60],
];

const exportTo = (address: object, customer: object = {}): object => {
  const sent = exportBodyOf() as Foreign;
  return exportBodyOf({}, { ...customer, address: { ...sent.customer.address, ...address } });
};

/** The document that a 202 leads to; undefined for a refusal. */
const documentOf = async ({ call, store }: Harness, json: object): Promise<string | undefined> => {
  const response = await call('/v1/nfse', { json });
  if (response.status !== 202) return undefined;
  const { id } = (await response.json()) as { id: string };
  const [first] = (await store.load(invoiceStream('test', DEMO_CNPJ, id.replace('nfse_', '')))).events;
  const accepted = first?.data as InvoiceEventData<'InvoiceAccepted'>;
  return buildDps({ mode: 'test', accepted, series: '1', number: 1, currencyCode: () => '220' }).xml;
};

const printed = async (field: Field, value: string): Promise<string | undefined> => {
  const xml = await documentOf(createHarness(), exportTo({ [field]: value }));
  return new RegExp(`<${TAGS[field]}>([^<]*)</${TAGS[field]}>`).exec(xml ?? '')?.[1];
};

describe('POST /v1/nfse: an address in the alphabet of the layout', () => {
  it.each([
    ['Łódź', 'Lódz'],
    ['đường Trần Hưng Đạo', 'duong Tran Hung Dao'],
    ['Große Straße, Ørestad øst', 'Große Straße, Ørestad øst'],
    ['Rua – São João — “A” ‘b’…', 'Rua - São João - "A" \'b\'...'],
    ['a\nb\r\nc\rd', 'a b c d'],
    ['e\u0301', 'é'],
  ])('%j is printed as %j', async (sent, latin) => {
    for (const [field] of fields) expect(await printed(field, sent)).toBe(latin);
  });

  it.each(['漢字', 'Привет', 'ελ', '😀', 'a漢', '\u200b', '\u0301'])('%j has no Latin form', async (value) => {
    for (const [field] of fields)
      await expectInvalid(await post(exportTo({ [field]: value })), [`customer.address.${field}`]);
  });

  it('a language of another alphabet is welcome where the layout takes it', async () => {
    const address = { city: '東京', state: '東京都' };
    expect(await documentOf(createHarness(), exportTo(address, { name: '株式会社' }))).toContain(
      '<xCidade>東京</xCidade>',
    );
  });

  it.each(fields)('%s holds its %i characters of ß, which stays one letter', async (field, max) => {
    expect(await printed(field, 'ß'.repeat(max))).toBe('ß'.repeat(max));
  });

  it.each(fields)(
    '%s: what grows over %i characters in the document is refused, naming field and limit',
    async (field, max) => {
      for (const growing of ['œ', '€', '…', 'ﬁ']) {
        const fits = growing.repeat(Math.floor(max / 3));
        expect((await printed(field, fits))?.length).toBeGreaterThan(fits.length);
        const error = await expectInvalid(await post(exportTo({ [field]: growing.repeat(max) })), [
          `customer.address.${field}`,
        ]);
        expect(error.message).toContain(String(max));
      }
      const oneTooMany = `${'x'.repeat(max - 1)}œ`;
      await expectInvalid(await post(exportTo({ [field]: oneTooMany })), [`customer.address.${field}`]);
      expect(await printed(field, `${'x'.repeat(max - 2)}œ`)).toBe(`${'x'.repeat(max - 2)}oe`);
    },
  );
});

describe('POST /v1/nfse: whatever is accepted', () => {
  const odd = fc.constantFrom(' ', '\n', '\r', 'œ', '€', 'ß', 'ł', '–', '\u00ad', '\u200b', '<', '&', ']]>', '\ufffd');
  const one = { minLength: 1, maxLength: 1 };
  const character = fc.oneof(odd, fc.string({ ...one, unit: 'binary' }), fc.string({ ...one, unit: 'grapheme' }));
  const free = (max: number) => fc.string({ unit: character, minLength: 1, maxLength: max });
  const sent = fc.record({
    street: fc.oneof(fc.constant('Main'), free(6)),
    number: fc.oneof(fc.constant('1'), free(3)),
    district: fc.oneof(fc.constant('Centre'), free(4)),
    city: free(4),
    state: free(4),
    postal_code: free(4),
  });

  it('becomes a document that the official schema takes, with nothing cut', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(sent, free(6), free(6), async (address, name, description) => {
        const json = { ...exportTo(address, { name }), description };
        const xml = await documentOf(createHarness(), json);
        if (xml === undefined) return;
        accepted += 1;
        expect(schemaFaults('DPS', Buffer.from(xml))).toEqual([]);
      }),
      { numRuns: 600 },
    );
    // One in seven, 85 on average: fewer come once in a million million runs.
    expect(accepted).toBeGreaterThan(20);
  });
});

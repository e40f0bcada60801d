import { describe, expect, it } from 'vitest';
import { createHarness, queuedInvoice } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const UUID = '0190a1b2-0000-7000-8000-000000000000';

/** Every character percent-encoded. */
const encoded = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

describe('GET /v1/nfse/{id}: forms of one id', () => {
  it.each([
    ['the bare UUID', (bare: string) => bare],
    ['with the prefix', (bare: string) => `nfse_${bare}`],
    ['in upper case', (bare: string) => bare.toUpperCase()],
    ['with the prefix, in upper case', (bare: string) => `nfse_${bare.toUpperCase()}`],
    ['one letter percent-encoded', (bare: string) => `%6efse_${bare}`],
    ['the underscore percent-encoded', (bare: string) => `nfse%5F${bare}`],
    ['all of it percent-encoded', (bare: string) => encoded(`nfse_${bare}`)],
    ['all of the bare UUID percent-encoded', encoded],
  ])('%s: the same invoice, its id as the interface writes it', async (_what, form) => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    const response = await harness.call(`/v1/nfse/${form(id.replace('nfse_', ''))}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id });
  });

  it.each(['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', UUID])(
    'a UUID of any version is well formed: %s',
    async (uuid) => {
      await expectRefusal(await createHarness().call(`/v1/nfse/${uuid}`), 404, 'not_found');
    },
  );
});

describe('GET /v1/nfse/{id} 400 invalid_id', () => {
  it.each([
    ...['cus', 'evt', 'nfe', 'nfs', 'nfse_live', 'NFSE', 'Nfse', '_', 'nfse__'].map((prefix) => `${prefix}_${UUID}`),
    `nfse${UUID}`,
    `nfse-${UUID}`,
    `%20${UUID}`,
    `${UUID}%20`,
    `${UUID}%0a`,
    `${UUID}%00`,
    `%00${UUID}`,
    `nfse_%00${UUID}`,
    `{${UUID}}`,
    `urn:uuid:${UUID}`,
    UUID.replaceAll('-', ''),
    `${UUID}-`,
    UUID.slice(1),
    '%zz',
    `%zz${UUID}`,
    `nfse_${UUID}%`,
    `nfse_${UUID}%2`,
    '%',
    '%ff',
    '%c3%28',
    '%ed%a0%80',
    '%6',
    `${UUID}%zz`,
    UUID.replace('0190', '019g'),
    UUID.replace('0190', '０190'),
    '..%2f..%2fetc',
    'null',
    '0',
    '%25',
    `nfse_${UUID}%2fpdf`,
    `nfse_${UUID};v=1`,
    `nfse_${UUID}.json`,
    encodeURIComponent('漢字😀'),
    'x'.repeat(10_000),
  ])('%s', async (id) => {
    const response = await createHarness().call(`/v1/nfse/${id}`);
    const error = await expectRefusal(response, 400, 'invalid_id');
    expect(error).toMatchObject({ param: 'id', retryable: false });
    expect(error.message).toContain('nfse_');
  });

  it('on every route with an id, whatever the invoice', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    const customer = id.replace('nfse_', 'cus_');
    for (const [path, json] of [
      ['', undefined],
      ['/pdf', undefined],
      ['/xml', undefined],
      ['/cancel', {}],
    ] as const) {
      const options = json === undefined ? {} : { json };
      await expectRefusal(await harness.call(`/v1/nfse/${customer}${path}`, options), 400, 'invalid_id');
      await expectRefusal(await harness.call(`/v1/nfse/%zz${path}`, options), 400, 'invalid_id');
    }
  });
});

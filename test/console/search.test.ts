import { beforeEach, describe, expect, it } from 'vitest';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { DEMO_CNPJ, demoCompany, OTHER_CNPJ } from '../support/fixture/demo.js';
import { ACCESS_KEY } from '../support/fixture/invoice.js';
import { type ConsoleHarness, consoleHarness } from '../support/harness/console.js';

const OTHER_ID = '22222222-2222-4222-8222-222222222222';

let harness: ConsoleHarness;
beforeEach(async () => {
  harness = await consoleHarness();
});

const search = (fields: Record<string, string>) => harness.send('/console/search', { operator: 'maria', ...fields });

const locationOf = async (fields: Record<string, string>) => (await search(fields)).headers.get('location');

/** The same reference in the other mode. */
const withAnother = async (): Promise<void> => {
  const [row] = await harness.rows();
  if (row !== undefined) harness.others = [{ ...row, stream: invoiceStream('test', DEMO_CNPJ, OTHER_ID) }];
};

describe('the address of what a search found', () => {
  it('is that of the invoice where one is found', async () => {
    harness.ofKey = [{ accessKey: ACCESS_KEY, stream: harness.stream }];
    expect(await locationOf({ text: 'pedido-1' })).toBe(harness.invoice);
    expect(await locationOf({ text: ACCESS_KEY.replaceAll(/(.{4})/g, '$1.') })).toBe(harness.invoice);
  });

  it('is the address of a list where several are found, so that a browser can load the list again without a form', async () => {
    await withAnother();
    const address = await locationOf({ text: 'pedido-1', company: '12.345.678/0001-95' });
    expect(address).toBe('/console/search?text=pedido-1&by=&company=12.345.678%2F0001-95');
    const { status, text } = await harness.visit(address ?? '');
    expect([status, text]).toEqual([200, expect.stringContaining('By reference “pedido-1”: 2 invoices')]);
    expect(text).toContain(`/console/invoices/nfse_${OTHER_ID}`);
    expect(text).toContain('name="company" value="12.345.678/0001-95"');
    expect(await harness.onRecord()).toEqual([]);
  });

  it('is the address of an empty list for an unknown access key, because an access key names no customer', async () => {
    expect(await locationOf({ text: ACCESS_KEY })).toBe(`/console/search?text=${ACCESS_KEY}&by=&company=`);
  });

  it('never holds a document, nor a text that may be a name', async () => {
    await withAnother();
    const texts = ['11111111000191', '11.111.111/0001-91', '529 982 247 25', 'CPF 529.982.247-25'];
    for (const text of texts)
      for (const by of ['', 'document', 'reference', 'access-key', 'number', 'id'])
        expect([text, by, await locationOf({ text, by, company: DEMO_CNPJ })]).toEqual([text, by, null]);
    harness.others = [];
    for (const text of ['José Álvares', '7.000,05', 'X123456'])
      for (const by of ['', 'document', 'access-key', 'id'])
        expect([text, by, await locationOf({ text, by })]).toEqual([text, by, null]);
  });

  it.each([
    'text=52998224725',
    'text=529.982.247-25&by=reference',
    'text=X123456&by=document',
    'text=pedido-1&company=98765432000198',
    'text=nfse_x&by=id',
    'by=reference',
    '',
  ])('is not taken from a link with %s', async (query) => {
    const { status, headers } = await harness.visit(`/console/search?${query}`);
    expect([status, headers.get('location')]).toEqual([303, '/console']);
    expect(await harness.onRecord()).toEqual([]);
  });
});

describe('a search', () => {
  it('of one company finds nothing of another, by id neither', async () => {
    harness.companies = [];
    const id = harness.invoice.replace('/console/invoices/', '');
    expect(await locationOf({ text: id, company: DEMO_CNPJ })).toBe(null);
    harness = await consoleHarness();
    expect(await locationOf({ text: id, company: DEMO_CNPJ })).toBe(harness.invoice);
    expect(await locationOf({ text: id.toUpperCase().replaceAll('-', '') })).toBe(harness.invoice);
  });

  it('finds a reference in the log before its row is there', async () => {
    harness.areRowsLate = true;
    expect(await locationOf({ text: 'pedido-1' })).toBe(harness.invoice);
    // Each company and mode is a look at the log: of many companies, a search looks at the wanted one alone.
    harness.companies = Array.from({ length: 201 }, () => demoCompany(DEMO_CNPJ));
    expect(await locationOf({ text: 'pedido-1' })).toBe(null);
    harness.companies = [...Array.from({ length: 200 }, () => demoCompany(OTHER_CNPJ)), demoCompany(DEMO_CNPJ)];
    expect(await locationOf({ text: 'pedido-1', company: DEMO_CNPJ })).toBe(harness.invoice);
  });

  it('takes a company as it is pasted, which the field does not cut', async () => {
    expect(await locationOf({ text: 'pedido-1', company: ' 12.345.678/0001-95' })).toBe(harness.invoice);
    expect((await harness.visit('/console')).text).toMatch(/name="company"[^>]* maxlength="40"/);
  });

  it('by number asks for the company', async () => {
    const { status, text } = await search({ text: '10', by: 'number' });
    expect([status, text]).toEqual([400, expect.stringContaining('needs the company')]);
  });

  it('that found nothing says what is searched', async () => {
    const { text } = await search({ text: 'José Álvares' });
    expect(text).toContain('A name or an amount is not searched');
    expect(text).toContain('<a href="/console/invoices">');
    expect((await search({ text: '11111111000191' })).text).not.toContain('A name or an amount');
  });

  it('by document shows a hundred invoices, and the next search goes on after them', async () => {
    const [row] = await harness.rows();
    harness.newest = row === undefined ? [] : Array.from({ length: 150 }, () => row);
    const { text } = await search({ text: '11111111000191' });
    expect(text.match(/<th scope="row"/g)).toHaveLength(100);
    expect(text).toContain('100 invoices among 100 newest');
    expect(text).toContain('Search older invoices');
    expect(text).toContain(`name="stream" value="${harness.stream}"`);
  });
});

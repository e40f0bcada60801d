import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness, issuedInvoice, queuedInvoice } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const foundBy = async ({ call }: Harness, query: string): Promise<readonly string[]> => {
  const response = await call(`/v1/nfse?${query}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
};

const withReference = (harness: Harness, reference: string): Promise<string> =>
  queuedInvoice(harness, 'test', issueBodyOf({ reference }));

describe('GET /v1/nfse?reference= 200', () => {
  it.each(['a', 'é'.repeat(64), '😀'.repeat(64), '/?#%&+=;', '%41', '漢字', '..', 'null'])(
    'finds %s by its percent-encoded form',
    async (reference) => {
      const harness = createHarness();
      const id = await withReference(harness, reference);
      expect(await foundBy(harness, `reference=${encodeURIComponent(reference)}`)).toEqual([id]);
    },
  );

  it('finds what is written in other escapes, and only by the same letters', async () => {
    const harness = createHarness();
    const id = await withReference(harness, 'Pedido-1');
    expect(await foundBy(harness, 'reference=%50edido%2d1')).toEqual([id]);
    expect(await foundBy(harness, '%72eference=Pedido-1')).toEqual([id]);
    for (const other of ['pedido-1', 'Pedido-1%20', '%20Pedido-1', 'Pedido-', 'Pedido-1%00', 'Pedido-1+'])
      expect(await foundBy(harness, `reference=${other}`)).toEqual([]);
  });

  it('keeps composed and decomposed letters apart', async () => {
    const harness = createHarness();
    const id = await withReference(harness, '\u00e9');
    expect(await foundBy(harness, `reference=${encodeURIComponent('e\u0301')}`)).toEqual([]);
    expect(await foundBy(harness, `reference=${encodeURIComponent('\u00e9')}`)).toEqual([id]);
  });

  it('ignores unknown parameters, and takes the first of several references', async () => {
    const harness = createHarness();
    const id = await withReference(harness, 'a');
    expect(await foundBy(harness, 'limit=0&reference=a&status=failed&__proto__=1&t=x&')).toEqual([id]);
    expect(await foundBy(harness, 'reference=a&reference=b')).toEqual([id]);
    expect(await foundBy(harness, 'reference=b&reference=a')).toEqual([]);
  });

  it('shows the whole invoice as its own route does', async () => {
    const harness = createHarness();
    const id = await withReference(harness, 'same');
    const list = (await (await harness.call('/v1/nfse?reference=same')).json()) as { data: object[] };
    expect(list.data).toEqual([await (await harness.call(`/v1/nfse/${id}`)).json()]);
  });

  it('finds nothing for an invoice without a reference', async () => {
    const harness = createHarness();
    await issuedInvoice(harness);
    expect(await foundBy(harness, 'reference=undefined')).toEqual([]);
  });
});

describe('GET /v1/nfse 400', () => {
  it.each([
    ['none', ''],
    ['empty', '?reference='],
    ['empty before a good one', '?reference=&reference=a'],
    ['too long before a good one', `?reference=${'x'.repeat(65)}&reference=a`],
    ['65 characters', `?reference=${'x'.repeat(65)}`],
    ['65 characters beyond the basic plane', `?reference=${encodeURIComponent('😀'.repeat(65))}`],
    ['another name', '?references=a&Reference=a&reference[]=a&reference%00=a'],
  ])('reference: %s', async (_what, query) => {
    const error = await expectRefusal(await createHarness().call(`/v1/nfse${query}`), 400, 'invalid_request');
    expect(error).toMatchObject({ param: 'reference', retryable: false, livemode: false });
    expect(error.message).toContain('64');
    expect(error).not.toHaveProperty('errors');
  });
});

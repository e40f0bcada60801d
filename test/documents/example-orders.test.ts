import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXAMPLE_KEY } from '../../src/http/openapi/examples.js';
import { readPage } from '../tools/documents/pages.js';
import { ROOT } from '../tools/root.js';

const ordersOf = (text: string): readonly string[] => [...new Set(text.match(/pedido-\d{4}/g))];

it('no two programs issue for one order, nor for the order of the reference: an Idempotency-Key takes one body', () => {
  const files = readdirSync(join(ROOT, 'docs/examples')).filter((name) => !/^cancelar\.ts$|\.(?:md|csv)$/.test(name));
  const pages = [...files.map((name) => `docs/examples/${name}`), 'docs/client.md'];
  const orders = [...ordersOf(EXAMPLE_KEY), ...pages.flatMap((page) => ordersOf(readPage(page)))];
  expect(orders.toSorted()).toEqual(['pedido-1042', ...[1, 2, 3, 4, 5].map((last) => `pedido-200${last}`)]);
});

it('the program that cancels takes the order of the first program', () => {
  const [first] = ordersOf(readPage('docs/examples/emitir-e-esperar.ts'));
  expect(ordersOf(readPage('docs/examples/cancelar.ts'))).toEqual([first]);
  expect(ordersOf(readPage('docs/examples/README.md'))).toEqual([first]);
});

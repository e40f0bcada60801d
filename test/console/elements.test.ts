import { expect, it } from 'vitest';
import { facts } from '../../src/console/pages/elements.js';

it('an invisible character in a text of a client is shown as JSON writes it', async () => {
  expect(String(await facts([['Referência', 'a\u200f\u200b']]))).toContain('<dd>a\\u200f\\u200b</dd>');
});

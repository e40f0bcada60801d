import { expect, it } from 'vitest';
import { facts } from '../../src/console/pages/elements.js';

it('a control of writing direction in a text of a client is shown as JSON writes it', async () => {
  expect(String(await facts([['Referência', 'a\u202e\u2066']]))).toContain('<dd>a\\u202e\\u2066</dd>');
});

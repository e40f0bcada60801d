import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../tools/root.js';

/** The customer of every example. A company cannot issue to itself (E0202), so no example makes it a company. */
const CUSTOMER = '11222333000181';
const SECOND = '11444777000161';

const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

describe('the second company of the documents', () => {
  it('has one file, wherever it is shown', () => {
    const files = ['docs/first-steps.md', 'docs/operations/start.md'].map((path) => {
      const text = pages.find((page) => page.path === path)?.text ?? '';
      const [found = ''] = /\{\n {2}"cnpj"[\s\S]*?\n\}/.exec(text) ?? [];
      return JSON.parse(found) as { cnpj: string };
    });
    expect(files[0]).toMatchObject({ cnpj: SECOND });
    expect(files[1]).toEqual(files[0]);
  });

  it.each(pages)('is not the customer: $path', ({ text }) => {
    const command = /\b(?:company|certificate|key|catalog|doctor) [a-z-]+[^|]*\b(\d{14})\b/;
    expect(text.split('\n').map((line) => command.exec(line)?.[1])).not.toContain(CUSTOMER);
  });
});

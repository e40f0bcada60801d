import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { jsonText, typedText } from '../../src/cli/terminal.js';
import { printable } from '../../src/lib/printable.js';

/** What is read for `-` from an input, and what is said before. */
const typed = async (isTTY: boolean) => {
  const said: string[] = [];
  const input = Object.assign(Readable.from(['52998224725\n']), { isTTY });
  const read = await typedText('-', 'CPF, CNPJ or NIF', { input, err: (text) => void said.push(text) });
  return { read, said };
};

it('a person at a terminal is asked for the text of -, a program is not', async () => {
  expect(await typed(true)).toEqual({ read: '52998224725', said: ['CPF, CNPJ or NIF, then Enter:'] });
  expect(await typed(false)).toEqual({ read: '52998224725', said: [] });
});

it('an invisible character in a text of a client is shown as JSON writes it, and JSON means the same text', () => {
  expect(printable('a\u202e\u200b')).toBe('a\\u202e\\u200b');
  expect(jsonText({ reference: '\u200f' })).toBe('{"reference":"\\u200f"}');
  expect(JSON.parse(jsonText({ reference: '\u200f' }))).toEqual({ reference: '\u200f' });
});

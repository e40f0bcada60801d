import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { typedText } from '../../src/cli/terminal.js';

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

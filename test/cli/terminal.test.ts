import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { jsonText, typedText } from '../../src/cli/terminal.js';
import { printable } from '../../src/lib/printable.js';

/** What is read for `-` from an input, and what is said before. */
const typed = async (isTTY: boolean, chunks: readonly (string | Buffer)[] = ['52998224725\n']) => {
  const said: string[] = [];
  const input = Object.assign(Readable.from(chunks), { isTTY });
  const read = await typedText('-', 'CPF, CNPJ or NIF', { input, err: (text) => void said.push(text) });
  return { read, said };
};

it('a person at a terminal is asked for the text of -, a program is not', async () => {
  expect(await typed(true)).toEqual({ read: { text: '52998224725' }, said: ['CPF, CNPJ or NIF, then Enter:'] });
  expect(await typed(false)).toEqual({ read: { text: '52998224725' }, said: [] });
});

it.each<[string, readonly (string | Buffer)[], string]>([
  ['of several lines', ['ofício\nmore'], 'ofício'],
  ['that ends with CR LF', ['ofício\r\n'], 'ofício'],
  ['without a line end', ['ofício'], 'ofício'],
  ['with a byte order mark', ['\ufeffofício\n'], 'ofício'],
  ['that comes byte by byte', [...Buffer.from(' ofício\n')].map((byte) => Buffer.of(byte)), 'ofício'],
  ['whose next line is not UTF-8', [Buffer.from('a\n\xed', 'latin1')], 'a'],
  ['without a byte', [], ''],
])('the text of - is the first line of an input %s', async (_how, chunks, text) => {
  expect(await typed(false, chunks)).toEqual({ read: { text }, said: [] });
});

it('the text of - is read before the input ends', async () => {
  const input = new PassThrough();
  input.write('ofício\n');
  expect(await typedText('-', 'evidence', { input, err: () => undefined })).toEqual({ text: 'ofício' });
});

it('an input without a line end is read no further than an argument could be long', async () => {
  let chunks = 0;
  const endless = async function* () {
    for (; ; chunks++) yield Buffer.alloc(16 * 1024, 'a');
  };
  const input = Object.assign(Readable.from(endless()), { isTTY: false });
  const read = await typedText('-', 'evidence in one line', { input, err: () => undefined });
  expect(read).toEqual({ problem: 'the first line of the input is longer than 128 KiB' });
  expect(chunks).toBeLessThan(100);
  expect((await typed(false, [Buffer.alloc(128 * 1024, 'a'), '\n'])).read).toEqual({ text: 'a'.repeat(128 * 1024) });
});

it.each([
  ['latin1', 'is not UTF-8: line 1 is the first with a wrong byte.'],
  ['utf16le', 'is UTF-16LE, and a command reads UTF-8:'],
] as const)(
  'the text of - is refused in %s as a file is, because U+FFFD would stand for each accent for good',
  async (encoding, problem) => {
    const { read } = await typed(false, [Buffer.from('ofício\n', encoding)]);
    expect(read).toEqual({ problem: expect.stringContaining(`the input ${problem}`) });
  },
);

it('an invisible character in a text of a client is shown as JSON writes it, and JSON means the same text', () => {
  expect(printable('a\u202e\u200b')).toBe('a\\u202e\\u200b');
  expect(jsonText({ reference: '\u200f' })).toBe('{"reference":"\\u200f"}');
  expect(JSON.parse(jsonText({ reference: '\u200f' }))).toEqual({ reference: '\u200f' });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { companyCommands } from '../../src/cli/commands/company.js';
import { importCommand } from '../../src/cli/commands/invoice-import.js';
import { catalogCommands, registryCommand } from '../../src/cli/commands/reference-data.js';
import { readJsonFile, readOperatorText } from '../../src/cli/flags.js';
import { runCommand } from '../../src/cli/run.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const unused = (): never => {
  throw new Error('a file that is no text needs no engine');
};
const commands = [importCommand(unused), ...companyCommands, ...catalogCommands, registryCommand];

const TEXT = '{"a":"b"}\n{"a":"manutenção"}\n{"a":"maçã"}\n';
const wide = (encoding: string): string =>
  `is ${encoding}, and a command reads UTF-8: iconv -f ${encoding} -t UTF-8 FILE > NEW-FILE`;
const bigEndian = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

const utf32 = (text: string): Buffer =>
  Buffer.from(Uint32Array.from([...text], (character) => character.codePointAt(0) ?? 0).buffer);

const WRONG: readonly (readonly [string, Buffer, string])[] = [
  [
    'Latin-1',
    Buffer.from(TEXT, 'latin1'),
    'is not UTF-8: line 2 is the first with a wrong byte. Where the file is Latin-1: iconv -f ISO-8859-1 -t UTF-8 FILE > NEW-FILE',
  ],
  [
    'Windows-1252 with a dash of its own',
    Buffer.from('a \x96 b', 'latin1'),
    'is not UTF-8: line 1 is the first with a wrong byte. Where the file is Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE',
  ],
  [
    'UTF-8 but for one line of Latin-1',
    Buffer.concat([Buffer.from(TEXT), Buffer.from('{"a":"ofício"}\n', 'latin1')]),
    'is UTF-8 in some lines and not in others: line 4 has a wrong byte. Mend these lines alone, because an iconv of the whole file spoils each accent of the others for good',
  ],
  [
    'Latin-1 with a file of UTF-8 behind them',
    Buffer.concat([Buffer.from(`${TEXT}${TEXT}`, 'latin1'), Buffer.from(TEXT)]),
    'is UTF-8 in some lines and not in others: lines 2, 3, 5, 6 have wrong bytes. Mend these lines alone, because an iconv of the whole file spoils each accent of the others for good',
  ],
  [
    'UTF-8 and many lines of Latin-1',
    Buffer.concat([Buffer.from('ç\n'), Buffer.from('ç\n'.repeat(11), 'latin1')]),
    'is UTF-8 in some lines and not in others: 11 lines have wrong bytes (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …). Mend these lines alone, because an iconv of the whole file spoils each accent of the others for good',
  ],
  ['UTF-16 with a byte order mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), wide('UTF-16')],
  ['UTF-16 of the other byte order', bigEndian(`\ufeff${TEXT}`), wide('UTF-16')],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le'), wide('UTF-16LE')],
  ['UTF-16 of the other byte order without a mark', bigEndian(TEXT), wide('UTF-16BE')],
  ['UTF-32 with a byte order mark', utf32(`\ufeff${TEXT}`), wide('UTF-32')],
  ['UTF-32 of the other byte order', utf32(`\ufeff${TEXT}`).swap32(), wide('UTF-32')],
  ['UTF-32 without a mark', utf32(TEXT), wide('UTF-32LE')],
  ['UTF-32 of the other byte order without a mark', utf32(TEXT).swap32(), wide('UTF-32BE')],
  ['gzip', gzipSync(TEXT), 'is a gzip file, and a command reads its text: gzip -dc FILE > NEW-FILE'],
  [
    'a spreadsheet',
    Buffer.from('PK\x03\x04\x14\0', 'latin1'),
    'is a ZIP file or a spreadsheet, and a command reads text: unpack it, or save the sheet as text in UTF-8',
  ],
];

const fileOf = (bytes: Buffer | string): string => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, bytes);
  return file;
};

describe.each(WRONG)('a file in another form than UTF-8: %s', (_name, bytes, problem) => {
  it.each(['invoice import', 'company put', 'catalog import', 'registry put'])(
    'is refused by nfse %s in one line',
    async (command) => {
      const file = fileOf(bytes);
      const err: string[] = [];
      const terminal = { out: unused, err: (text: string) => void err.push(text) };
      expect(await runCommand([...command.split(' '), file], commands, unused, terminal)).toBe(2);
      expect(err).toEqual([`${file} ${problem}`]);
    },
  );
});

it('takes a file with a byte order mark as one without', async () => {
  expect(await readJsonFile(fileOf('\ufeff{"a":"ç"}'))).toEqual({ value: { a: 'ç' } });
  expect(await readOperatorText(fileOf(`\ufeff${TEXT}`))).toEqual({ text: TEXT });
  expect(await readOperatorText(fileOf(''))).toEqual({ text: '' });
});

it('takes no stray NUL for a character of UTF-16', async () => {
  for (const text of ['\0', '\0{"a":"b"}', '{\0"a":"b"}', '\0\0{"a":"b"}'])
    expect(await readOperatorText(fileOf(text))).toEqual({ text });
});

import { isAscii, isUtf8 } from 'node:buffer';

/** The text of a person's file, or in `problem` the rest of a sentence about the file. Bytes of another encoding would lose each accent for good. */
export const utf8Text = (bytes: Buffer): { text: string } | { problem: string } => {
  const form = FORMS.find(({ begins }) => begins.some((mark) => bytes.subarray(0, mark.length).equals(mark)));
  if (form !== undefined) return { problem: form.problem };
  const wide = wideEncoding(bytes);
  if (wide !== undefined) return { problem: inEncoding(wide) };
  if (!isUtf8(bytes)) return { problem: notUtf8(bytes) };
  return { text: bytes.toString('utf8').replace(/^\ufeff/, '') };
};

/** With a byte order mark `iconv` finds the byte order itself, and takes the mark away. */
const inEncoding = (encoding: string): string =>
  `is ${encoding}, and a command reads UTF-8: iconv -f ${encoding} -t UTF-8 FILE > NEW-FILE`;

/** The mark of UTF-32 begins with that of UTF-16. */
const FORMS: readonly { begins: readonly Buffer[]; problem: string }[] = [
  { begins: [Buffer.from([0xff, 0xfe, 0, 0]), Buffer.from([0, 0, 0xfe, 0xff])], problem: inEncoding('UTF-32') },
  { begins: [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])], problem: inEncoding('UTF-16') },
  {
    begins: [Buffer.from([0x1f, 0x8b])],
    problem: 'is a gzip file, and a command reads its text: gzip -dc FILE > NEW-FILE',
  },
  {
    begins: [Buffer.from('PK\x03\x04', 'latin1')],
    problem: 'is a ZIP file or a spreadsheet, and a command reads text: unpack it, or save the sheet as text in UTF-8',
  },
];

/** The encoding of a text of wide characters without a byte order mark. Its first two characters are ASCII, so all their other bytes are NUL. */
const wideEncoding = (bytes: Buffer): string | undefined =>
  WIDE.find(({ width, place }) => {
    const [first, second] = [bytes.subarray(0, width), bytes.subarray(width, 2 * width)];
    return [first, second].every(
      (character) => character.length === width && character.every((byte, at) => (byte !== 0) === (at === place)),
    );
  })?.encoding;

/** `place`: of the byte that holds the ASCII character. */
const WIDE: readonly { encoding: string; width: number; place: number }[] = [
  { encoding: 'UTF-32LE', width: 4, place: 0 },
  { encoding: 'UTF-32BE', width: 4, place: 3 },
  { encoding: 'UTF-16LE', width: 2, place: 0 },
  { encoding: 'UTF-16BE', width: 2, place: 1 },
];

const LINE_FEED = 0x0a;

/** Bytes of 0x80 to 0x9f are quotation marks and dashes in Windows-1252, and control characters in Latin-1. */
const notUtf8 = (bytes: Buffer): string => {
  const { wrong, first, isMixed } = linesOf(bytes);
  if (isMixed) return `is UTF-8 in some lines and not in others: ${named(wrong)}. ${CONVERT_THOSE}`;
  const isWindows = first.some((byte) => byte >= 0x80 && byte < 0xa0);
  const encoding = isWindows ? 'WINDOWS-1252' : 'ISO-8859-1';
  return `is not UTF-8: line ${wrong[0]} is the first with a wrong byte. Where the file is ${isWindows ? 'Windows-1252' : 'Latin-1'}: iconv -f ${encoding} -t UTF-8 FILE > NEW-FILE`;
};

const CONVERT_THOSE =
  'Mend these lines alone, because an iconv of the whole file spoils each accent of the others for good';

const FIRST = 10;

const named = (wrong: readonly number[]): string => {
  if (wrong.length === 1) return `line ${wrong.join()} has a wrong byte`;
  const numbers = wrong.slice(0, FIRST).join(', ');
  return wrong.length > FIRST
    ? `${wrong.length} lines have wrong bytes (${numbers}, …)`
    : `lines ${numbers} have wrong bytes`;
};

/** The lines with a wrong byte, the first of them, and whether others are UTF-8 beyond ASCII. No character of UTF-8 holds the byte of a line feed. */
const linesOf = (bytes: Buffer): { wrong: readonly number[]; first: Buffer; isMixed: boolean } => {
  const wrong: number[] = [];
  let first = bytes;
  let isMixed = false;
  for (let number = 1, start = 0; start < bytes.length; number++) {
    const end = bytes.indexOf(LINE_FEED, start);
    const line = bytes.subarray(start, end === -1 ? bytes.length : end);
    if (!isUtf8(line)) {
      if (wrong.length === 0) first = line;
      wrong.push(number);
    } else isMixed ||= !isAscii(line);
    start += line.length + 1;
  }
  return { wrong, first, isMixed };
};

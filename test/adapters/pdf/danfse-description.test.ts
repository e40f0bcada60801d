import { describe, expect, it } from 'vitest';
import { layoutOf } from '../../../src/adapters/pdf/layout.js';
import { fullXml } from './support/full-note.js';
import { alteredXml, noteOf } from './support/notes.js';

const TITLE = 'Descrição do Serviço';
const CANHOTO = 'IDENTIFICAÇÃO E ASSINATURA';

/** A note with few blocks, so that most of the page is empty. */
const shortNote = (description: string): Buffer => alteredXml('reform', ['Desenvolvimento de sistemas', description]);

/** A note with every block and 1,500 characters of complement. */
const fullNote = (description: string): Buffer =>
  Buffer.from(
    fullXml({ added: 1500 })
      .toString('utf8')
      .replace(/<xDescServ>[^<]*</, () => `<xDescServ>${description}<`),
  );

/** The description as printed: line by line, an empty string for each empty line; and whether the canhoto is there. */
const printed = (xml: Buffer): { lines: readonly string[]; canhoto: boolean } => {
  const { texts } = layoutOf(noteOf(xml), false);
  const title = texts.findIndex(({ text }) => text === TITLE);
  const end = texts.findIndex(({ text }) => text === 'TRIBUTAÇÃO MUNICIPAL (ISSQN)');
  const shown = texts.slice(title + 1, end);
  const first = shown[0]?.top ?? 0;
  const lines: string[] = [];
  for (const { text, top } of shown) {
    const at = Math.round((top - first) / LINE);
    while (lines.length < at) lines.push('');
    lines.push(text);
  }
  return { lines, canhoto: texts.some(({ text }) => text === CANHOTO) };
};

/** Centimetres from one line of 7 points to the next. */
const LINE = 0.2759;

/** Between two items of a list that would need too many lines. */
const GAP = ` ${'\u00A0'.repeat(5)} `;

const items = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `${index + 1}. item`);

describe('the line breaks of a description', () => {
  it('are all kept where the page has room, with the empty line between the paragraphs', () => {
    const lines = ['Serviços de novembro:', '', ...items(12)];
    expect(printed(shortNote(lines.join('\n')))).toEqual({ lines, canhoto: true });
  });

  it.each(['\r\n', '\r'])('are kept whatever the line end: %j', (lineEnd) => {
    const lines = ['Serviços:', '', ...items(13)];
    expect(printed(shortNote(lines.join(lineEnd))).lines).toEqual(lines);
  });

  it('are one empty line where the text has several, and none at its ends', () => {
    expect(printed(shortNote('\n\nUm\n\n\n \n\nDois\nTrês\n\n')).lines).toEqual(['Um', '', 'Dois', 'Três']);
  });

  it.each([
    ['few blocks', shortNote, 16, 31],
    ['every block and a complement', fullNote, 4, 8],
  ])('are kept without empty lines where these would displace the canhoto: %s', (_name, note, spaced, broken) => {
    const shown = (count: number) => printed(note(items(count).join('\n\n')));
    expect(shown(spaced)).toEqual({ lines: items(spaced).join('\n\n').split('\n'), canhoto: true });
    for (const count of [spaced + 1, broken]) expect(shown(count)).toEqual({ lines: items(count), canhoto: true });
  });

  it.each([
    ['few blocks', shortNote, 32, 36],
    ['every block and a complement', fullNote, 9, 13],
  ])('displace the canhoto, but cut no text: %s', (_name, note, first, last) => {
    for (const count of [first, last]) {
      expect(printed(note(items(count).join('\n')))).toEqual({ lines: items(count), canhoto: false });
    }
    const spread = printed(note(items(last + 1).join('\n\n')));
    expect(spread.lines.join(' ').replaceAll(GAP, ' ')).toBe(items(last + 1).join(' '));
    expect(spread.lines[0]).toMatch(`1. item${GAP}2. item${GAP}3. item`);
    expect(spread.canhoto).toBe(true);
  });

  it('are wide gaps, none of them at an end of a line', () => {
    const long = Array.from({ length: 14 }, (_, index) => `${index} ${'i'.repeat(130)}`);
    const shown = printed(fullNote(long.join('\n')));
    for (const line of shown.lines) expect(line).toBe(line.trim());
    expect(shown.lines.join(' ').replaceAll(GAP, ' ')).toBe(long.join(' '));
    expect(shown.lines.some((line) => line.includes(GAP))).toBe(true);
  });

  it('are single spaces where the gaps would have a text cut', () => {
    const short = Array.from({ length: 560 }, () => 'ab');
    const shown = printed(fullNote(short.join('\n')));
    expect(shown.lines.join(' ')).toBe(short.join(' '));
  });
});

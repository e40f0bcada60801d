import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderDanfse } from '../../../src/adapters/pdf/danfse.js';
import { layoutOf } from '../../../src/adapters/pdf/layout.js';
import { CONTENT, LOWEST_TEXT } from '../../../src/adapters/pdf/page.js';
import { describeWith } from '../../support/needs.js';
import { marks, noteOf } from './support/notes.js';
import { infoOf, lettersOf, wordsOf } from './support/poppler.js';
import { anyNoteXml } from './support/random-notes.js';

type Box = { left: number; top: number; right: number; bottom: number };

/** Rounding of the PDF and of its reader, in centimetres. */
const SLACK = 0.008;

const overlap = (one: Box, other: Box): boolean =>
  Math.min(one.right, other.right) - Math.max(one.left, other.left) > SLACK &&
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > SLACK;

/** The line with the distance that texts keep from it. */
const lineBox = ({ x1, y1, x2, y2 }: { x1: number; y1: number; x2: number; y2: number }): Box => ({
  left: x1 - SLACK,
  top: y1 - SLACK,
  right: x2 + SLACK,
  bottom: y2 + SLACK,
});

/** Where the QR code is. */
const QR: Box = { left: 17.48, top: 1.67, right: 19.07, bottom: 3.26 };

const isOutside = ({ left, top, right, bottom }: Box): boolean =>
  left < CONTENT.left || right > CONTENT.right || top < 0.29 || bottom > LOWEST_TEXT + 0.05;

describeWith('poppler', 'a page with whatever texts a note may hold', () => {
  it('is one page, on which no text touches another, a line, the code or the border', {
    timeout: 300_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyNoteXml, async (xml) => {
        const note = noteOf(Buffer.from(xml, 'utf8'));
        const pdf = await renderDanfse(note, marks());
        expect(infoOf(pdf, 'Pages')).toBe('1');
        const words = wordsOf(pdf).filter(({ text }) => text !== '');
        const lines = layoutOf(note, false).rules.map(lineBox);
        const clashes = words.flatMap((word, index) => [
          ...words
            .slice(index + 1)
            .filter((other) => overlap(word, other))
            .map((other) => [word, other]),
          ...[...lines, QR].filter((line) => overlap(word, line)).map((line) => [word, line]),
        ]);
        expect(clashes).toEqual([]);
        expect(words.filter(isOutside)).toEqual([]);
        expect(lettersOf(pdf)).toContain('TotaisAproximadosdosTributoscfe.Leinº12.741/2012:Federais:R$');
      }),
      { numRuns: 20 },
    );
  });
});

describe('the arrangement of whatever texts a note may hold', () => {
  it('ends above the border, with the totals of taxes and some of each long text', () => {
    fc.assert(
      fc.property(anyNoteXml, (xml) => {
        const { texts, fills } = layoutOf(noteOf(Buffer.from(xml, 'utf8')), false);
        expect(Math.max(...texts.map(({ top }) => top))).toBeLessThan(LOWEST_TEXT - 0.2);
        expect(Math.max(...fills.map(({ top, height }) => top + height))).toBeLessThan(LOWEST_TEXT);
        expect(texts.filter(({ text }) => text.startsWith('Totais Aproximados dos Tributos'))).toHaveLength(1);
        const described = texts.find(({ text }) => text === 'Descrição do Serviço');
        expect(texts.some(({ top, left }) => left === described?.left && top > described.top + 0.2)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

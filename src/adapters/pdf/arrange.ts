import { approximateTaxes, writtenOn } from './blocks/complement.js';
import { federal } from './blocks/federal.js';
import { LABEL, LABEL_GAP, type Placed, placeBlocks, ruleAbove, TITLE } from './blocks/grid.js';
import { header } from './blocks/header.js';
import { ibsCbs } from './blocks/ibs-cbs.js';
import { identification, qrCaption } from './blocks/identification.js';
import { issqn } from './blocks/issqn.js';
import { cutLongText, LINE, linesOf, placeLines } from './blocks/long-text.js';
import { parties } from './blocks/parties.js';
import { RECEIPT_TOP, receipt } from './blocks/receipt.js';
import { service } from './blocks/service.js';
import { totals } from './blocks/totals.js';
import { ABSENT } from './format.js';
import type { Note } from './note.js';
import { CONTENT, INSET, LOWEST } from './page.js';
import { joined, type Sheet, sheetOf } from './sheet.js';

/**
 * Places everything that a note says on one page. What blocks without content leave free goes to the description, so
 * that the taxes stand where the table of NT 008 has them; a description that needs more moves them down (2.3.1). The
 * canhoto is there while it takes no room from a text. Only then are the two long texts cut, and values of several lines
 * only where these would leave them next to nothing.
 */
export const arranged = (note: Note, simulated: boolean): Sheet => {
  const texts = longTexts(note);
  const wide = blocksOf(note, Number.POSITIVE_INFINITY);
  const least = texts.taxes.length + Math.min(texts.added.length, 4);
  const blocks = roomOf(wide.below(1), LOWEST) >= least ? wide : blocksOf(note, 1);

  const { described, added, taxes } = texts;
  const roomy = blocks.below(described.length);
  const wanted = added.length + taxes.length;
  const withReceipt = wanted <= roomOf(roomy, RECEIPT_TOP);
  const excess = Math.max(0, wanted - roomOf(roomy, LOWEST));
  const kept = described.length - cutOfDescription(described.length, added.length, excess);
  const lower = blocks.below(kept);
  const complement = [...fitting(note.complement, added, roomOf(lower, LOWEST) - taxes.length), ...taxes];

  return joined([
    header(note, simulated),
    sheetOf({ texts: qrCaption() }),
    blocks.upper.sheet,
    descriptionOf(cutLongText(described, kept), blocks.upper.shift),
    lower.sheet,
    complementOf(complement, lower.shift),
    ...(withReceipt ? [receipt(note)] : []),
  ]);
};

/** The lines of the texts that take what room there is; `taxes` is never cut (NT 008, 2.4.5). */
const longTexts = (note: Note) => {
  return {
    described: linesOf(note.service.xDescServ ?? ABSENT, 1300),
    added: complementLines(note.complement, COMPLEMENT.size),
    taxes: linesOf(approximateTaxes(note.complement.approximateTaxes), 300),
  };
};

const complementLines = (written: Note['complement'], size: number): readonly string[] => {
  const text = writtenOn(written, size);
  return text === '' ? [] : linesOf(text, size);
};

/** The lines of the complement if there is room for them, else those of a text that much shorter. */
const fitting = (written: Note['complement'], lines: readonly string[], room: number): readonly string[] => {
  let shown = lines;
  for (let size = COMPLEMENT.size; shown.length > room && size > LEAST_SIZE; size = Math.floor(size * 0.95)) {
    shown = complementLines(written, size);
  }
  return cutLongText(shown, room);
};

/** Characters; a complement of less is cut at its end, whatever stands there. */
const LEAST_SIZE = 100;

/** The blocks above the description, and those below it for a description of so many lines. */
const blocksOf = (note: Note, most: number): { upper: Placed; below(lines: number): Placed } => {
  const upper = placeBlocks([identification(note), ...parties(note), service(note)], 0, most);
  return { upper, below: (lines) => placeBlocks(lowerBlocks(note), shiftBelow(upper.shift, lines), most) };
};

const lowerBlocks = (note: Note) => [issqn(note), federal(note), ibsCbs(note), totals(note)];

/** Tops in the table of NT 008, in centimetres; `size` in characters. */
const DESCRIPTION = { top: 13.79, height: 0.64 };
const ISSQN_TOP = 14.43;
const COMPLEMENT = { top: 22.27, titleHeight: 0.39, text: 22.7, size: 2000 };

/** From a label of 6 points to the text below it. */
const TEXT_GAP = 0.275;

/** How far the description pushes what follows below its place in the table; never above it. */
const shiftBelow = (shift: number, lines: number): number => {
  const top = DESCRIPTION.top + shift;
  const bottom = top + Math.max(DESCRIPTION.height, TEXT_GAP + lines * LINE + 0.05);
  return Math.max(0, bottom - ISSQN_TOP);
};

/** Lines of the complement above `bottom`; negative when it would begin too far below. */
const roomOf = ({ shift }: Placed, bottom: number): number => Math.floor((bottom - COMPLEMENT.text - shift) / LINE);

/** Lines that the description gives when there are too many: what room there is goes to both, half to each at least. */
const cutOfDescription = (description: number, complement: number, excess: number): number => {
  const total = description + complement - excess;
  return Math.max(0, description - Math.max(total - complement, Math.ceil(total / 2), 1));
};

const descriptionOf = (lines: readonly string[], shift: number): Sheet => {
  const top = DESCRIPTION.top + shift;
  return sheetOf({
    texts: [
      { left: CONTENT.left + INSET, top: top + LABEL_GAP, text: 'Descrição do Serviço', style: LABEL },
      ...placeLines(lines, top + TEXT_GAP),
    ],
  });
};

const complementOf = (lines: readonly string[], shift: number): Sheet => {
  const top = COMPLEMENT.top + shift;
  return joined([
    ruleAbove(top),
    {
      fills: [{ ...CONTENT, top, height: COMPLEMENT.titleHeight }],
      rules: [],
      texts: [
        { left: CONTENT.left + INSET, top: top + LABEL_GAP, text: 'INFORMAÇÕES COMPLEMENTARES', style: TITLE },
        ...placeLines(lines, COMPLEMENT.text + shift),
      ],
    },
  ]);
};

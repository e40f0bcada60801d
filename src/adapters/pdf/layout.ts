import {
  approximateTaxes,
  arrangementsOf,
  complementText,
  cutLongText,
  LINE,
  layOutLines,
  linesOf,
  RECEIPT_TOP,
  receipt,
} from './blocks/complement.js';
import { LABEL, LABEL_GAP, type LaidOut, layOutBlocks, ruleAbove, TITLE } from './blocks/grid.js';
import { header, identification, qrCaption } from './blocks/header.js';
import { parties } from './blocks/parties.js';
import { federal, ibsCbs, issqn, service, totals } from './blocks/service-and-taxes.js';
import { ABSENT, lengthOf } from './format.js';
import type { Note } from './note.js';
import { CONTENT, INSET, joinLayouts, type Layout, LOWEST_TEXT, layoutWith } from './page.js';

/**
 * The layout of a note on one page. The description takes the room that blocks without content leave, so that the taxes keep their place in the
 * table of NT 008; a longer description moves them down, and a complement that needs more room moves them up (NT 008, 2.3.1). The receipt (`canhoto`)
 * is left out before either.
 * Other values are cut to one line only when they would leave these texts next to no room. The line of the taxes is never cut (NT 008, 2.4.5).
 */
export const layoutOf = (note: Note, simulated: boolean): Layout => {
  const added = complementLines(note.complement, MAX_COMPLEMENT);
  const taxes = linesOf(approximateTaxes(note.complement.approximateTaxes), 300);
  const wide = blocksOf(note, Number.POSITIVE_INFINITY);
  const least = taxes.length + Math.min(added.length, 4);
  const blocks = roomOf(wide.below(1, 0), LOWEST_TEXT) >= least ? wide : blocksOf(note, 1);

  const wanted = added.length + taxes.length;
  const { described, roomy } = arranged(note.service.xDescServ ?? ABSENT, blocks, wanted);
  const withReceipt = wanted <= roomOf(roomy, RECEIPT_TOP);
  const excess = Math.max(0, wanted - roomOf(roomy, LOWEST_TEXT));
  const kept = described.length - cutOfDescription(described.length, added.length, excess);
  const lower = kept === described.length ? roomy : blocks.below(kept, Number.POSITIVE_INFINITY);
  const complement = [...fitting(note.complement, added, roomOf(lower, LOWEST_TEXT) - taxes.length), ...taxes];

  return joinLayouts([
    header(note, simulated),
    layoutWith({ texts: qrCaption() }),
    blocks.upper.layout,
    descriptionOf(cutLongText(described, kept), blocks.upper.shift),
    lower.layout,
    complementOf(complement, lower.shift),
    ...(withReceipt ? [receipt(note)] : []),
  ]);
};

/**
 * The lines of the description and the blocks below, which leave `wanted` lines for the other long texts where the page has the room. The
 * description keeps its empty lines where the canhoto keeps its place, and its line breaks, or wide gaps instead, where no text is cut. The
 * description is printed whole as long as the page has room: the 1,300 characters of the table are no limit since NT 008 v1.02, 2.1.
 */
const arranged = (text: string, blocks: Blocks, wanted: number): { described: readonly string[]; roomy: LaidOut } => {
  const above = (described: readonly string[]) => {
    const usual = blocks.below(described.length, 0);
    const lacking = wanted - roomOf(usual, LOWEST_TEXT);
    const canRise = lacking > 0 && shiftBelow(blocks.upper.shift, described.length) < 0;
    return { described, roomy: canRise ? blocks.below(described.length, heightOf(lacking)) : usual };
  };
  const { spaced, broken, spread, running } = arrangementsOf(text, MAX_DESCRIPTION);
  const attempts = [
    { lines: spaced, bottom: RECEIPT_TOP },
    { lines: broken, bottom: LOWEST_TEXT },
    { lines: spread, bottom: LOWEST_TEXT },
  ];
  for (const { lines, bottom } of attempts) {
    const placed = lines === undefined ? undefined : above(lines());
    if (placed !== undefined && wanted <= roomOf(placed.roomy, bottom)) return placed;
  }
  return above(running());
};

/** Characters that the national layout allows (TSDesc2000). */
const MAX_DESCRIPTION = 2000;

/** Characters, more than the emptiest page holds. The 2,000 of the table are no limit since NT 008 v1.02, 2.1. */
const MAX_COMPLEMENT = 10_000;

const complementLines = (written: Note['complement'], size: number): readonly string[] => {
  const text = complementText(written, size);
  return text === '' ? [] : linesOf(text, size);
};

/** The lines of the complement. Where they exceed the room, the text is shortened by 5 % at a time, down to `LEAST_SIZE` characters. */
const fitting = (written: Note['complement'], lines: readonly string[], room: number): readonly string[] => {
  if (lines.length <= room) return lines;
  let shown = lines;
  for (
    let size = lengthOf(complementText(written, MAX_COMPLEMENT));
    shown.length > room && size > LEAST_SIZE;
    size = Math.floor(size * 0.95)
  ) {
    shown = complementLines(written, size);
  }
  return cutLongText(shown, room);
};

/** Characters. A complement that still exceeds the room is cut at its end, whatever part that is. */
const LEAST_SIZE = 100;

/** The blocks above the description, and those below a description of `lines` lines, at most `raised` centimetres above their places in the table. */
type Blocks = { upper: LaidOut; below(lines: number, raised: number): LaidOut };

/** No value takes more than `most` lines. */
const blocksOf = (note: Note, most: number): Blocks => {
  const upper = layOutBlocks([identification(note), ...parties(note), service(note)], 0, most);
  const lower = [issqn(note), federal(note), ibsCbs(note), totals(note)];
  return {
    upper,
    below: (lines, raised) => layOutBlocks(lower, Math.max(-raised, shiftBelow(upper.shift, lines)), most),
  };
};

/** Tops in the table of NT 008, in centimetres. */
const DESCRIPTION = { top: 13.79, height: 0.64 };
const ISSQN_TOP = 14.43;
const COMPLEMENT = { top: 22.27, titleHeight: 0.39, text: 22.7 };

/** From a label of 6 points to the text below it. */
const TEXT_GAP = 0.275;

/** Centimetres by which the blocks below the description move down when they follow it at once; negative where they could move up. */
const shiftBelow = (shift: number, lines: number): number => {
  const top = DESCRIPTION.top + shift;
  const bottom = top + Math.max(DESCRIPTION.height, TEXT_GAP + lines * LINE + 0.05);
  return bottom - ISSQN_TOP;
};

/** Centimetres that `lines` lines take, and a hair more, because `roomOf` rounds down. */
const heightOf = (lines: number): number => lines * LINE + 0.001;

/** Lines between the top of the complement and `bottom`; negative when the complement would begin below `bottom`. */
const roomOf = ({ shift }: LaidOut, bottom: number): number => Math.floor((bottom - COMPLEMENT.text - shift) / LINE);

/** Lines to cut from the description when both texts exceed the room by `excess` lines. Each text keeps half of the room, or all that it needs. */
const cutOfDescription = (description: number, complement: number, excess: number): number => {
  const total = description + complement - excess;
  return Math.max(0, description - Math.max(total - complement, Math.ceil(total / 2), 1));
};

const descriptionOf = (lines: readonly string[], shift: number): Layout => {
  const top = DESCRIPTION.top + shift;
  return layoutWith({
    texts: [
      { left: CONTENT.left + INSET, top: top + LABEL_GAP, text: 'Descrição do Serviço', style: LABEL },
      ...layOutLines(lines, top + TEXT_GAP),
    ],
  });
};

const complementOf = (lines: readonly string[], shift: number): Layout => {
  const top = COMPLEMENT.top + shift;
  return joinLayouts([
    ruleAbove(top),
    {
      fills: [{ ...CONTENT, top, height: COMPLEMENT.titleHeight }],
      rules: [],
      texts: [
        { left: CONTENT.left + INSET, top: top + LABEL_GAP, text: 'INFORMAÇÕES COMPLEMENTARES', style: TITLE },
        ...layOutLines(lines, COMPLEMENT.text + shift),
      ],
    },
  ]);
};

import { money, shortened } from '../format.js';
import {
  type Box,
  CONTENT,
  centered,
  centimetres,
  INSET,
  joinLayouts,
  type Layout,
  layoutWith,
  points,
  RIGHT_INSET,
  type TextLine,
} from '../page.js';
import { cutToLines, lineHeight, type TextStyle, wrapped } from '../text-width.js';

/** Sizes of NT 008, 2.4: titles of blocks, labels of fields, contents. */
export const TITLE: TextStyle = { size: 7, bold: true };
export const LABEL: TextStyle = { size: 6, bold: true };
export const TEXT: TextStyle = { size: 7 };

type Column = 1 | 2 | 3 | 4;

/** Part of a row: a label with its value below, or a title alone. */
export type Cell = { column: Column; span: Column; label?: string; style: TextStyle; value?: string; shaded: boolean };

/** `top` and `height` in centimetres, as the table of NT 008, 2.4.5, has them for a note with every block in full. */
export type Row = { top: number; height: number; cells: readonly Cell[] };

export const row = (top: number, height: number, cells: readonly Cell[]): Row => ({ top, height, cells });

/**
 * `end` is the top of the next block in the table. `instead` replaces all rows by one line (NT 008, 2.3.1, 2.3.2). `missing` is the height of the
 * table's rows that this note lacks, in centimetres.
 */
export type Block = { top: number; end: number; rows: readonly Row[]; instead?: string; missing?: number };

/** A laid-out part of the page; the next block begins `shift` centimetres below its place in the table, above it if negative. */
export type LaidOut = { layout: Layout; shift: number };

/** A label with its value below in one paragraph, cut to `size` characters (column "Tam. do Campo" of NT 008). */
export const field = (column: Column, label: string, value: string, size: number, span: Column = 1): Cell => ({
  column,
  span,
  label,
  style: LABEL,
  value: shortened(oneParagraph(value), size),
  shaded: false,
});

/** A field for an amount of the XML or a sum of amounts. */
export const amount = (column: Column, label: string, decimal: string | undefined): Cell =>
  field(column, label, money(decimal), AMOUNT_SIZE);

/** Characters of the largest sum of amounts of the schema (15 digits before the comma): an amount is never cut. */
export const AMOUNT_SIZE = 27;

/** As `field`, with the larger label of the identification and of the totals; `shaded` puts it on grey (NT 008, 2.2.3). */
export const strongField = (
  column: Column,
  label: string,
  value: string,
  size: number,
  { span = 1, shaded = false }: { span?: Column; shaded?: boolean } = {},
): Cell => ({ ...field(column, label, value, size, span), style: TITLE, shaded });

/** Title of a block, on grey. */
export const titleCell = (label: string): Cell => ({ column: 1, span: 1, label, style: TITLE, shaded: true });

/** A value without a label. */
export const valueCell = (value: string, size: number): Cell => ({
  column: 1,
  span: 4,
  style: LABEL,
  value: shortened(oneParagraph(value), size),
  shaded: false,
});

/** Places blocks below each other. A row grows by the lines that its longest value takes beyond the first; a value takes at most `most` lines. */
export const layOutBlocks = (blocks: readonly Block[], shift: number, most: number): LaidOut => {
  const layouts: Layout[] = [];
  let moved = shift;
  for (const block of blocks) {
    const laidOut = layOutBlock(block, moved, most);
    layouts.push(laidOut.layout);
    moved = laidOut.shift;
  }
  return { layout: joinLayouts(layouts), shift: moved };
};

/** The line above a block. */
export const ruleAbove = (y: number): Layout =>
  layoutWith({ rules: [{ x1: CONTENT.left, y1: y, x2: CONTENT.right, y2: y }] });

/** Lines of text below each other, the first line box at `box.top`. A line that ends in a space is continued by the next one. */
export const paragraph = (lines: readonly string[], box: Pick<Box, 'left' | 'top'>, style: TextStyle): TextLine[] =>
  lines.map((text, index) => ({
    left: box.left,
    top: box.top + index * centimetres(lineHeight(style)),
    text: text.trimEnd(),
    style,
    ...(text.endsWith(' ') ? { continues: true } : {}),
  }));

/** Points that a line of text may take in a box of `width` centimetres. */
export const roomIn = (width: number): number => points(width - INSET - RIGHT_INSET);

/** The text with every run of white space and control characters as one space; control characters would show as boxes. */
export const oneParagraph = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

/** Centimetres from the top of a box to its label, and to the value below a label of either size. */
export const LABEL_GAP = 0.02;
const VALUE_GAP = { label: 0.275, title: 0.3 };

const layOutBlock = (block: Block, shift: number, most: number): LaidOut => {
  const top = block.top + shift;
  if (block.instead !== undefined) {
    const text = centered(block.instead, { ...CONTENT, top: top + REPLACEMENT.gap }, TEXT);
    const layout = joinLayouts([ruleAbove(top), layoutWith({ texts: [text] })]);
    return { layout, shift: shift + REPLACEMENT.height - (block.end - block.top) };
  }
  const layouts = [ruleAbove(top)];
  let moved = shift;
  for (const row of block.rows) {
    const grown = growth(row, most);
    layouts.push(
      ...row.cells.map((cell) => layOutCell(cell, { top: row.top + moved, height: row.height + grown }, most)),
    );
    moved += grown;
  }
  return { layout: joinLayouts(layouts), shift: moved - (block.missing ?? 0) };
};

/** 0.32 cm is the least that NT 008 allows (2.4.5, notes 2 to 4). */
const REPLACEMENT = { height: 0.33, gap: 0.03 };

const growth = (row: Row, most: number): number =>
  Math.max(0, ...row.cells.map((cell) => linesOf(cell, most).length - 1)) * centimetres(lineHeight(TEXT));

const linesOf = ({ value, span }: Cell, most: number): readonly string[] => {
  const room = roomIn(WIDTHS[span]);
  return value === undefined ? [] : cutToLines(wrapped(value, room, TEXT), most, room, TEXT);
};

const layOutCell = (cell: Cell, { top, height }: Pick<Box, 'top' | 'height'>, most: number): Layout => {
  const box = { left: LEFTS[cell.column], top, width: WIDTHS[cell.span], height };
  const left = box.left + INSET;
  const valueGap = cell.label === undefined ? LABEL_GAP : VALUE_GAP[cell.style === TITLE ? 'title' : 'label'];
  return {
    fills: cell.shaded ? [box] : [],
    rules: [],
    texts: [
      ...paragraph(cell.label === undefined ? [] : [cell.label], { left, top: top + LABEL_GAP }, cell.style),
      ...paragraph(linesOf(cell, most), { left, top: top + valueGap }, TEXT),
    ],
  };
};

const LEFTS: { readonly [column in Column]: number } = { 1: 0.3, 2: 5.41, 3: 10.51, 4: 15.62 };

const WIDTHS: { readonly [span in Column]: number } = { 1: 5.09, 2: 10.19, 3: 15.3, 4: 20.4 };

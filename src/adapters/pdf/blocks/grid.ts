import type { Content, ContentTable, CustomTableLayout, TableCell } from 'pdfmake/interfaces.js';
import { shortened } from '../format.js';

/** A cell of a row of four columns. */
export type Cell = { span: number; content: TableCell };

/** A label with its value below in one paragraph, cut to `size` characters. */
export const field = (label: string, value: string, size: number, span = 1): Cell =>
  cell([{ text: label, style: 'label' }, shortened(unbroken(value), size)], span);

/** As `field`, with the larger label of the identification and of the totals; `shaded` as NT 008, 2.2.3. */
export const strongField = (label: string, value: string, size: number, span = 1, shaded = false): Cell =>
  cell([{ text: label, style: 'title' }, shortened(unbroken(value), size)], span, shaded);

/** Title of a block, on grey. */
export const titleCell = (text: string, span = 1): Cell => cell([{ text, style: 'title' }], span, true);

/** Any content across `span` columns. */
export const cell = (stack: Content[], span = 1, shaded = false): Cell => ({
  span,
  content: shaded ? { stack, fillColor: GREY_5 } : { stack },
});

/** A block with a line above it; each row must fill the four columns. */
export const block = (...rows: readonly (readonly Cell[])[]): ContentTable => ({
  table: { widths: Array.from({ length: COLUMNS }, () => COLUMN_WIDTH), body: rows.map(tableRow) },
  layout: blockLayout,
});

/** A block of which only one line is left (NT 008, 2.3.1 and 2.3.2). */
export const replacementLine = (text: string): ContentTable =>
  block([cell([{ text, style: 'title', alignment: 'center' }], COLUMNS)]);

/** Names and addresses may hold line breaks, which would push the page's end away. */
const unbroken = (value: string): string => value.replace(/\s+/g, ' ');

export const COLUMNS = 4;

/** Points. The page's 21 cm less 0.3 cm on each side. */
export const CONTENT_WIDTH = 578.27;

const PADDING = 2;

const COLUMN_WIDTH = CONTENT_WIDTH / COLUMNS - 2 * PADDING;

const GREY_5 = '#F2F2F2';

const blockLayout: CustomTableLayout = {
  hLineWidth: (line) => (line === 0 ? 0.5 : 0),
  vLineWidth: () => 0,
  paddingLeft: () => PADDING,
  paddingRight: () => PADDING,
  paddingTop: () => 1.2,
  paddingBottom: () => 1.2,
};

// The table wants one entry per column: a cell that spans leaves empty ones behind it.
const tableRow = (cells: readonly Cell[]): TableCell[] =>
  cells.flatMap(({ span, content }) => [
    span === 1 ? content : { ...(content as object), colSpan: span },
    ...Array.from({ length: span - 1 }, () => ({})),
  ]) as TableCell[];

import { type Html, html } from './html.js';

export type Cell = Html | string | number;

/**
 * A table whose rows become blocks on a narrow screen, each cell under its column's name. `empty` stands in its place when there
 * are no rows. The first cell of a row is its head.
 */
export const table = (
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty = 'Nothing.',
): Html => {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const cellOf = (cell: Cell, index: number): Html =>
    index === 0
      ? html`<th scope="row" role="rowheader" data-label="${columns[index]}"><div>${cell}</div></th>`
      : html`<td role="cell" data-label="${columns[index]}"><div>${cell}</div></td>`;
  return html`<div class="table">
<table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th scope="col" role="columnheader">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) => html`<tr role="row">${row.map(cellOf)}</tr>
`,
  )}</tbody>
</table>
</div>`;
};

/** Names and values of one thing. */
export const facts = (pairs: readonly (readonly [string, Cell])[]): Html =>
  html`<dl class="facts">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

import { html } from 'hono/html';
import { epochMs, type Instant } from '../../domain/common/time.js';

/** A piece of a page. Templates escape every value except pieces made by a template. */
export type Html = ReturnType<typeof html>;

/** An empty piece. */
export const none: Html = html``;

/** `2026-11-21 12:00:05 UTC`. Never local time, because support compares it with other logs. */
export const timeOf = (at: Instant | undefined): Html =>
  at === undefined || at === ''
    ? html`–`
    : html`<time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time>`;

export const secondsBetween = (from: Instant, to: Instant): number => (epochMs(to) - epochMs(from)) / 1000;

/** `R$ 1.250,50`. */
export const reais = (cents: number): string =>
  `R$ ${Math.floor(cents / 100)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, '.')},${String(cents % 100).padStart(2, '0')}`;

type Tone = 'good' | 'bad' | 'wait' | 'plain';

/** The word carries the meaning; the tone only repeats it in colour. */
export const badge = (word: string, tone: Tone): Html => html`<span class="badge ${tone}">${word}</span>`;

const TONES: Readonly<Record<string, Tone>> = {
  issued: 'good',
  failed: 'bad',
  indeterminate: 'bad',
  queued: 'wait',
  processing: 'wait',
};

export const statusBadge = (status: string): Html => badge(status, TONES[status] ?? 'plain');

type Cell = Html | string | number;

/**
 * A table whose rows become blocks on a narrow screen, each cell below the name of its column. The first cell of a row is its heading. `empty` is
 * shown instead when there are no rows.
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

/** A list of names and values. */
export const facts = (pairs: readonly (readonly [string, Cell])[]): Html =>
  html`<dl class="facts">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

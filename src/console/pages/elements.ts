import { html } from 'hono/html';
import { brasiliaClock, epochMs, type Instant } from '../../domain/common/time.js';
import { ageText } from '../../lib/age-text.js';
import { visibleCharacters } from '../../lib/printable.js';
import type { Say } from '../language.js';

/** A piece of a page. Templates escape every value except pieces made by a template. */
export type Html = ReturnType<typeof html>;

/** An empty piece. */
export const none: Html = html``;

/** What the pieces of a page need to know: the language, the time, the names of the companies by CNPJ, and which rows are late. */
export type Shown = {
  say: Say;
  now: Instant;
  names: ReadonlyMap<string, string>;
  /** The projections whose rows do not hold what the log says. */
  behind: readonly string[];
};

/** `21/11/2026 09:00:05.123` by the clock of Brasília; in English `2026-11-21 09:00:05.123`. */
export const clockText = ({ say }: Pick<Shown, 'say'>, at: Instant): string => {
  const text = brasiliaClock(at);
  const [year, month, day] = text.slice(0, 10).split('-');
  return say(`${day}/${month}/${year}${text.slice(10)}`, text);
};

/** How long ago, or how long until. */
export const ageOf = ({ say, now }: Pick<Shown, 'say' | 'now'>, at: Instant): string => {
  const seconds = secondsBetween(at, now);
  const text = ageText(Math.abs(seconds));
  return seconds < 0 ? say(`em ${text}`, `in ${text}`) : say(`há ${text}`, `${text} ago`);
};

/** The clock of Brasília to the millisecond, and the age. The instant in UTC, which other logs have, is in the tooltip. */
export const timeOf = (shown: Shown, at: Instant | undefined): Html =>
  at === undefined || at === ''
    ? html`–`
    : html`<time datetime="${at}" title="${at}">${clockText(shown, at)}</time> <span class="age">${ageOf(shown, at)}</span>`;

const secondsBetween = (from: Instant, to: Instant): number => (epochMs(to) - epochMs(from)) / 1000;

/** `R$ 1.250,50`. */
export const reais = (cents: number): string =>
  `R$ ${Math.floor(cents / 100)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, '.')},${String(cents % 100).padStart(2, '0')}`;

/** An id or a CNPJ, which a person compares as one word. A narrow screen alone breaks it. */
export const whole = (text: string): Html => html`<span class="mono whole">${text}</span>`;

/** The name of a company within a sentence; empty when it is not known. */
export const nameOf = ({ names }: Pick<Shown, 'names'>, cnpj: string): string =>
  visibleCharacters(names.get(cnpj) ?? '');

/** The name of a company above its CNPJ. */
export const companyOf = ({ names }: Pick<Shown, 'names'>, cnpj: string | undefined): Html => {
  if (cnpj === undefined) return html`–`;
  const name = nameOf({ names }, cnpj);
  return name === '' ? whole(cnpj) : html`<span class="company">${name}</span>${whole(cnpj)}`;
};

/** A text that is copied often, with a button that the page's script makes visible. */
export const copied = ({ say }: Pick<Shown, 'say'>, text: string, what: string): Html =>
  html`<span class="mono">${text}</span> <button type="button" class="copy" data-copy="${text}" data-done="${say('Copiado', 'Copied')}" aria-label="${say('Copiar', 'Copy')} ${what}" hidden>${say('Copiar', 'Copy')}</button>`;

type Tone = 'good' | 'bad' | 'wait' | 'plain';

/** The word carries the meaning; the tone only repeats it in colour. */
export const badge = (word: string, tone: Tone): Html => html`<span class="badge ${tone}">${word}</span>`;

/** Each status with its tone and its word in Portuguese; English shows the word of the API. */
const STATUSES: Readonly<Record<string, readonly [Tone, string]>> = {
  queued: ['wait', 'na fila'],
  processing: ['wait', 'em processamento'],
  issued: ['good', 'emitida'],
  failed: ['bad', 'falhou'],
  indeterminate: ['bad', 'indeterminada'],
  canceled: ['plain', 'cancelada'],
  pending: ['wait', 'pendente'],
  succeeded: ['good', 'concluído'],
  valid: ['plain', 'válida'],
};

export const statusText = ({ say }: Pick<Shown, 'say'>, status: string): string =>
  say(STATUSES[status]?.[1] ?? status, status);

export const statusBadge = (shown: Pick<Shown, 'say'>, status: string): Html =>
  badge(statusText(shown, status), STATUSES[status]?.[0] ?? 'plain');

export const modeText = ({ say }: Pick<Shown, 'say'>, mode: string | undefined): string =>
  mode === 'live' ? say('produção (live)', 'live') : mode === 'test' ? say('teste', 'test') : '–';

type Cell = Html | string | number;

const shownCell = (cell: Cell): Cell => (typeof cell === 'string' ? visibleCharacters(cell) : cell);

/**
 * A table whose rows become blocks on a narrow screen, each cell below the name of its column. The first cell of a row is its heading. `empty` is
 * shown instead when there are no rows.
 */
export const table = (
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  empty: string,
): Html => {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const cellOf = (cell: Cell, index: number): Html =>
    index === 0
      ? html`<th scope="row" role="rowheader" data-label="${columns[index]}"><div>${shownCell(cell)}</div></th>`
      : html`<td role="cell" data-label="${columns[index]}"><div>${shownCell(cell)}</div></td>`;
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

/** The text of an empty list. Rows that are behind the log lack events, so that their absence proves nothing. */
export const emptyText = ({ say, behind }: Pick<Shown, 'say' | 'behind'>, reads: string, text: string): string =>
  behind.includes(reads) ? say('Não se sabe ainda.', 'Not known yet.') : text;

/** A list of names and values. */
export const facts = (pairs: readonly (readonly [string, Cell])[]): Html =>
  html`<dl class="facts">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${shownCell(value)}</dd></div>`)}</dl>`;

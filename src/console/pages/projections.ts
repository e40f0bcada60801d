import type { ProjectionLine, RebuildRun } from '../deps.js';
import { ageText, badge } from './format.js';
import { type Html, html } from './html.js';
import { form, type Notice, operatorField, type PageContext, page, ROOT } from './layout.js';
import { table } from './table.js';

const REFRESH_SECONDS = 3;

export type ProjectionRow = ProjectionLine & { run: RebuildRun | undefined };

export const projectionsPage = (context: PageContext, rows: readonly ProjectionRow[], notice?: Notice): Html => {
  const isMoving = rows.some(({ rebuilding, run }) => rebuilding?.running === true || run?.state === 'running');
  return page(
    context,
    { title: 'Projections', notice, ...(isMoving ? { refreshSeconds: REFRESH_SECONDS } : {}) },
    form(
      context,
      `${ROOT}/projections/rebuild`,
      html`<p>A rebuild makes the rows anew beside those that are read, then swaps. The service goes on.${isMoving ? ' This page reloads itself meanwhile.' : ''}</p>
${operatorField(context, 'rebuild-operator')}
${table('Rows that are read', ['Projection', 'Behind the log', 'Version', 'Generation', 'Rebuild', 'Anew'], rows.map(rowOf))}`,
    ),
  );
};

const rowOf = (row: ProjectionRow) => {
  const { name, version, generation, lagSeconds } = row;
  return [
    ...[name, ageText(lagSeconds), version, generation, progressOf(row)],
    html`<button name="projection" value="${name}" aria-label="Rebuild ${name}">Rebuild</button>`,
  ];
};

const progressOf = ({ name, rebuilding, run }: ProjectionRow): Html => {
  if (rebuilding !== undefined) {
    const percent = Math.floor(rebuilding.progress * 100);
    const word = rebuilding.running ? badge('running', 'wait') : badge('interrupted', 'bad');
    return html`${word} <progress max="100" value="${percent}" aria-label="Rebuild of ${name}">${percent} %</progress> ${percent} %`;
  }
  if (run === undefined) return html`–`;
  const words = { running: badge('running', 'wait'), done: badge('done', 'good'), refused: badge('refused', 'bad') };
  return html`${words[run.state]} ${run.detail}`;
};

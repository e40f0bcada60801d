import type { CheckHealth, RoleHealth, WaitingWork } from '../deps.js';
import { ageText, badge } from './format.js';
import { type Html, html } from './html.js';
import { type PageContext, page, ROOT } from './layout.js';
import { searchForm } from './search.js';
import { table } from './table.js';

export type OverviewFacts = {
  roles: readonly RoleHealth[];
  checks: readonly CheckHealth[];
  waiting: readonly WaitingWork[];
  indeterminate: number;
  parked: number;
  /** Companies whose certificate has fewer than 30 days left, or is over. */
  certificates: number;
};

export const overviewPage = (context: PageContext, facts: OverviewFacts): Html =>
  page(
    context,
    { title: 'Overview' },
    html`<section aria-labelledby="find"><h2 id="find">Find an invoice</h2>${searchForm(context)}</section>
<section aria-labelledby="attention"><h2 id="attention">Waits for you</h2>${attention(facts)}</section>
<section aria-labelledby="roles"><h2 id="roles">Roles</h2>${rolesTable(facts.roles)}</section>
<section aria-labelledby="work"><h2 id="work">Work without an outcome</h2>${waitingTable(facts.waiting)}</section>
<section aria-labelledby="process"><h2 id="process">This process</h2>${checksTable(facts.checks)}</section>`,
  );

const attention = ({ indeterminate, parked, certificates }: OverviewFacts): Html => {
  const lines: readonly (readonly [number, string, string, string])[] = [
    [indeterminate, 'indeterminate', 'indeterminate invoice', 'indeterminate invoices'],
    [parked, 'parked', 'parked work item', 'parked work items'],
    [certificates, 'certificates', 'certificate near its end', 'certificates near their end'],
  ];
  return html`<ul class="tiles">${lines.map(
    ([count, place, one, many]) =>
      html`<li class="${count === 0 ? 'calm' : 'alert'}"><a href="${ROOT}/${place}"><span class="count">${count}</span> ${count === 1 ? one : many}</a></li>`,
  )}</ul>`;
};

const WORDS = { ok: badge('well', 'good'), bad: badge('look here', 'bad'), elsewhere: badge('other process', 'plain') };

const rolesTable = (roles: readonly RoleHealth[]): Html =>
  table(
    'Health and lag of each role',
    ['Role', 'State', 'Runs here', 'What is seen'],
    roles.map(({ role, here, health, detail }) => [role, WORDS[health], here ? 'yes' : 'no', detail]),
  );

const waitingTable = (waiting: readonly WaitingWork[]): Html =>
  table(
    'Open work by mode',
    ['What', 'Mode', 'Count', 'Oldest for'],
    waiting.map(({ what, mode, count, oldestSeconds }) => [what, mode, count, ageText(oldestSeconds)]),
    'Nothing is open.',
  );

const checksTable = (checks: readonly CheckHealth[]): Html =>
  table(
    'Checks of /health/ready',
    ['Check', 'State', 'Reason'],
    checks.map(({ name, ok, detail }) => [
      name.replaceAll('_', ' '),
      ok ? badge('ok', 'good') : badge('failed', 'bad'),
      detail === '' ? '–' : detail,
    ]),
  );

import { html } from 'hono/html';
import type { StoppedSeries } from '../../app/operator/support/stopped-series.js';
import { parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import { daysLeft, expiryWarning } from '../../domain/company/certificate-expiry.js';
import { ageText } from '../../lib/age-text.js';
import type { CertificateRefusal } from '../../ports/certificate-refusals.js';
import type { SupportRow } from '../../ports/support-reads.js';
import type { ParkedWork } from '../../ports/work-queue.js';
import type { CheckHealth, ProjectionLine, RebuildRun, RoleHealth, WaitingWork } from '../deps.js';
import { badge, type Html, secondsBetween, table, timeOf } from './elements.js';
import { form, type Notice, operatorField, type PageContext, page, ROOT } from './layout.js';
import { searchForm } from './search.js';

export const indeterminatePage = (
  context: PageContext,
  { count, oldest, now }: { count: number; oldest: readonly SupportRow[]; now: Instant },
): Html =>
  page(
    context,
    { title: 'Indeterminate invoices' },
    html`<p>The outcome of these invoices is unknown. Settle each with evidence, on its page.${count > oldest.length ? html` The oldest ${oldest.length} of ${count}:` : ''}</p>
${table(
  'Oldest first',
  ['Invoice', 'Waits for', 'Company', 'Mode', 'Attempts', 'Created'],
  oldest.map((row) => indeterminateRow(row, now)),
  'No invoice waits for support.',
)}`,
  );

const indeterminateRow = ({ stream, createdAt, state }: SupportRow, now: Instant) => {
  const address = parseInvoiceStream(stream);
  const id = publicInvoiceId(address?.invoiceId ?? '');
  const outcome = state.kind === 'invoice' ? state.outcome : undefined;
  const since = outcome?.status === 'indeterminate' ? outcome.failedAt : createdAt;
  return [
    html`<a href="${ROOT}/invoices/${id}#settle">${id}</a>`,
    ageText(secondsBetween(since, now)),
    address?.companyId ?? '–',
    address?.mode ?? '–',
    state.kind === 'invoice' ? state.attempts.length : 0,
    timeOf(createdAt),
  ];
};

export const cancellationsPage = (
  context: PageContext,
  { count, oldest, now }: { count: number; oldest: readonly SupportRow[]; now: Instant },
): Html =>
  page(
    context,
    { title: 'Failed cancellations' },
    html`<p>Live cancellations that failed: the client cannot ask again. Look at each note in the national portal, then settle it on its page.${count > oldest.length ? html` The oldest ${oldest.length} of ${count}:` : ''}</p>
${table(
  'Oldest request first',
  ['Invoice', 'Waits for', 'Company', 'Result', 'Requested'],
  oldest.map((row) => cancellationRow(row, now)),
  'No failed cancellation waits for support.',
)}`,
  );

const cancellationRow = ({ stream, createdAt, state }: SupportRow, now: Instant) => {
  const address = parseInvoiceStream(stream);
  const id = publicInvoiceId(address?.invoiceId ?? '');
  const cancellation = state.kind === 'invoice' ? state.cancellation : undefined;
  const [since, codes] = [cancellation?.requestedAt ?? createdAt, cancellation?.codes ?? []];
  return [
    html`<a href="${ROOT}/invoices/${id}#settle">${id}</a>`,
    ageText(secondsBetween(since, now)),
    address?.companyId ?? '–',
    codes.length === 0 ? badge('without confirmation', 'bad') : html`${badge('refused', 'bad')} ${codes.join(' ')}`,
    timeOf(since),
  ];
};

export const parkedPage = (context: PageContext, parked: readonly ParkedWork[], notice?: Notice): Html =>
  page(
    context,
    { title: 'Parked work', notice },
    parked.length === 0
      ? html`<p class="empty">Nothing is parked.</p>`
      : form(
          context,
          `${ROOT}/parked/retry`,
          html`<p>Work items that failed many times. Timers still end their invoices; trying again does no harm.</p>
${operatorField(context, 'parked-operator')}
${table(
  'Parked, oldest first',
  ['Invoice', 'Work', 'Parked', 'Reason', 'Again'],
  parked.map(({ stream, kind, parkedAt, reason }) => {
    const address = parseInvoiceStream(stream);
    const id = address === undefined ? undefined : publicInvoiceId(address.invoiceId);
    const named = id ?? stream;
    return [
      id === undefined ? stream : html`<a href="${ROOT}/invoices/${id}">${id}</a>`,
      kind,
      timeOf(parkedAt),
      reason,
      html`<button name="stream" value="${stream}" aria-label="Try ${kind} of ${named} again">Try again</button>`,
    ];
  }),
)}
<p><button name="stream" value="all" class="quiet">Try all of them again</button></p>`,
        ),
  );

export type CertificateLine = { cnpj: string; enabled: boolean; notAfter: Instant | undefined };

/** Sorted by days left; companies without a certificate come first. */
export const certificatesPage = (
  context: PageContext,
  { lines, refused }: { lines: readonly CertificateLine[]; refused: readonly CertificateRefusal[] },
  now: Instant,
): Html =>
  page(
    context,
    { title: 'Certificates' },
    html`${refusedList(refused)}${table(
      'By days left',
      ['Company', 'State', 'Days left', 'Ends', 'API'],
      [...lines]
        .sort((a, b) => ((a.notAfter ?? '') < (b.notAfter ?? '') ? -1 : 1))
        .map(({ cnpj, enabled, notAfter }) => [
          cnpj,
          stateOf(notAfter, now),
          notAfter === undefined ? '–' : daysLeft(notAfter, now),
          timeOf(notAfter),
          enabled ? 'enabled' : 'disabled',
        ]),
      'No company is registered.',
    )}`,
  );

/** The sends of these companies are held back until the authorizer takes their certificate, or another one is stored. */
const refusedList = (refused: readonly CertificateRefusal[]): Html =>
  refused.length === 0
    ? html``
    : html`<ul>${refused.map(
        ({ companyId, mode, since, reason }) =>
          html`<li>${badge('refused', 'bad')} The authorizer refuses the certificate of CNPJ ${companyId} in ${mode} mode since ${timeOf(since)} (${reason}). Its invoices wait: store another certificate.</li>`,
      )}</ul>`;

const stateOf = (notAfter: Instant | undefined, now: Instant): Html => {
  if (notAfter === undefined) return badge('none on file', 'wait');
  const warning = expiryWarning(notAfter, now);
  if (warning === undefined) return badge('good', 'good');
  return warning.kind === 'expired' ? badge('expired', 'bad') : badge(`ends within ${warning.withinDays} d`, 'wait');
};

const REFRESH_SECONDS = 3;

type ProjectionRow = ProjectionLine & { run: RebuildRun | undefined };

export const projectionsPage = (context: PageContext, rows: readonly ProjectionRow[], notice?: Notice): Html => {
  const isMoving = rows.some(({ rebuilding, run }) => rebuilding?.running === true || run?.state === 'running');
  return page(
    context,
    { title: 'Projections', notice, ...(isMoving ? { refreshSeconds: REFRESH_SECONDS } : {}) },
    form(
      context,
      `${ROOT}/projections/rebuild`,
      html`<p>A rebuild builds fresh rows beside the live ones, then swaps. The service keeps running.${isMoving ? ' This page reloads itself meanwhile.' : ''}</p>
${operatorField(context, 'rebuild-operator')}
${table('Live rows', ['Projection', 'Behind the log', 'Version', 'Generation', 'State of a rebuild', 'Rebuild'], rows.map(rowOf))}`,
    ),
  );
};

const rowOf = (row: ProjectionRow) => {
  const { name, version, generation, lagSeconds } = row;
  return [
    name,
    ageText(lagSeconds),
    version,
    generation,
    progressOf(row),
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

type OverviewFacts = {
  roles: readonly RoleHealth[];
  checks: readonly CheckHealth[];
  waiting: readonly WaitingWork[];
  indeterminate: number;
  /** Failed live cancellations that support has not settled or closed. */
  cancellations: number;
  stopped: readonly StoppedSeries[];
  parked: number;
  /** Companies whose certificate has fewer than 30 days left or has expired. */
  certificates: number;
  refused: readonly CertificateRefusal[];
};

export const overviewPage = (context: PageContext, facts: OverviewFacts): Html =>
  page(
    context,
    { title: 'Overview' },
    html`<section aria-labelledby="find"><h2 id="find">Find an invoice</h2>${searchForm(context)}</section>
<section aria-labelledby="attention"><h2 id="attention">Waits for you</h2>${attention(facts)}${refusedList(facts.refused)}${stoppedList(facts.stopped)}</section>
<section aria-labelledby="roles"><h2 id="roles">Roles</h2>${rolesTable(facts.roles)}</section>
<section aria-labelledby="work"><h2 id="work">Work without an outcome</h2>${waitingTable(facts.waiting)}</section>
<section aria-labelledby="process"><h2 id="process">This process</h2>${checksTable(facts.checks)}</section>`,
  );

const stoppedList = (stopped: readonly StoppedSeries[]): Html =>
  stopped.length === 0
    ? html``
    : html`<ul>${stopped.map(
        ({ companyId, mode, series, since }) =>
          html`<li>${badge('stopped', 'bad')} Series ${series} of CNPJ ${companyId} in ${mode} mode sends nothing since ${timeOf(since)}: a note that is not ours has one of its numbers. Put a company file with a later number.</li>`,
      )}</ul>`;

const attention = ({ indeterminate, cancellations, parked, certificates }: OverviewFacts): Html => {
  const lines: readonly (readonly [number, string, string, string])[] = [
    [indeterminate, 'indeterminate', 'indeterminate invoice', 'indeterminate invoices'],
    [cancellations, 'cancellations', 'failed cancellation', 'failed cancellations'],
    [parked, 'parked', 'parked work item', 'parked work items'],
    [certificates, 'certificates', 'certificate near its end', 'certificates near their end'],
  ];
  return html`<ul class="tiles">${lines.map(
    ([count, path, one, many]) =>
      html`<li class="${count === 0 ? 'calm' : 'alert'}"><a href="${ROOT}/${path}"><span class="count">${count}</span> ${count === 1 ? one : many}</a></li>`,
  )}</ul>`;
};

const WORDS = { ok: badge('ok', 'good'), bad: badge('problem', 'bad'), elsewhere: badge('other process', 'plain') };

const rolesTable = (roles: readonly RoleHealth[]): Html =>
  table(
    'Health and lag of each role',
    ['Role', 'State', 'Runs here', 'Details'],
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

import type { InvoiceCase, PersonalLine } from '../../app/support/invoice-case.js';
import { shortActor } from '../../app/support/timeline.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { invoiceStatus } from '../../domain/invoice/view.js';
import { publicInvoiceId } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import { ageText, reais, secondsBetween, statusBadge, timeOf } from './format.js';
import { type Html, html, none } from './html.js';
import { form, type Notice, operatorField, type PageContext, page, ROOT } from './layout.js';
import { settleForm, type TypedSettlement } from './settle-form.js';
import { facts, table } from './table.js';

export type InvoicePage = {
  case: InvoiceCase;
  now: Instant;
  notice?: Notice | undefined;
  /** Shown once, after the look was put on record. */
  personal?: readonly PersonalLine[];
  /** What was typed into a settlement that was refused. */
  typed?: TypedSettlement;
};

export const invoicePage = (context: PageContext, shown: InvoicePage): Html => {
  const { address, state, story } = shown.case;
  const id = publicInvoiceId(address.invoiceId);
  const invoice = state.kind === 'invoice' ? state : undefined;
  return page(
    context,
    { title: `Invoice ${id}`, notice: shown.notice },
    html`<section aria-labelledby="facts"><h2 id="facts">Facts</h2>${summary(shown)}</section>
${invoice === undefined ? none : settleForm(context, id, invoice, shown.typed)}
<section aria-labelledby="timeline"><h2 id="timeline">Timeline</h2>
${table(
  'What happened, oldest first',
  ['When', 'Event', 'Who', 'Evidence', 'Request id'],
  story.map(({ at, event, who, evidence, request_id }) => [
    ...[timeOf(at), event, shortActor(who), html`<span class="mono">${evidence}</span>`],
    html`<span class="mono">${request_id}</span>`,
  ]),
)}</section>
${invoice === undefined ? none : attempts(invoice)}
${lookups(shown)}
${invoice === undefined ? none : personal(context, id, shown.personal)}`,
  );
};

const summary = ({ case: { address, state, stream }, now }: InvoicePage): Html => {
  const owner = [
    ['Company', address.companyId],
    ['Mode', address.mode],
  ] as const;
  if (state.kind !== 'invoice')
    return facts([['State', state.kind.replaceAll('_', ' ')], ...owner, ['Stream', stream]]);
  const { facts: known, outcome, cancellation } = state;
  const ended = outcome.status === 'indeterminate' || outcome.status === 'failed' ? outcome.failedAt : undefined;
  const since = outcome.status === 'indeterminate' ? (ended ?? known.createdAt) : undefined;
  return facts([
    [
      'Status',
      since === undefined
        ? statusBadge(invoiceStatus(state))
        : html`${statusBadge(invoiceStatus(state))} for ${ageText(secondsBetween(since, now))}`,
    ],
    ...owner,
    ['Amount', reais(known.amountInCents)],
    ['Reference', known.reference ?? '–'],
    ['Created', timeOf(known.createdAt)],
    ...(outcome.status === 'issued'
      ? ([
          ['Issued', timeOf(outcome.issuedAt)],
          ['Number', outcome.nfseNumber ?? '–'],
          ['Access key', html`<span class="mono">${outcome.accessKey ?? '–'}</span>`],
        ] as const)
      : []),
    ...(ended === undefined ? [] : ([['Ended', timeOf(ended)]] as const)),
    ...(cancellation === undefined ? [] : ([['Cancellation', cancellation.status]] as const)),
    ['Stream', html`<span class="mono">${stream}</span>`],
  ]);
};

const attempts = ({ attempts: sends, cancellation }: Invoice): Html => {
  const rows = [
    ...sends.map((one) => ({ what: `issue ${one.attempt}`, id: one.dpsId, ...one })),
    ...(cancellation?.sends ?? []).map((one) => ({ what: `cancel ${one.attempt}`, id: one.requestId, ...one })),
  ];
  return html`<section aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>${table(
    'What was sent to the authorizer',
    ['Attempt', 'Outcome', 'Codes', 'Sent', 'Answered', 'DPS or request id'],
    rows.map(({ what, resolution, codes, attemptedAt, answeredAt, id }) => [
      ...[what, resolution.replaceAll('_', ' '), codes.length === 0 ? '–' : codes.join(' ')],
      ...[timeOf(attemptedAt), timeOf(answeredAt)],
      html`<span class="mono">${id}</span>`,
    ]),
    'Nothing was sent.',
  )}</section>`;
};

const lookups = ({ case: { lookups: asked } }: InvoicePage): Html =>
  asked.length === 0
    ? none
    : html`<section aria-labelledby="lookups"><h2 id="lookups">Look-ups</h2>${table(
        'Look-ups that have not settled anything yet',
        ['Of', 'Asked', 'Last', 'First "not there"'],
        asked.map(({ work, asked: times, lastAskedAt, firstAbsentAt }) => [
          ...[html`<span class="mono">${work}</span>`, times, timeOf(lastAskedAt), timeOf(firstAbsentAt)],
        ]),
      )}</section>`;

const personal = (context: PageContext, id: string, lines: readonly PersonalLine[] | undefined): Html =>
  html`<section aria-labelledby="personal"><h2 id="personal">Customer and texts</h2>${
    lines === undefined
      ? form(
          context,
          `${ROOT}/invoices/${id}/reveal`,
          html`<p>Customer, descriptions and the authorizer's own words are sealed. Looking at them goes on record.</p>
${operatorField(context, 'reveal-operator')}<p><button class="quiet">Show them</button></p>`,
        )
      : lines.length === 0
        ? html`<p class="empty">There are none, or their key was destroyed.</p>`
        : facts(lines.map(({ name, value }) => [name, value]))
  }</section>`;

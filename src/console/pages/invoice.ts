import { html } from 'hono/html';
import type { SettleAs } from '../../app/operator/settlement/settle-invoice.js';
import type { InvoiceCase, PersonalLine } from '../../app/operator/support/invoice-case.js';
import { shortActor } from '../../app/operator/support/invoice-case.js';
import { publicInvoiceId } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import { cannotBeCanceled, isCancellationFailed } from '../../domain/invoice/settle.js';
import type { CanceledElsewhere, Invoice } from '../../domain/invoice/state.js';
import { invoiceStatus } from '../../domain/invoice/status.js';
import { ageText } from '../../lib/age-text.js';
import { facts, type Html, none, reais, secondsBetween, statusBadge, table, timeOf } from './elements.js';
import { form, type Notice, operatorField, type PageContext, page, ROOT } from './layout.js';

type InvoicePage = {
  case: InvoiceCase;
  now: Instant;
  notice?: Notice | undefined;
  /** Shown once, after the look was recorded. */
  personal?: readonly PersonalLine[];
  /** Input of a settlement that was refused. */
  typed?: TypedSettlement;
};

export const invoicePage = (context: PageContext, shown: InvoicePage): Html => {
  const { address, state, timeline } = shown.case;
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
  timeline.map(({ at, event, who, evidence, request_id }) => [
    timeOf(at),
    event,
    shortActor(who),
    html`<span class="mono">${evidence}</span>`,
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
  const { facts: known, outcome, cancellation, canceledElsewhere } = state;
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
    ...elsewhere(canceledElsewhere),
    ['Stream', html`<span class="mono">${stream}</span>`],
  ]);
};

const elsewhere = (event: CanceledElsewhere | undefined): readonly (readonly [string, Html | string])[] => {
  if (event === undefined) return [];
  const { eventType, canceledAt, replacedBy } = event;
  return [
    ['Canceled elsewhere', html`event ${eventType}, ${timeOf(canceledAt)}`],
    ...(replacedBy === undefined ? [] : ([['Replaced by', html`<span class="mono">${replacedBy}</span>`]] as const)),
  ];
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
      what,
      resolution.replaceAll('_', ' '),
      codes.length === 0 ? '–' : codes.join(' '),
      timeOf(attemptedAt),
      timeOf(answeredAt),
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
          html`<span class="mono">${work}</span>`,
          times,
          timeOf(lastAskedAt),
          timeOf(firstAbsentAt),
        ]),
      )}</section>`;

const personal = (context: PageContext, id: string, lines: readonly PersonalLine[] | undefined): Html =>
  html`<section aria-labelledby="personal"><h2 id="personal">Customer and texts</h2>${
    lines === undefined
      ? form(
          context,
          `${ROOT}/invoices/${id}/reveal`,
          html`<p>Customer, descriptions and the authorizer's own words are sealed. Each look is recorded.</p>
${operatorField(context, 'reveal-operator')}<p><button class="quiet">Show them</button></p>`,
        )
      : lines.length === 0
        ? html`<p class="empty">There are none, or their key was destroyed.</p>`
        : facts(lines.map(({ name, value }) => [name, value]))
  }</section>`;

type TypedSettlement = { as: string; accessKey: string; evidence: string };

const MEANINGS: Readonly<Record<SettleAs, string>> = {
  issued: 'Issued: the document is looked up at the authorizer, and its digest compared.',
  failed: 'Failed: proven absent by two look-ups, 24 hours or more after the last attempt.',
  valid: 'Valid: the note stays, because the authorizer shows no event for it. The failed cancellation waits no more.',
  canceled:
    'Canceled: an event that cancels or replaces the note is looked up at the authorizer. Without one nothing changes.',
};

/** What support may settle an invoice as; empty when there is nothing to settle. */
export const settleOptions = (invoice: Invoice): readonly SettleAs[] => {
  if (invoice.outcome.status === 'indeterminate') return ['issued', 'failed'];
  if (cannotBeCanceled(invoice) !== undefined) return [];
  return isCancellationFailed(invoice) && invoice.cancellation?.closedAt === undefined
    ? ['canceled', 'valid']
    : ['canceled'];
};

const settleForm = (
  context: PageContext,
  id: string,
  invoice: Invoice,
  typed: TypedSettlement = { as: '', accessKey: '', evidence: '' },
): Html => {
  const options = settleOptions(invoice);
  if (options.length === 0) return none;
  return html`<section class="act" aria-labelledby="settle"><h2 id="settle">Settle</h2>${form(
    context,
    `${ROOT}/invoices/${id}/settle`,
    html`<fieldset><legend>As</legend>${options.map(
      (as) =>
        html`<p class="choice"><input type="radio" id="as-${as}" name="as" value="${as}" required${as === typed.as ? html` checked` : none}>
<label for="as-${as}">${MEANINGS[as]}</label></p>`,
    )}</fieldset>
${
  options.includes('issued')
    ? html`<p class="field wide"><label for="access_key">Access key, if you know it (issued only)</label>
<input id="access_key" name="access_key" maxlength="50" value="${typed.accessKey}" autocomplete="off" spellcheck="false"></p>`
    : none
}
<p class="field wide"><label for="evidence">Evidence: what this rests on, in your words</label>
<textarea id="evidence" name="evidence" rows="3" required maxlength="2000">${typed.evidence}</textarea></p>
${operatorField(context, 'settle-operator')}
<p><button>Settle</button> <span class="hint">The authorizer is asked in every case; a statement alone is never recorded.</span></p>`,
  )}</section>`;
};

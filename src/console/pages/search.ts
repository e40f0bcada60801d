import { html } from 'hono/html';
import {
  SEARCH_KINDS,
  type SearchKind,
  type SearchQuery,
  type SearchResult,
} from '../../app/operator/support/search.js';
import { parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import { invoiceStatus } from '../../domain/invoice/status.js';
import type { SupportRow } from '../../ports/support-reads.js';
import { type Html, none, reais, statusBadge, table, timeOf } from './elements.js';
import { form, operatorField, type PageContext, page, ROOT } from './layout.js';

const KIND_NAMES: Readonly<Record<SearchKind, string>> = {
  id: 'Invoice id',
  reference: 'Reference',
  'access-key': 'Access key',
  'dps-id': 'DPS id',
  document: 'Customer document (CPF, CNPJ, tax id)',
};

/** A POST form, because the browser would keep a document in the history of addresses. */
export const searchForm = (context: PageContext): Html =>
  form(
    context,
    `${ROOT}/search`,
    html`<div class="fields">
<p class="field wide"><label for="text">Id, reference, access key, DPS id or customer document</label>
<input id="text" name="text" required maxlength="200" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="by">Look for</label>
<select id="by" name="by"><option value="">What it looks like</option>${SEARCH_KINDS.map((kind) => html`<option value="${kind}">${KIND_NAMES[kind]}</option>`)}</select></p>
<p class="field"><label for="company">Only of company (CNPJ)</label>
<input id="company" name="company" maxlength="18" autocomplete="off"></p>
${operatorField(context, 'search-operator')}
</div>
<p><button>Search</button> <span class="hint">A search by customer document is recorded with your name.</span></p>`,
  );

/** Lists contain ids and states only, nothing of a customer. */
const invoicesTable = (caption: string, rows: readonly SupportRow[], empty: string): Html =>
  table(
    caption,
    ['Invoice', 'Status', 'Company', 'Mode', 'Amount', 'Reference', 'Created'],
    rows.map(({ stream, createdAt, state }) => {
      const address = parseInvoiceStream(stream);
      const id = publicInvoiceId(address?.invoiceId ?? '');
      const invoice = state.kind === 'invoice' ? state : undefined;
      return [
        html`<a href="${ROOT}/invoices/${id}">${id}</a>`,
        invoice === undefined ? '–' : statusBadge(invoiceStatus(invoice)),
        address?.companyId ?? '–',
        address?.mode ?? '–',
        invoice === undefined ? '–' : reais(invoice.facts.amountInCents),
        invoice?.facts.reference ?? '–',
        timeOf(createdAt),
      ];
    }),
    empty,
  );

export const resultsPage = (context: PageContext, query: SearchQuery, result: SearchResult): Html =>
  page(
    context,
    { title: 'Search' },
    html`<p>By ${KIND_NAMES[query.kind].toLowerCase()}: ${result.found.length === 1 ? '1 invoice' : html`${result.found.length} invoices`}${scanned(query, result)}.</p>
${invoicesTable('Invoices found', result.found, 'Nothing found.')}
${result.next === undefined ? none : olderForm(context, query, result.next)}
<section aria-labelledby="again"><h2 id="again">Search again</h2>${searchForm(context)}</section>`,
  );

const scanned = ({ kind, before }: SearchQuery, { lookedAt }: SearchResult): Html =>
  kind === 'document'
    ? html` among ${lookedAt}${before === undefined ? ' newest' : html` older than ${timeOf(before.createdAt)}`}`
    : none;

const olderForm = (
  context: PageContext,
  { text, companyId }: SearchQuery,
  next: NonNullable<SearchResult['next']>,
): Html =>
  form(
    context,
    `${ROOT}/search`,
    html`<input type="hidden" name="text" value="${text}"><input type="hidden" name="by" value="document">
<input type="hidden" name="company" value="${companyId ?? ''}"><input type="hidden" name="operator" value="${context.operator.name}">
<input type="hidden" name="created_at" value="${next.createdAt}"><input type="hidden" name="stream" value="${next.stream}">
<p><button>Search older invoices</button></p>`,
  );

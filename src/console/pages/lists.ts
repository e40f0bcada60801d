import { html } from 'hono/html';
import { modes, parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import { contentMet } from '../../domain/invoice/note-met.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { invoiceStatus, invoiceStatuses } from '../../domain/invoice/status.js';
import { visibleCharacters } from '../../lib/printable.js';
import type { SupportRow } from '../../ports/support-reads.js';
import {
  badge,
  companyOf,
  emptyText,
  type Html,
  modeText,
  none,
  reais,
  statusBadge,
  statusText,
  table,
  timeOf,
} from './elements.js';
import { invoiceLink, type PageContext, page, ROOT } from './layout.js';

/** A row with the sentences that its client got: of the invoice and of its cancellation. */
export type ShownInvoice = SupportRow & { sentences: readonly string[] };

/** What a list is narrowed to, as typed; empty where nothing was. */
export type TypedFilter = { status: string; company: string; mode: string; since: string; until: string };

/** Lists contain ids, states and the sentences that clients got, nothing of a customer. */
export const invoicesTable = (
  context: PageContext,
  caption: string,
  rows: readonly ShownInvoice[],
  empty: string,
): Html => {
  const { say } = context;
  return table(
    caption,
    [
      say('Nota', 'Invoice'),
      say('Situação', 'Status'),
      say('Empresa', 'Company'),
      say('Modo', 'Mode'),
      say('Valor', 'Amount'),
      say('Referência', 'Reference'),
      say('Criada', 'Created'),
    ],
    rows.map(({ stream, createdAt, state, sentences }) => {
      const { id, company, mode } = identityOf(context, stream);
      const invoice = state.kind === 'invoice' ? state : undefined;
      return [
        invoiceLink(id),
        invoice === undefined
          ? '–'
          : html`${statusBadge(context, invoiceStatus(invoice))}${sentences.map((one) => html`<br><q class="sentence" lang="pt-BR">${visibleCharacters(one)}</q>`)}`,
        company,
        mode,
        invoice === undefined ? '–' : html`<span class="amount">${reais(invoice.facts.amountInCents)}</span>`,
        html`<span class="reference">${visibleCharacters(invoice?.facts.reference ?? '–')}</span>`,
        timeOf(context, createdAt),
      ];
    }),
    empty,
  );
};

const identityOf = (context: PageContext, stream: StreamName) => {
  const address = parseInvoiceStream(stream);
  return {
    id: publicInvoiceId(address?.invoiceId ?? ''),
    company: companyOf(context, address?.companyId),
    mode: modeText(context, address?.mode),
  };
};

/** `older` is the address of the next page; `newest` that of the first page, on every other page. */
export const invoicesPage = (
  context: PageContext,
  {
    rows,
    typed,
    older,
    newest,
    problem,
  }: {
    rows: readonly ShownInvoice[];
    typed: TypedFilter;
    older: string | undefined;
    newest: string | undefined;
    problem: string | undefined;
  },
): Html => {
  const { say } = context;
  return page(
    context,
    { title: say('Notas', 'Invoices'), notice: problem === undefined ? undefined : { tone: 'bad', text: problem } },
    html`${filterForm(context, typed)}
${problem === undefined ? invoicesTable(context, say('As mais novas primeiro', 'Newest first'), rows, emptyText(context, 'invoices', say('Nenhuma nota com este filtro.', 'No invoice with this filter.'))) : none}
${newest === undefined ? none : html`<p><a href="${newest}">${say('As notas mais novas', 'Newest invoices')}</a></p>`}
${older === undefined ? none : html`<p><a href="${older}">${say('Notas mais antigas', 'Older invoices')}</a></p>`}`,
  );
};

/** A GET form: nothing in it is personal, and the address of a list can be kept. */
const filterForm = ({ say }: PageContext, typed: TypedFilter): Html => {
  const option = (value: string, text: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : none}>${text}</option>`;
  const field = (name: 'company' | 'since' | 'until', label: string, type: string) =>
    html`<p class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" value="${typed[name]}" maxlength="40" autocomplete="off"></p>`;
  return html`<section aria-labelledby="filter"><h2 id="filter">${say('Filtro', 'Filter')}</h2><form method="get" action="${ROOT}/invoices"><div class="fields">
<p class="field"><label for="status">${say('Situação', 'Status')}</label><select id="status" name="status">${[
    option('', say('todas', 'all'), typed.status),
    ...invoiceStatuses.map((status) => option(status, statusText({ say }, status), typed.status)),
  ]}</select></p>
<p class="field"><label for="mode">${say('Modo', 'Mode')}</label><select id="mode" name="mode">${[
    option('', say('os dois', 'both'), typed.mode),
    ...modes.map((mode) => option(mode, modeText({ say }, mode), typed.mode)),
  ]}</select></p>
${field('company', say('Empresa (CNPJ)', 'Company (CNPJ)'), 'text')}
${field('since', say('Criada desde (Brasília)', 'Created since (Brasília)'), 'date')}
${field('until', say('Criada até, inclusive', 'Created until, inclusive'), 'date')}
</div><p><button>${say('Filtrar', 'Filter')}</button></p></form></section>`;
};

type Waiting = { count: number; oldest: readonly SupportRow[] };

const countOf = ({ say }: PageContext, { count, oldest }: Waiting): string =>
  count > oldest.length
    ? say(` As ${oldest.length} mais antigas de ${count}:`, ` The oldest ${oldest.length} of ${count}:`)
    : '';

/** A settlement begins with the comparison of the note that has the number of the invoice. */
const noteUnderNumber = ({ say }: PageContext, invoice: Invoice): Html => {
  const met = contentMet(invoice);
  if (met === undefined) return none;
  return html`<br><strong>${say('nota sob o seu número', 'note under its number')}</strong> ${
    met === 'equal'
      ? say(
          'de conteúdo igual: é a sua, se o cliente fez uma só venda',
          'with equal content: its own where the client made one sale',
        )
      : say(
          'de outro conteúdo: compare-a primeiro no portal nacional',
          'with other content: first compare it at the national portal',
        )
  }`;
};

export const indeterminatePage = (context: PageContext, waiting: Waiting): Html => {
  const { say } = context;
  return page(
    context,
    { title: say('Notas indeterminadas', 'Indeterminate invoices') },
    html`<p>${say(
      'Não se sabe se existe nota. Resolva cada uma com evidência, na página dela.',
      'The outcome of these invoices is unknown. Settle each with evidence, on its page.',
    )}${countOf(context, waiting)}</p>
${table(
  say('A que foi criada primeiro vem primeiro', 'By creation, the oldest first'),
  [
    say('Nota', 'Invoice'),
    say('Espera desde', 'Waits since'),
    say('Empresa', 'Company'),
    say('Modo', 'Mode'),
    say('Tentativas', 'Attempts'),
    say('Criada', 'Created'),
  ],
  waiting.oldest.map(({ stream, createdAt, state }) => {
    const { id, company, mode } = identityOf(context, stream);
    const outcome = state.kind === 'invoice' ? state.outcome : undefined;
    return [
      invoiceLink(id, '#settle'),
      timeOf(context, outcome?.status === 'indeterminate' ? outcome.failedAt : createdAt),
      company,
      mode,
      state.kind === 'invoice' ? html`${state.attempts.length}${noteUnderNumber(context, state)}` : 0,
      timeOf(context, createdAt),
    ];
  }),
  emptyText(context, 'invoices', say('Nenhuma nota espera pelo suporte.', 'No invoice waits for support.')),
)}`,
  );
};

export const cancellationsPage = (context: PageContext, waiting: Waiting): Html => {
  const { say } = context;
  return page(
    context,
    { title: say('Cancelamentos que falharam', 'Failed cancellations') },
    html`<p>${say(
      'Cancelamentos de produção que falharam: o cliente não pode pedir de novo. Veja cada nota no portal nacional e resolva-a na página dela.',
      'Live cancellations that failed: the client cannot ask again. Look at each note in the national portal, then settle it on its page.',
    )}${countOf(context, waiting)}</p>
${table(
  say('O pedido mais antigo primeiro', 'Oldest request first'),
  [say('Nota', 'Invoice'), say('Pedido em', 'Requested'), say('Empresa', 'Company'), say('Resultado', 'Result')],
  waiting.oldest.map(({ stream, createdAt, state }) => {
    const { id, company } = identityOf(context, stream);
    const cancellation = state.kind === 'invoice' ? state.cancellation : undefined;
    const codes = cancellation?.codes ?? [];
    return [
      invoiceLink(id, '#settle'),
      timeOf(context, cancellation?.requestedAt ?? createdAt),
      company,
      codes.length === 0
        ? badge(say('sem confirmação', 'without confirmation'), 'bad')
        : html`${badge(say('recusado', 'refused'), 'bad')} ${codes.join(' ')}`,
    ];
  }),
  emptyText(
    context,
    'invoices',
    say('Nenhum cancelamento espera pelo suporte.', 'No failed cancellation waits for support.'),
  ),
)}`,
  );
};

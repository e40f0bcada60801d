import { html } from 'hono/html';
import {
  SEARCH_KINDS,
  type SearchKind,
  type SearchQuery,
  type SearchResult,
} from '../../app/operator/support/search.js';
import type { Instant } from '../../domain/common/time.js';
import { type Html, none, timeOf } from './elements.js';
import { form, operatorField, type PageContext, page, ROOT } from './layout.js';
import { invoicesTable, type ShownInvoice } from './lists.js';

const KIND_NAMES: Readonly<Record<SearchKind, readonly [portuguese: string, english: string]>> = {
  id: ['Id da nota', 'Invoice id'],
  reference: ['Referência', 'Reference'],
  'access-key': ['Chave de acesso', 'Access key'],
  'dps-id': ['Id da DPS', 'DPS id'],
  document: ['Documento do tomador (CPF, CNPJ, NIF)', 'Customer document (CPF, CNPJ, tax id)'],
};

/** A POST form, because the browser would keep a document in the history of addresses. */
export const searchForm = (context: PageContext): Html => {
  const { say } = context;
  return form(
    context,
    `${ROOT}/search`,
    html`<div class="fields">
<p class="field wide"><label for="text">${say('Id, referência, chave de acesso, id da DPS ou documento do tomador', 'Id, reference, access key, DPS id or customer document')}</label>
<input id="text" name="text" required maxlength="200" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="by">${say('Procurar por', 'Look for')}</label>
<select id="by" name="by"><option value="">${say('O que parece ser', 'What it looks like')}</option>${SEARCH_KINDS.map((kind) => html`<option value="${kind}">${say(...KIND_NAMES[kind])}</option>`)}</select></p>
<p class="field"><label for="company">${say('Só da empresa (CNPJ)', 'Only of company (CNPJ)')}</label>
<input id="company" name="company" maxlength="18" autocomplete="off"></p>
${operatorField(context, 'search-operator')}
</div>
<p><button>${say('Procurar', 'Search')}</button> <span class="hint">${say(
      'Uma busca pelo documento do tomador fica registrada com o seu nome.',
      'A search by customer document is recorded with your name.',
    )}</span></p>`,
  );
};

export const resultsPage = (
  context: PageContext,
  query: SearchQuery,
  result: SearchResult,
  found: readonly ShownInvoice[],
): Html => {
  const { say } = context;
  const count =
    found.length === 1 ? say('1 nota', '1 invoice') : say(`${found.length} notas`, `${found.length} invoices`);
  return page(
    context,
    { title: say('Busca', 'Search') },
    html`<p>${say('Por', 'By')} ${say(...KIND_NAMES[query.kind]).toLowerCase()}: ${count}${scanned(context, query, result)}.</p>
${invoicesTable(context, say('Notas encontradas', 'Invoices found'), found, say('Nada encontrado.', 'Nothing found.'))}
${result.next === undefined ? none : olderForm(context, query, result.next)}
<section aria-labelledby="again"><h2 id="again">${say('Procurar de novo', 'Search again')}</h2>${searchForm(context)}</section>`,
  );
};

const scanned = (context: PageContext, { kind, before }: SearchQuery, { lookedAt }: SearchResult): Html => {
  if (kind !== 'document') return none;
  const { say } = context;
  return before === undefined
    ? html` ${say(`entre as ${lookedAt} mais novas`, `among ${lookedAt} newest`)}`
    : html` ${olderThan(context, lookedAt, before.createdAt)}`;
};

const olderThan = (context: PageContext, lookedAt: number, createdAt: Instant): Html => {
  const { say } = context;
  return createdAt === ''
    ? html`${say(`entre ${lookedAt} sem data de criação`, `among ${lookedAt} without a date of creation`)}`
    : html`${say(`entre ${lookedAt} anteriores a`, `among ${lookedAt} older than`)} ${timeOf(context, createdAt)}`;
};

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
<p><button>${context.say('Procurar em notas mais antigas', 'Search older invoices')}</button></p>`,
  );

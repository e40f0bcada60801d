import { html } from 'hono/html';
import { SEARCH_KINDS, type SearchKind, type SearchResult } from '../../app/operator/support/search.js';
import type { Instant } from '../../domain/common/time.js';
import { visibleCharacters } from '../../lib/printable.js';
import type { SupportCursor } from '../../ports/support-reads.js';
import { emptyText, type Html, none, timeOf } from './elements.js';
import { form, operatorField, type PageContext, page, ROOT } from './layout.js';
import { invoicesTable, type ShownInvoice } from './lists.js';

const KIND_NAMES: Readonly<Record<SearchKind, readonly [portuguese: string, english: string]>> = {
  id: ['Id da nota', 'Invoice id'],
  reference: ['Referência', 'Reference'],
  'access-key': ['Chave de acesso', 'Access key'],
  'dps-id': ['Id da DPS', 'DPS id'],
  document: ['Documento do tomador (CPF, CNPJ, NIF)', 'Customer document (CPF, CNPJ, tax id)'],
  number: ['Número da NFS-e', 'NFS-e number'],
};

/** What was searched, as typed; `by` is empty where the kind was left open. */
export type TypedSearch = { text: string; by: string; company: string };

const NOTHING_TYPED: TypedSearch = { text: '', by: '', company: '' };

/** A POST form, because the browser would keep a document in the history of addresses. `typed` may therefore hold one too. */
export const searchForm = (context: PageContext, typed = NOTHING_TYPED): Html => {
  const { say } = context;
  const option = (value: string, text: string): Html =>
    html`<option value="${value}"${value === typed.by ? html` selected` : none}>${text}</option>`;
  return form(
    context,
    `${ROOT}/search`,
    html`<div class="fields">
<p class="field wide"><label for="text">${say('Id, referência, chave de acesso, id da DPS, documento do tomador ou número da NFS-e', 'Id, reference, access key, DPS id, customer document or NFS-e number')}</label>
<input id="text" name="text" value="${typed.text}" required maxlength="200" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="by">${say('Procurar por', 'Look for')}</label>
<select id="by" name="by">${option('', say('O que parece ser', 'What it looks like'))}${SEARCH_KINDS.map((kind) => option(kind, say(...KIND_NAMES[kind])))}</select></p>
<p class="field"><label for="company">${say('Só da empresa (CNPJ)', 'Only of company (CNPJ)')}</label>
<input id="company" name="company" value="${typed.company}" maxlength="40" autocomplete="off"></p>
${operatorField(context, 'search-operator')}
</div>
<p><button>${say('Procurar', 'Search')}</button> <span class="hint">${say(
      'Uma busca pelo documento do tomador fica registrada com o seu nome.',
      'A search by customer document is recorded with your name.',
    )}</span></p>`,
  );
};

/** The form of a search that was refused, with the reason. */
export const refusedSearchPage = (context: PageContext, typed: TypedSearch, problem: string): Html =>
  page(
    context,
    { title: context.say('Busca', 'Search'), notice: { tone: 'bad', text: problem } },
    searchAgain(context, typed),
  );

const searchAgain = (context: PageContext, typed: TypedSearch): Html =>
  html`<section aria-labelledby="again"><h2 id="again">${context.say('Procurar de novo', 'Search again')}</h2>${searchForm(context, typed)}</section>`;

/** The name of a kind within a sentence; an acronym keeps its capitals. */
const inSentence = (name: string): string => name.replace(/^\p{Lu}(?!\p{Lu})/u, (first) => first.toLowerCase());

/** What was searched for, without the kinds. */
type Searched = { text: string; companyId: string | undefined; before: SupportCursor | undefined };

type Results = { typed: TypedSearch; query: Searched; result: SearchResult; found: readonly ShownInvoice[] };

export const resultsPage = (context: PageContext, { typed, query, result, found }: Results): Html => {
  const { say } = context;
  const count =
    found.length === 1 ? say('1 nota', '1 invoice') : say(`${found.length} notas`, `${found.length} invoices`);
  return page(
    context,
    { title: say('Busca', 'Search') },
    html`<p>${kindsText(context, result.lookedFor)} “${visibleCharacters(query.text)}”: ${count}${scanned(context, query, result)}.</p>
${invoicesTable(context, say('Notas encontradas', 'Invoices found'), found, emptyText(context, 'invoices', emptyText(context, 'companies', say('Nada encontrado.', 'Nothing found.'))))}
${found.length === 0 ? whatIsSearched(context) : none}
${unopenedText(context, result.unopened ?? [])}
${result.next === undefined ? none : olderForm(context, query, result.next)}
${searchAgain(context, typed)}`,
  );
};

/** A customer's name is sealed, and no index holds an amount. */
const whatIsSearched = ({ say }: PageContext): Html =>
  html`<p class="hint">${say(
    'Procura-se um id, uma chave de acesso (50 caracteres) ou um id de DPS (45) inteiro; a referência inteira, com as maiúsculas e os acentos do cliente; o documento do tomador; o número da NFS-e, se a empresa for dada. Um nome ou um valor não se procura:',
    'Searched is a whole id, access key (50 characters) or DPS id (45); the whole reference, with the capitals and accents of the client; the customer document; the NFS-e number, where the company is given. A name or an amount is not searched:',
  )} <a href="${ROOT}/invoices">${say('a lista de notas tem filtros por empresa, situação e dia', 'the list of invoices has filters by company, status and day')}</a>.</p>`;

const unopenedText = ({ say }: PageContext, unopened: readonly string[]): Html =>
  unopened.length === 0
    ? none
    : html`<p><strong>${say(
        'Há tomadores que não podem ser abertos:',
        'Some customers cannot be opened:',
      )}</strong></p><ul>${unopened.map((line) => html`<li>${visibleCharacters(line)}</li>`)}</ul>`;

const kindsText = ({ say }: PageContext, kinds: readonly SearchKind[]): string => {
  const names = kinds.map((kind) => inSentence(say(...KIND_NAMES[kind])));
  return `${say('Por', 'By')} ${names.join(say(' e por ', ' and by '))}`;
};

const scanned = (context: PageContext, { before }: Searched, { lookedFor, lookedAt }: SearchResult): Html => {
  if (!lookedFor.includes('document')) return none;
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
  { text, companyId }: Searched,
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

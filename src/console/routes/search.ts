import type { Hono } from 'hono';
import {
  findStream,
  kindsToLookFor,
  looksLikeDocument,
  looksLikeKey,
  readCursor,
  SEARCH_KINDS,
  type SearchKind,
  type SearchResult,
  searchInvoices,
  typedInvoiceId,
} from '../../app/operator/support/search.js';
import { bareText } from '../../app/operator/support/typed-text.js';
import { parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import type { ConsoleDeps } from '../deps.js';
import { actingOperator, type ConsoleContext, type ConsoleEnv } from '../guard.js';
import { nameNeeded, type PageContext, ROOT } from '../pages/layout.js';
import { refusedSearchPage, resultsPage, type TypedSearch } from '../pages/search.js';
import { withSentences } from './lists.js';

/** Invoices of one answer to a search by document; the next search continues after them. */
const FOUND_AT_ONCE = 100;

/**
 * A search changes nothing and is a POST all the same, so that no address holds a document or a name. What is found leads to a separate address
 * where its text is nothing personal: a browser asks again before it shows the answer to a form a second time.
 */
export const searchRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps): void => {
  app.get(`${ROOT}/search`, async (c) => {
    const { query, typed } = readQuery((name) => c.req.query(name) ?? '');
    const kinds = query.kinds.filter((kind) => kind !== 'id');
    const isOurs = kinds.length > 0 && !kinds.includes('document') && !looksLikeDocument(query.text);
    if (query.text === '' || !isOurs || !(await isCompany(query, deps))) return c.redirect(ROOT, 303);
    const page = c.get('page');
    const by = { command: 'console', actor: `support:${page.operator.name}` } as const;
    const result = await searchInvoices({ ...query, kinds }, deps, by);
    return c.html(resultsPage(page, { typed, query, result, found: shownOf(result, page, deps) }));
  });

  app.post(`${ROOT}/search`, async (c) => {
    const { query, typed } = readQuery(c.get('field'));
    if (query.text === '') return c.redirect(ROOT, 303);
    const page = c.get('page');
    const operator = actingOperator(c);
    const mayAsk = (kind: SearchKind): boolean => kind !== 'id' && (kind !== 'document' || operator !== undefined);
    const named = operator === undefined ? page : { ...page, operator: { ...page.operator, name: operator } };
    const refused = (problem: string) => c.html(refusedSearchPage(named, typed, problem), 400);
    // The filter is recorded as typed, so a document in this field would stay in the log.
    if (!(await isCompany(query, deps)))
      return refused(page.say('Esta empresa não existe.', 'There is no such company.'));
    if (query.kinds.includes('number') && query.companyId === undefined)
      return refused(
        page.say(
          'Uma busca pelo número da NFS-e precisa da empresa: cada prestador tem os seus números.',
          'A search by NFS-e number needs the company: each provider has numbers of its own.',
        ),
      );
    const by = { command: 'console', actor: `support:${named.operator.name}` } as const;
    const asked = { ...query, kinds: query.kinds.filter(mayAsk), most: FOUND_AT_ONCE };
    const result = await searchInvoices(asked, deps, by);
    if (result.found.length === 0) {
      const id = await foundId(query, deps);
      if (id !== undefined) return c.redirect(`${ROOT}/invoices/${id}`, 303);
      if (!query.kinds.every((kind) => kind === 'id' || mayAsk(kind))) return refused(nameNeeded(page));
    }
    return (
      addressOf(result, typed, c) ??
      c.html(resultsPage(named, { typed, query, result, found: shownOf(result, page, deps) }))
    );
  });
};

const shownOf = ({ found }: SearchResult, { now }: PageContext, deps: ConsoleDeps) =>
  found.map((row) => withSentences(row, deps, now));

type Query = ReturnType<typeof readQuery>['query'];

const isCompany = async ({ companyId }: Query, { readModel }: ConsoleDeps): Promise<boolean> =>
  companyId === undefined || (await readModel.company(companyId)) !== undefined;

/**
 * The id that was searched, unless its invoice is of another company than the wanted one. The invoice's own page reads the log, which holds an invoice
 * before its row exists, and says so of an id that no company has.
 */
const foundId = async ({ kinds, text, companyId }: Query, deps: ConsoleDeps): Promise<string | undefined> => {
  const invoiceId = kinds.includes('id') ? typedInvoiceId(text) : undefined;
  if (invoiceId === undefined) return undefined;
  const id = publicInvoiceId(invoiceId);
  if (companyId === undefined) return id;
  const stream = await findStream(id, deps);
  return stream !== undefined && parseInvoiceStream(stream)?.companyId === companyId ? id : undefined;
};

/**
 * Where the result of a search has an address: that of the one invoice, or that of the list. Undefined where the text may be personal: it is or could be
 * a document, or it is a reference that no invoice has, which may be a name.
 */
const addressOf = ({ found, lookedFor }: SearchResult, typed: TypedSearch, c: ConsoleContext): Response | undefined => {
  if (lookedFor.includes('document') || looksLikeDocument(typed.text)) return undefined;
  const [one, another] = found;
  const id = one !== undefined && another === undefined ? parseInvoiceStream(one.stream)?.invoiceId : undefined;
  if (id !== undefined) return c.redirect(`${ROOT}/invoices/${publicInvoiceId(id)}`, 303);
  const isPublic = another !== undefined || looksLikeKey(typed.text);
  return isPublic ? c.redirect(`${ROOT}/search?${new URLSearchParams(typed)}`, 303) : undefined;
};

const readQuery = (field: (name: string) => string) => {
  const text = field('text')
    .replace(/\p{Cc}/gu, '')
    .trim();
  const companyId = bareText(field('company').replace(/\p{Cc}/gu, '')) || undefined;
  const wanted = SEARCH_KINDS.find((one) => one === field('by'));
  const kinds = kindsToLookFor(text, wanted, companyId);
  const before = readCursor(field('created_at'), field('stream'));
  const typed = { text, by: wanted ?? '', company: field('company').trim() };
  return { query: { text, kinds, companyId, before }, typed };
};

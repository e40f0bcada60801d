import type { Hono } from 'hono';
import { kindOf, SEARCH_KINDS, type SearchQuery, searchInvoices } from '../../app/support/search.js';
import { parseInvoiceId, parseInvoiceStream, publicInvoiceId } from '../../domain/shared/ids.js';
import type { ConsoleDeps } from '../deps.js';
import { actingOperator, type ConsoleEnv, NAME_NEEDED } from '../env.js';
import { ROOT } from '../pages/layout.js';
import { resultsPage } from '../pages/search.js';
import { messagePage } from '../pages/sign-in.js';

/** A form that only reads; it is sent like one that changes, so that what is looked for stands in no address. */
export const searchRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps): void => {
  app.get(`${ROOT}/search`, (c) => c.redirect(ROOT, 303));
  app.post(`${ROOT}/search`, async (c) => {
    const query = readQuery(c.get('field'));
    if (query.text === '') return c.redirect(ROOT, 303);
    // The invoice's own page asks the log, which knows it before its row does.
    if (query.kind === 'id') return c.redirect(`${ROOT}/invoices/${encodeURIComponent(idOf(query.text))}`, 303);
    const page = c.get('page');
    const operator = actingOperator(c);
    if (query.kind === 'document' && operator === undefined)
      return c.html(messagePage(page, 'Search', NAME_NEEDED), 400);
    const named = operator === undefined ? page : { ...page, operator: { ...page.operator, name: operator } };
    const by = { command: 'console', actor: `support:${named.operator.name}` } as const;
    return c.html(resultsPage(named, query, await searchInvoices(query, deps, by)));
  });
};

const idOf = (text: string): string => {
  const invoiceId = parseInvoiceId(text);
  return invoiceId === undefined ? text : publicInvoiceId(invoiceId);
};

const readQuery = (field: (name: string) => string): SearchQuery => {
  const text = field('text')
    .replace(/\p{Cc}/gu, '')
    .trim();
  const kind = SEARCH_KINDS.find((one) => one === field('by')) ?? kindOf(text);
  const companyId = field('company')
    .replace(/[^0-9A-Za-z]/g, '')
    .toUpperCase();
  const before = { createdAt: field('created_at'), stream: field('stream') };
  const isCursor = !Number.isNaN(Date.parse(before.createdAt)) && parseInvoiceStream(before.stream) !== undefined;
  return { text, kind, ...(companyId === '' ? {} : { companyId }), ...(isCursor ? { before } : {}) };
};

import type { Hono } from 'hono';
import { appendAudit } from '../../app/audit/audit-trail.js';
import type { SettleCommand, SettleResult } from '../../app/operator/settlement/settle-invoice.js';
import { type InvoiceCase, loadCase, personalLines } from '../../app/operator/support/invoice-case.js';
import {
  findStream,
  kindOf,
  SEARCH_KINDS,
  type SearchQuery,
  searchInvoices,
} from '../../app/operator/support/search.js';
import { isAccessKey } from '../../domain/common/access-key.js';
import { parseInvoiceId, parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import type { ConsoleDeps } from '../deps.js';
import { actingOperator, type ConsoleContext, type ConsoleEnv, NAME_NEEDED } from '../guard.js';
import { invoicePage, settleOptions } from '../pages/invoice.js';
import { messagePage, type Notice, ROOT } from '../pages/layout.js';
import { resultsPage } from '../pages/search.js';

/** Pages of one invoice: its events, its sealed fields (a recorded look) and its settlement. */
export const invoiceRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps): void => {
  app.get(`${ROOT}/invoices/:id`, async (c) => {
    const found = await caseOf(c.req.param('id'), deps);
    if (found === undefined) return noInvoice(c);
    const notice: Notice | undefined = c.req.query('settled') === '1' ? SETTLED : undefined;
    return c.html(invoicePage(c.get('page'), { case: found, now: deps.clock.now(), notice }));
  });

  app.post(`${ROOT}/invoices/:id/reveal`, async (c) => {
    const found = await caseOf(c.req.param('id'), deps);
    if (found === undefined) return noInvoice(c);
    const shown = { case: found, now: deps.clock.now() };
    const operator = actingOperator(c);
    if (operator === undefined) return c.html(invoicePage(c.get('page'), { ...shown, notice: nameNeeded }), 400);
    const { store, clock } = deps;
    const seen = { command: 'console', subject: found.stream };
    await appendAudit('PersonalDataRevealed', seen, { store, clock, actor: `support:${operator}` });
    return c.html(invoicePage(c.get('page'), { ...shown, personal: await personalLines(found.stream, store) }));
  });

  app.post(`${ROOT}/invoices/:id/settle`, async (c) => {
    const id = c.req.param('id');
    const found = await caseOf(id, deps);
    if (found === undefined) return noInvoice(c);
    const field = c.get('field');
    const typed = { as: field('as'), accessKey: field('access_key').trim(), evidence: field('evidence').trim() };
    const operator = actingOperator(c);
    const again = async (text: string, tone: Notice['tone'], status: 400 | 409) => {
      const current = (await caseOf(id, deps)) ?? found;
      const shown = { case: current, now: deps.clock.now(), typed, notice: { tone, text } };
      return c.html(invoicePage(c.get('page'), shown), status);
    };
    if (operator === undefined) return await again(NAME_NEEDED, 'bad', 400);
    const command = readSettlement(found, typed);
    if ('problem' in command) return await again(command.problem, 'bad', 400);
    const result = await deps.settle(command, operator);
    if (result.kind === 'settled' || result.kind === 'already_so')
      return c.redirect(`${ROOT}/invoices/${id}?settled=1`, 303);
    return await again(refusalText(result), result.kind === 'ask_again' ? 'wait' : 'bad', 409);
  });
};

const SETTLED: Notice = { tone: 'good', text: 'Settled, and on record. The client sees it at the next read.' };
const nameNeeded: Notice = { tone: 'bad', text: NAME_NEEDED };

const noInvoice = (c: ConsoleContext): Response | Promise<Response> =>
  c.html(
    messagePage(c.get('page'), 'No such invoice', 'No company has an invoice of this id, or its 7 days are over.'),
    404,
  );

const caseOf = async (id: string, deps: ConsoleDeps): Promise<InvoiceCase | undefined> => {
  if (parseInvoiceId(id) === undefined) return undefined;
  const stream = await findStream(id, deps);
  return stream === undefined ? undefined : await loadCase(stream, deps);
};

const readSettlement = (
  { stream, state }: InvoiceCase,
  { as, accessKey, evidence }: { as: string; accessKey: string; evidence: string },
): SettleCommand | { problem: string } => {
  const options = state.kind === 'invoice' ? settleOptions(state) : [];
  if (options.length === 0) return { problem: 'There is nothing to settle here any more: see what was recorded.' };
  const end = options.find((one) => one === as);
  if (end === undefined) return { problem: 'Choose what the invoice is settled as.' };
  if (evidence === '') return { problem: 'Say what the settlement rests on: the evidence is required.' };
  if (accessKey === '' || end !== 'issued') return { stream, as: end, evidence };
  if (!isAccessKey(accessKey))
    return { problem: 'An access key has 50 characters, and its last one is a check digit.' };
  return { stream, as: end, evidence, accessKey };
};

const refusalText = (result: Extract<SettleResult, { kind: 'refused' | 'ask_again' }>): string =>
  result.kind === 'refused'
    ? `Not settled: ${result.reason}.`
    : `Not settled yet: ${result.detail}. Send this form again after ${result.at}.`;

/** A search changes nothing and is a POST all the same, so that the searched text appears in no address. */
export const searchRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps): void => {
  app.get(`${ROOT}/search`, (c) => c.redirect(ROOT, 303));
  app.post(`${ROOT}/search`, async (c) => {
    const query = readQuery(c.get('field'));
    if (query.text === '') return c.redirect(ROOT, 303);
    // The invoice's own page reads the log, which holds an invoice before its row exists.
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

import type { Hono } from 'hono';
import { pageOf, readCursor } from '../../app/operator/support/search.js';
import { bareText } from '../../app/operator/support/typed-text.js';
import { codePattern } from '../../domain/common/masks.js';
import { brasiliaMidnight, DAY_MS, type Instant, instant, isDay } from '../../domain/common/time.js';
import { type Invoice, personalFacts } from '../../domain/invoice/state.js';
import { isInvoiceStatus } from '../../domain/invoice/status.js';
import type { SupportCursor, SupportFilter, SupportRow } from '../../ports/support-reads.js';
import type { ConsoleDeps } from '../deps.js';
import type { ConsoleEnv } from '../guard.js';
import type { Say } from '../language.js';
import { ROOT } from '../pages/layout.js';
import {
  cancellationsPage,
  indeterminatePage,
  invoicesPage,
  type ShownInvoice,
  type TypedFilter,
} from '../pages/lists.js';

/** The lists show at most this many invoices. */
const LISTED = 100;
const PAGE = 50;

/** Lists of invoices: by filter, and what waits for support. */
export const listRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps): void => {
  const { supportReads } = deps;
  app.get(`${ROOT}/invoices`, async (c) => {
    const page = c.get('page');
    const query = (name: string): string => (c.req.query(name) ?? '').trim();
    const typed: TypedFilter = {
      status: query('status'),
      company: query('company'),
      mode: query('mode'),
      since: query('since'),
      until: query('until'),
    };
    const cursor = readCursor(query('created_at'), query('stream'));
    const filter = filterOf(typed, cursor, page.say);
    const problem = 'problem' in filter ? filter.problem : undefined;
    const found = 'problem' in filter ? [] : await supportReads.newest(filter, PAGE + 1);
    const { rows, last } = pageOf(found, PAGE);
    const older =
      last && `${ROOT}/invoices?${new URLSearchParams({ ...typed, created_at: last.createdAt, stream: last.stream })}`;
    const newest = cursor && `${ROOT}/invoices?${new URLSearchParams(typed)}`;
    const shown = rows.map((row) => withSentences(row, deps, page.now));
    const list = invoicesPage(page, { rows: shown, typed, older, newest, problem });
    return c.html(list, problem === undefined ? 200 : 400);
  });

  app.get(`${ROOT}/indeterminate`, async (c) =>
    c.html(indeterminatePage(c.get('page'), await supportReads.indeterminate(LISTED))),
  );

  app.get(`${ROOT}/cancellations`, async (c) =>
    c.html(cancellationsPage(c.get('page'), await supportReads.failedCancellations(LISTED))),
  );
};

type Told = { error?: { message?: string }; cancellation?: { error?: { message?: string } } };

/** In a body, the place of a sealed text. */
const SEALED = '…';

/** The field of the body that shows each personal field of an invoice. */
const BODY_FIELDS = {
  customer: 'customer',
  description: 'description',
} as const satisfies Record<(typeof personalFacts)[number], string>;

/** The body of a state whose personal fields are sealed, with a mark in place of each. */
export const sealedBody = (invoice: Invoice, { bodyOf }: Pick<ConsoleDeps, 'bodyOf'>, now: Instant): object => {
  const sealed = personalFacts.filter((field) => invoice.facts[field] !== undefined);
  const facts = { ...invoice.facts };
  for (const field of sealed) delete facts[field];
  const marks = Object.fromEntries(sealed.map((field) => [BODY_FIELDS[field], SEALED]));
  return { ...bodyOf({ ...invoice, facts }, now), ...marks };
};

/** The sentences that the client got are part of the body, and hold nothing personal. */
export const withSentences = (row: SupportRow, deps: Pick<ConsoleDeps, 'bodyOf'>, now: Instant): ShownInvoice => {
  const body: Told = row.state.kind === 'invoice' ? sealedBody(row.state, deps, now) : {};
  const sentences = [body.error?.message, body.cancellation?.error?.message].filter((one) => one !== undefined);
  return { ...row, sentences };
};

const filterOf = (
  typed: TypedFilter,
  cursor: SupportCursor | undefined,
  say: Say,
): SupportFilter | { problem: string } => {
  const { status, company, mode, since, until } = typed;
  if (status !== '' && !isInvoiceStatus(status))
    return { problem: say('Esta situação não existe.', 'There is no such status.') };
  if (mode !== '' && mode !== 'live' && mode !== 'test')
    return { problem: say('O modo é live ou test.', 'The mode is live or test.') };
  const companyId = bareText(company);
  if (companyId !== '' && !codePattern('cnpj').test(companyId))
    return { problem: say('Um CNPJ tem 14 caracteres.', 'A CNPJ has 14 characters.') };
  if ([since, until].some((day) => day !== '' && !isDay(day)))
    return { problem: say('Uma data tem a forma 2026-11-21.', 'A date is written 2026-11-21.') };
  if (since !== '' && until !== '' && since > until)
    return {
      problem: say(
        'A data “Criada desde” é posterior à data “Criada até”.',
        'The day “Created since” is after the day “Created until”.',
      ),
    };
  return {
    status: status === '' ? undefined : status,
    mode: mode === '' ? undefined : mode,
    companyId: companyId === '' ? undefined : companyId,
    since: since === '' ? undefined : brasiliaMidnight(since),
    until: until === '' ? undefined : endOfDay(until),
    before: cursor,
  };
};

/** The midnight after the day, in Brasília. Undefined for the last day of the year 9999: no row is later, and instants are compared as text. */
const endOfDay = (day: string): Instant | undefined => {
  const next = instant(Date.parse(day) + DAY_MS).slice(0, 10);
  return isDay(next) ? brasiliaMidnight(next) : undefined;
};

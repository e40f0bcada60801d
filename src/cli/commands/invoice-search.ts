import { kindOf, SEARCH_KINDS, type SearchQuery, type SearchResult, searchInvoices } from '../../app/support/search.js';
import { invoiceStatus } from '../../domain/invoice/view.js';
import { parseInvoiceStream, publicInvoiceId } from '../../domain/shared/ids.js';
import { epochMs, type Instant } from '../../domain/shared/time.js';
import type { SupportCursor, SupportRow } from '../../ports/support-reads.js';
import { badUsage, type Command, done, textFlag } from '../command.js';
import { counted } from '../text.js';

const search: Command = {
  name: 'invoice search',
  positionals: ['TEXT'],
  summary: 'invoices by id, reference, access key, DPS id or customer document',
  options: {
    by: { type: 'string', help: `${SEARCH_KINDS.join(', ')} (default: what TEXT looks like)` },
    company: { type: 'string', help: 'CNPJ; narrows a search by document' },
    before: { type: 'string', help: 'goes on with a search by document: "next" of the one before' },
  },
  changes: true,
  run: async ({ positionals: [text = ''], flags, actor, session }) => {
    const by = textFlag(flags, 'by') ?? kindOf(text);
    const kind = SEARCH_KINDS.find((one) => one === by);
    if (kind === undefined) return badUsage(`--by must be one of ${SEARCH_KINDS.join(', ')}`);
    const before = readCursor(textFlag(flags, 'before'));
    if (before === 'unreadable') return badUsage('--before takes the "next" of the search before');
    const companyId = textFlag(flags, 'company');
    const opened = await session();
    const query: SearchQuery = {
      ...{ text, kind },
      ...(companyId === undefined ? {} : { companyId }),
      ...(before === undefined ? {} : { before }),
    };
    const result = await searchInvoices(query, opened, { command: 'invoice search', actor: `support:${actor}` });
    return done(textOf(result), { invoices: result.found.map(jsonOf), looked_at: result.lookedAt, ...nextOf(result) });
  },
};

/** So many are listed; a service with more has another problem than a list. */
const LISTED = 100;

const indeterminate: Command = {
  name: 'invoice indeterminate',
  positionals: [],
  summary: 'invoices that wait for support, oldest first',
  options: {},
  changes: false,
  run: async ({ session }) => {
    const { supportReads, clock } = await session();
    const { count, oldest } = await supportReads.indeterminate(LISTED);
    const lines = oldest.map((row) => `${lineOf(row)}, for ${hoursSince(row.createdAt, clock.now())} h`);
    const text = count === 0 ? 'no invoice waits for support' : lines.join('\n');
    return done(text, { count, invoices: oldest.map(jsonOf) });
  },
};

export const invoiceSearchCommands: readonly Command[] = [search, indeterminate];

const hoursSince = (at: Instant, now: Instant): number => Math.floor((epochMs(now) - epochMs(at)) / 3_600_000);

const cursorText = ({ createdAt, stream }: SupportCursor): string => `${createdAt}/${stream}`;

const readCursor = (text: string | undefined): SupportCursor | undefined | 'unreadable' => {
  if (text === undefined) return undefined;
  const [createdAt = '', stream = '', ...more] = text.split('/');
  const isGood = more.length === 0 && !Number.isNaN(Date.parse(createdAt)) && parseInvoiceStream(stream) !== undefined;
  return isGood ? { createdAt, stream } : 'unreadable';
};

const nextOf = ({ next }: SearchResult) => (next === undefined ? {} : { next: cursorText(next) });

const textOf = ({ found, lookedAt, next }: SearchResult): string =>
  [
    ...(found.length === 0 ? ['nothing found'] : found.map(lineOf)),
    ...(next === undefined
      ? []
      : [
          `the newest ${counted(lookedAt, 'invoice')} of these were looked at; older ones: --before ${cursorText(next)}`,
        ]),
  ].join('\n');

const jsonOf = ({ stream, createdAt, state }: SupportRow) => {
  const address = parseInvoiceStream(stream);
  return {
    id: publicInvoiceId(address?.invoiceId ?? ''),
    ...{ cnpj: address?.companyId, livemode: address?.mode === 'live', created_at: createdAt },
    ...(state.kind === 'invoice' ? { status: invoiceStatus(state), amount_in_cents: state.facts.amountInCents } : {}),
  };
};

const lineOf = (row: SupportRow): string => {
  const { id, cnpj, livemode, created_at, status } = jsonOf(row);
  return `${created_at}  ${id}  ${cnpj}  ${livemode ? 'live' : 'test'}  ${status ?? ''}`;
};

import { appendAudit } from '../../app/audit/audit-trail.js';
import { findStream, pageOf } from '../../app/operator/support/search.js';
import { type Waiting, waitingWork } from '../../app/operator/support/waiting.js';
import { replayInvoice } from '../../app/read/read-invoice.js';
import { brasiliaMidnight, type Instant, isPlausible, nextBrasiliaMonth } from '../../domain/common/time.js';
import { invoiceStatuses, isInvoiceStatus } from '../../domain/invoice/status.js';
import { ageText } from '../../lib/age-text.js';
import { counted } from '../../lib/counted.js';
import { printableLines } from '../../lib/printable.js';
import type { SupportFilter } from '../../ports/support-reads.js';
import { badUsage, type Command, done, type Flags, textFlag, unknownCompany } from '../command.js';
import { unlessBroken } from '../findings.js';
import { BAD_MONTH, instantFlag, monthFlag, wholeFlag } from '../flags.js';
import { moreUnknown, refusedUnknown, rowsBehind, tellRowsBehind } from '../rows-behind.js';
import { auditDeps } from '../session.js';
import { jsonText } from '../terminal.js';
import { cursorFlag, cursorText, jsonOf, lineOf, secondsSince } from './invoice.js';

/** Shows the customer in clear, as the API does, so each use is recorded as a look at personal data. */
const show: Command = {
  name: 'invoice show',
  positionals: ['ID'],
  summary: 'the invoice body as the API shows it now; this is recorded with the actor',
  changes: true,
  run: async ({ positionals: [id = ''], actor, session, terminal }) => {
    const opened = await session();
    const at = opened.clock.now();
    const stream = await findStream(id, opened);
    const replayed = stream === undefined ? undefined : await replayInvoice(stream, at, opened);
    if (stream === undefined || replayed === undefined || replayed.invoice === null)
      return await refusedUnknown(`no invoice ${id}`, opened, terminal);
    await appendAudit('PersonalDataRevealed', { command: 'invoice show', subject: stream }, auditDeps(opened, actor));
    const invoice = opened.bodyOf(replayed.invoice, at);
    return unlessBroken(done(jsonText(invoice, 2), invoice), await opened.log.read(stream), terminal);
  },
};

const MOST_LISTED = 1_000;

const list: Command = {
  name: 'invoice list',
  summary: 'invoices, newest first, without personal data',
  options: {
    status: { value: 'STATUS', help: `only in this status: ${invoiceStatuses.join(', ')}` },
    company: { value: 'CNPJ', help: 'CNPJ: only of this company' },
    mode: { value: 'live|test', help: 'live or test' },
    month: {
      value: 'YYYY-MM',
      help: 'created in this month as the calendar of Brasília has it: the competences of the month, and what company usage counts as accepted',
    },
    since: { value: 'TIME', help: 'created at or after this instant or day (UTC), e.g. 2026-11-21' },
    until: { value: 'TIME', help: 'created before this instant or day (UTC)' },
    before: { value: 'NEXT', help: 'continues a list: "next" of its last answer' },
    limit: { value: 'N', help: `how many at most, up to ${MOST_LISTED} (default 100)` },
  },
  changes: false,
  run: async ({ flags, session, terminal }) => {
    const limit = wholeFlag(flags, 'limit', 100);
    if (limit === undefined || limit < 1 || limit > MOST_LISTED)
      return badUsage(`--limit must be a number from 1 to ${MOST_LISTED}`);
    const filter = filterOf(flags);
    if ('problem' in filter) return badUsage(filter.problem);
    const opened = await session();
    await tellRowsBehind(opened, terminal);
    const { companyId } = filter;
    if (companyId !== undefined && (await opened.readModel.company(companyId)) === undefined)
      return unknownCompany(companyId);
    const { rows, last } = pageOf(await opened.supportReads.newest(filter, limit + 1), limit);
    const lines = rows.length === 0 ? ['no invoices'] : rows.map(lineOf);
    const more = last === undefined ? [] : [`there are older ones: --before ${cursorText(last)}`];
    const next = last === undefined ? {} : { next: cursorText(last) };
    return done([...lines, ...more].join('\n'), { invoices: rows.map(jsonOf), ...next });
  },
};

const filterOf = (flags: Flags): SupportFilter | { problem: string } => {
  const status = textFlag(flags, 'status');
  if (status !== undefined && !isInvoiceStatus(status))
    return { problem: `--status must be one of ${invoiceStatuses.join(', ')}` };
  const mode = textFlag(flags, 'mode');
  if (mode !== undefined && mode !== 'live' && mode !== 'test') return { problem: '--mode must be live or test' };
  const month = monthFlag(flags);
  if (month === 'bad' || (month !== undefined && !isPlausible(`${month}-01`))) return { problem: BAD_MONTH };
  if (month !== undefined && (flags.since !== undefined || flags.until !== undefined))
    return { problem: '--month goes without --since and --until' };
  const { since, until } = month === undefined ? periodOf(flags) : periodOfMonth(month);
  if (since === 'bad' || until === 'bad')
    return { problem: '--since and --until take a day or an instant: 2026-11-21 or 2026-11-21T12:00:00Z' };
  const before = cursorFlag(textFlag(flags, 'before'));
  if (before === 'unreadable') return { problem: '--before takes the "next" of the list before' };
  return { companyId: textFlag(flags, 'company'), mode, status, since, until, before };
};

const periodOf = (flags: Flags) => ({ since: instantFlag(flags, 'since'), until: instantFlag(flags, 'until') });

const periodOfMonth = (month: string) => {
  const since = brasiliaMidnight(`${month}-01`);
  return { since, until: nextBrasiliaMonth(since) };
};

const LISTED = 100;

const waiting: Command = {
  name: 'invoice waiting',
  summary: 'what waits for support: indeterminate invoices, failed live cancellations, stopped series, parked work',
  changes: false,
  run: async ({ session, terminal }) => {
    const opened = await session();
    const behind = await rowsBehind(opened);
    const { count, oldest, parkedUnknown } = await waitingWork(opened, LISTED);
    const now = opened.clock.now();
    const notices = await opened.recentNotices();
    const noticed =
      notices === 0 ? [] : [`${counted(notices, 'kind')} of ${WHAT_NOTICES_ARE} in the last 7 days -> nfse doctor`];
    const nothing =
      parkedUnknown === undefined && notices === 0 ? 'nothing waits for support' : 'nothing else waits for support';
    const text = [
      ...(count === 0 ? [nothing] : oldest.map((one) => textOf(one, now))),
      ...noticed,
      ...moreUnknown(behind),
    ];
    const outcome = done(printableLines(text), {
      count,
      unknown_until_caught_up: behind,
      parked_unknown: parkedUnknown ?? null,
      recent_alarms: notices,
      waiting: oldest.map((one) => waitingJson(one, now)),
    });
    if (parkedUnknown === undefined) return outcome;
    terminal.err(`parked work is unknown: ${parkedUnknown}; check NATS_URL and the NATS server`);
    return { ...outcome, exit: 3, isReport: true };
  },
};

const WHAT_NOTICES_ARE = 'differences from the authorizer or of documents that could not be relied on';

const textOf = ({ kind, id, companyId, mode, since, detail, command }: Waiting, now: Instant): string =>
  `${id ?? companyId} (${mode}), ${kind.replaceAll('_', ' ')} for ${since === undefined ? 'an unknown time' : ageText(secondsSince(since, now))}: ${detail} -> ${command}`;

const waitingJson = ({ kind, id, companyId, mode, since, detail, command }: Waiting, now: Instant) => ({
  kind,
  id,
  cnpj: companyId,
  livemode: mode === 'live',
  since: since ?? null,
  age_s: since === undefined ? null : Math.floor(secondsSince(since, now)),
  detail,
  command,
});

export const invoiceViewCommands: readonly Command[] = [show, list, waiting];

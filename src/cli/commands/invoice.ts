import { chainFindings } from '../../app/audit/chain.js';
import {
  SETTLE_ENDS,
  type SettleAs,
  type SettleResult,
  settleInvoice,
} from '../../app/operator/settlement/settle-invoice.js';
import { shortActor, type TimelineEntry, timelineEntries } from '../../app/operator/support/invoice-case.js';
import {
  findStream,
  kindsToLookFor,
  readCursor,
  SEARCH_KINDS,
  type SearchResult,
  searchInvoices,
} from '../../app/operator/support/search.js';
import { stoppedTexts } from '../../app/operator/support/stopped-series.js';
import { type Held, type NextStep, type WaitsFor, waitsFor } from '../../app/operator/support/waits-for.js';
import { isAccessKey } from '../../domain/common/access-key.js';
import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import { epochMs, type Instant, isBefore } from '../../domain/common/time.js';
import { invoiceStatus } from '../../domain/invoice/status.js';
import { ageText } from '../../lib/age-text.js';
import { counted } from '../../lib/counted.js';
import { pause } from '../../lib/pause.js';
import { printableLine, printableLines } from '../../lib/printable.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import type { SupportCursor, SupportRow } from '../../ports/support-reads.js';
import {
  badUsage,
  type Command,
  done,
  type Outcome,
  refused,
  reported,
  textFlag,
  textFlags,
  unknownCompany,
} from '../command.js';
import { unlessBroken } from '../findings.js';
import { refusedUnknown, tellRowsBehind } from '../rows-behind.js';
import type { Session } from '../session.js';
import { typedText } from '../terminal.js';
import { putCertificateCommand } from './certificate.js';

const timeline: Command = {
  name: 'invoice timeline',
  positionals: ['ID'],
  summary: 'the story of one invoice: what, when, who, evidence; and what an open one waits for',
  changes: false,
  run: async ({ positionals: [id = ''], session, terminal }) => {
    const opened = await session();
    const read = await eventsOf(id, opened);
    if (read === undefined) return await refusedUnknown(`no invoice ${id}`, opened, terminal);
    const { stream, events } = read;
    const story = timelineEntries(events);
    // A changed log may not fold; its timeline is shown all the same.
    const open = chainFindings(events).length === 0 ? await waitsFor(stream, events, opened) : undefined;
    const text = [renderTimeline(story), ...(open === undefined ? [] : waitingLines(open, opened.clock.now()))];
    const json = { id, timeline: story, ...(open === undefined ? {} : { waits_for: waitingJson(open) }) };
    return unlessBroken(done(text.join('\n'), json), events, terminal);
  },
};

/** Undefined when no company has an invoice with this id. */
export const timelineOf = async (id: string, session: Session): Promise<readonly TimelineEntry[] | undefined> => {
  const read = await eventsOf(id, session);
  return read && timelineEntries(read.events);
};

type ReadStream = { stream: StreamName; events: readonly RecordedEvent[] };

const eventsOf = async (id: string, session: Session): Promise<ReadStream | undefined> => {
  const stream = await findStream(id, session);
  if (stream === undefined || parseInvoiceStream(stream) === undefined) return undefined;
  return { stream, events: await session.log.read(stream) };
};

export const renderTimeline = (story: readonly TimelineEntry[]): string =>
  printableLines(
    story.map(({ at, event, who, evidence }) =>
      `${at}  ${event.padEnd(27)} ${shortActor(who).padEnd(20)} ${evidence.replaceAll('\n', ' ')}`.trimEnd(),
    ),
  );

const waitingLines = ({ lookups, next, held }: WaitsFor, now: Instant): readonly string[] => [
  ...lookups.map(({ work, asked, lastAskedAt, firstAbsentAt }) => {
    const absent = firstAbsentAt === undefined ? '' : `, first absent at ${firstAbsentAt}`;
    return `look-ups of ${work}: ${asked}, last at ${lastAskedAt}${absent}`;
  }),
  ...(next === undefined ? [] : [`${NEXT[next.step]} ${dueText(next.from, held.length > 0, now)}`]),
  ...held.map(heldTexts).map(({ detail, command }) => `held back: ${detail} -> ${command}`),
];

const dueText = (from: Instant, isHeld: boolean, now: Instant): string => {
  const due = isBefore(now, from) ? `from ${from}` : 'now';
  return isHeld ? `${due}, but for what holds it back` : due;
};

const heldTexts = (held: Held): { detail: string; command: string } => {
  switch (held.kind) {
    case 'series_stopped':
      return stoppedTexts(held.stopped);
    case 'certificate_missing':
      return {
        detail: 'the company has no certificate that can be used',
        command: putCertificateCommand(held.companyId),
      };
    case 'certificate_refused': {
      const { companyId, mode, since, reason } = held.refusal;
      const detail = `the authorizer refuses the company's certificate in ${mode} mode since ${since} (${reason})`;
      return { detail, command: putCertificateCommand(companyId) };
    }
  }
};

const NEXT: Readonly<Record<NextStep['step'], string>> = {
  send: 'sent',
  resend: 'sent again',
  look_up: 'next look-up',
  conclude: 'ended by time',
};

const waitingJson = ({ lookups, next, held }: WaitsFor) => ({
  lookups: lookups.map(({ work, asked, lastAskedAt, firstAbsentAt }) => ({
    work,
    asked,
    last_asked_at: lastAskedAt,
    first_absent_at: firstAbsentAt ?? null,
  })),
  next: next ?? null,
  held_by: held.map((one) => ({ kind: one.kind, ...heldTexts(one) })),
});

const search: Command = {
  name: 'invoice search',
  positionals: ['TEXT'],
  summary:
    'invoices by id, reference, access key, DPS id, customer document or number of the note; - reads it from stdin',
  options: {
    by: { value: 'VALUE', help: `${SEARCH_KINDS.join(', ')} (default: reference, then what TEXT looks like)` },
    company: { value: 'CNPJ', help: 'CNPJ: only its invoices; a search by number needs it' },
    before: { value: 'NEXT', help: 'continues a search by document: "next" of its last answer' },
  },
  changes: true,
  run: async ({ positionals: [typed = ''], flags, actor, session, terminal }) => {
    const read = await typedText(typed, 'id, reference, access key, DPS id or customer document', terminal);
    if ('problem' in read) return badUsage(read.problem);
    const { text } = read;
    if (text === '') return badUsage('TEXT is empty');
    const by = textFlag(flags, 'by');
    const wanted = SEARCH_KINDS.find((one) => one === by);
    if (by !== undefined && wanted === undefined) return badUsage(`--by must be one of ${SEARCH_KINDS.join(', ')}`);
    if (wanted === 'number' && textFlag(flags, 'company') === undefined) return badUsage('--by number needs --company');
    const before = cursorFlag(textFlag(flags, 'before'));
    if (before === 'unreadable') return badUsage('--before takes the "next" of the search before');
    const companyId = textFlag(flags, 'company');
    const opened = await session();
    await tellRowsBehind(opened, terminal);
    if (companyId !== undefined && (await opened.readModel.company(companyId)) === undefined)
      return unknownCompany(companyId);
    const searcher = { command: 'invoice search', actor: `support:${actor}` } as const;
    const kinds = kindsToLookFor(text, wanted, companyId);
    const result = await searchInvoices({ text, kinds, companyId, before }, opened, searcher);
    const { lookedFor, found, lookedAt, next, unopened = [] } = result;
    for (const line of unopened) terminal.err(printableLine(line));
    // An id names one invoice, so nothing found is a refusal, as of every command that takes an id.
    const isUnknownId = found.length === 0 && lookedFor.includes('id');
    return reported(unopened.length === 0 && !isUnknownId, textOf(result), {
      looked_for: lookedFor,
      invoices: found.map(jsonOf),
      looked_at: lookedAt,
      next: next && cursorText(next),
    });
  },
};

const LISTED = 100;

const indeterminate: Command = {
  name: 'invoice indeterminate',
  summary: 'invoices that wait for support, oldest first',
  changes: false,
  run: async ({ session, terminal }) => {
    const opened = await session();
    await tellRowsBehind(opened, terminal);
    const { supportReads, clock } = opened;
    const { count, oldest } = await supportReads.indeterminate(LISTED);
    const lines = oldest.map((row) => `${lineOf(row)}, for ${ageText(secondsSince(verdictOf(row), clock.now()))}`);
    const text = count === 0 ? 'no invoice waits for support' : lines.join('\n');
    return done(text, { count, invoices: oldest.map(jsonOf) });
  },
};

const verdictOf = ({ createdAt, state }: SupportRow): Instant =>
  state.kind === 'invoice' && state.outcome.status === 'indeterminate' ? state.outcome.failedAt : createdAt;

export const secondsSince = (at: Instant, now: Instant): number => Math.max(0, epochMs(now) - epochMs(at)) / 1_000;

/** What `--before` takes: the last row of a page. */
export const cursorText = ({ createdAt, stream }: SupportCursor): string => `${createdAt}/${stream}`;

export const cursorFlag = (text: string | undefined): SupportCursor | undefined | 'unreadable' => {
  if (text === undefined) return undefined;
  const [createdAt = '', stream = '', ...more] = text.split('/');
  return (more.length === 0 ? readCursor(createdAt, stream) : undefined) ?? 'unreadable';
};

const textOf = ({ lookedFor, found, lookedAt, next }: SearchResult): string =>
  [
    ...(found.length === 0 ? [`nothing found by ${lookedFor.join(' and by ')}`] : found.map(lineOf)),
    ...(next === undefined
      ? []
      : [
          `the newest ${counted(lookedAt, 'invoice')} of these were looked at; older ones: --before ${cursorText(next)}`,
        ]),
  ].join('\n');

/** What a list says of an invoice; nothing personal. */
export const jsonOf = ({ stream, createdAt, state }: SupportRow) => {
  const address = parseInvoiceStream(stream);
  return {
    id: publicInvoiceId(address?.invoiceId ?? ''),
    cnpj: address?.companyId,
    livemode: address?.mode === 'live',
    ...(createdAt === '' ? {} : { created_at: createdAt }),
    ...(state.kind === 'invoice' ? { status: invoiceStatus(state), amount_in_cents: state.facts.amountInCents } : {}),
  };
};

/** As wide as an instant, so that the columns stay in line. */
const NO_INSTANT = '-'.padEnd('2026-11-21T12:00:00.000Z'.length);

export const lineOf = (row: SupportRow): string => {
  const { id, cnpj, livemode, created_at, status } = jsonOf(row);
  return `${created_at ?? NO_INSTANT}  ${id}  ${cnpj}  ${livemode ? 'live' : 'test'}  ${status ?? ''}`;
};

/** Look-ups that prove an absence; a third is never needed. The bound ends the wait when the clock does not move. */
const LOOKS = 3;

const resolveCommand: Command = {
  name: 'invoice resolve',
  positionals: ['ID'],
  summary:
    'settle an indeterminate invoice, a failed cancellation or a note canceled elsewhere, by what the authorizer holds',
  options: {
    as: {
      value: 'issued|failed|canceled|valid',
      help: 'issued, failed, canceled, or valid (the note stays)',
      required: true,
    },
    evidence: { value: 'TEXT', help: 'what it rests on, in your words; - reads a line from stdin', required: true },
    'access-key': { value: 'KEY', help: 'with --as issued: the access key of the note' },
    'other-sale': {
      multiple: true,
      value: 'KEY',
      help: 'with --as failed: the access key of a note under its number that you have compared, and that is of another sale',
    },
    'no-wait': { help: 'with --as failed: do not wait for the second of the two look-ups' },
  },
  changes: true,
  run: async ({ positionals: [id = ''], flags, actor, session, terminal }) => {
    const as = SETTLE_ENDS.find((end) => end === textFlag(flags, 'as'));
    if (as === undefined) return badUsage(`--as must be one of ${SETTLE_ENDS.join(', ')}`);
    const accessKey = textFlag(flags, 'access-key');
    if (accessKey !== undefined && (as !== 'issued' || !isAccessKey(accessKey)))
      return badUsage('--access-key is the 50 characters of a note, and goes with --as issued');
    const otherSales = textFlags(flags, 'other-sale');
    if (otherSales.length > 0 && (as !== 'failed' || !otherSales.every(isAccessKey)))
      return badUsage('--other-sale is the 50 characters of a note, and goes with --as failed');
    const read = await typedText(textFlag(flags, 'evidence') ?? '', 'evidence in one line', terminal);
    if ('problem' in read) return badUsage(read.problem);
    const evidence = read.text;
    if (evidence === '') return badUsage('--evidence must say what the settlement rests on');
    const opened = await session();
    const found = await findStream(id, opened);
    if (found === undefined || parseInvoiceStream(found) === undefined)
      return await refusedUnknown(`no invoice ${id}`, opened, terminal);
    const deps = await opened.settleDeps(actor);
    const command = { stream: found, as, evidence, otherSales, ...(accessKey === undefined ? {} : { accessKey }) };
    for (let look = 1; ; look += 1) {
      const result = await settleInvoice(command, deps);
      if (result.kind !== 'ask_again' || flags['no-wait'] === true || look === LOOKS) return outcome(id, as, result);
      terminal.err(`${result.detail} at ${result.at}`);
      await pause(Math.max(0, epochMs(result.at) - epochMs(opened.clock.now())) + 50);
    }
  },
};

export const invoiceCommands: readonly Command[] = [timeline, search, indeterminate, resolveCommand];

const outcome = (id: string, as: SettleAs, result: SettleResult): Outcome => {
  switch (result.kind) {
    case 'settled':
      return done(`${id} is settled as ${result.detail}`, { id, as, settled: true });
    case 'already_so':
      return done(`${id} is ${as} already`, { id, as, settled: false });
    case 'refused':
      return refused(`${id} is not settled: ${result.reason}`);
    case 'ask_again':
      return refused(`${id} is not settled yet: ${result.detail}; run this again after ${result.at}`);
  }
};

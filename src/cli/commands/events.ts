import { positionBefore } from '../../app/audit/anchor-log.js';
import { appendAudit } from '../../app/audit/audit-trail.js';
import { describeEvent, revealEvent, type ShownEvent } from '../../app/audit/event-line.js';
import { createUnopenedFields } from '../../app/audit/opened-fields.js';
import { eventTypeDefinitions } from '../../app/event-store/event-types.js';
import { walkLog } from '../../app/event-store/walk-log.js';
import { findStream } from '../../app/operator/support/search.js';
import type { StreamName } from '../../domain/common/ids.js';
import { nearestName } from '../../domain/common/nearest-name.js';
import type { Instant } from '../../domain/common/time.js';
import { ALL_STREAMS, companyPrefixes } from '../../domain/log/stream-prefixes.js';
import { pause } from '../../lib/pause.js';
import { printableLine, printableLines } from '../../lib/printable.js';
import { EventLogSetBack, isEarlier, type LogPosition, type RecordedEvent } from '../../ports/event-log.js';
import { badUsage, type Command, done, type Flags, refused, reported, textFlag, unknownCompany } from '../command.js';
import { unlessBroken } from '../findings.js';
import { instantFlag, wholeFlag } from '../flags.js';
import { refusedUnknown, tellRowsBehind } from '../rows-behind.js';
import { auditDeps, type Session } from '../session.js';
import { jsonText, type Terminal } from '../terminal.js';
import { exportCommand } from './events-export.js';

const SEARCH_PAGE = 100;
const LARGEST_PAGE = 10_000;

type Search = {
  type: string | undefined;
  company: string | undefined;
  since: Instant | undefined;
  until: Instant | undefined;
  actor: string | undefined;
  limit: number;
  after: LogPosition | null;
};

/** Searches in order of the log, from an anchor before `--since`. `next` of a page is `--after` of the following page. */
const searchCommand: Command = {
  name: 'events search',
  summary: 'events by type, company, time and actor, in order of the log',
  options: {
    type: { value: 'TYPE', help: 'an event type, e.g. Authorized' },
    company: { value: 'CNPJ', help: 'CNPJ: its own streams, its invoices and its DPS numbers' },
    since: { value: 'TIME', help: 'recorded at or after this instant or day (UTC)' },
    until: { value: 'TIME', help: 'recorded before this instant or day (UTC)' },
    by: { value: 'VALUE', help: 'what the actor begins with, e.g. support:maria' },
    limit: { value: 'N', help: `events of a page (default ${SEARCH_PAGE})` },
    after: { value: 'POSITION', help: 'continue after this position, from the page before' },
  },
  changes: false,
  run: async ({ flags, session, terminal }) => {
    const search = searchOf(flags);
    if ('problem' in search) return badUsage(search.problem);
    const opened = await session();
    const { log, readModel, store } = opened;
    if (search.company !== undefined && (await readModel.company(search.company)) === undefined) {
      await tellRowsBehind(opened, terminal, ['companies']);
      return unknownCompany(search.company);
    }
    const found: RecordedEvent[] = [];
    const prefixes = search.company === undefined ? ALL_STREAMS : companyPrefixes(search.company);
    const start = search.since === undefined ? null : await positionBefore(search.since, store);
    for await (const page of walkLog(log, prefixes, isEarlier(search.after, start) ? start : search.after)) {
      for (const event of page) if (found.length <= search.limit && matches(event, search)) found.push(event);
      if (found.length > search.limit) break;
    }
    const shown = found.slice(0, search.limit);
    const next = found.length > search.limit ? shown.at(-1)?.position : undefined;
    const lines = [...shown.map(lineOf), ...(next === undefined ? [] : [`more: --after ${next}`])];
    const text = lines.length === 0 ? 'no such event' : printableLines(lines);
    return done(text, { events: shown.map(describeEvent), next: next?.toString() });
  },
};

/** One event of any stream as a line: position, time, type, stream, actor. Nothing of its content. */
const lineOf = ({ position, stream, revision, type, metadata }: RecordedEvent): string =>
  `${String(position).padStart(8)}  ${metadata.recordedAt ?? ''}  ${type.padEnd(28)} ${stream}@${revision}  ${metadata.actor ?? ''}`;

const matches = ({ type, metadata }: RecordedEvent, search: Search): boolean => {
  const at = metadata.recordedAt ?? '';
  if (search.type !== undefined && type !== search.type) return false;
  if (search.since !== undefined && at < search.since) return false;
  if (search.until !== undefined && at >= search.until) return false;
  return search.actor === undefined || (metadata.actor ?? '').startsWith(search.actor);
};

const noEventType = (type: string): string => {
  const near = nearestName(type, [...eventTypeDefinitions.keys()]);
  return `there is no event type ${type}${near === undefined ? '' : `; did you mean ${near}?`}`;
};

const searchOf = (flags: Flags): Search | { problem: string } => {
  const [type, company, actor] = [textFlag(flags, 'type'), textFlag(flags, 'company'), textFlag(flags, 'by')];
  const limit = wholeFlag(flags, 'limit', SEARCH_PAGE);
  const after = textFlag(flags, 'after');
  const since = instantFlag(flags, 'since');
  const until = instantFlag(flags, 'until');
  if (type !== undefined && !eventTypeDefinitions.has(type)) return { problem: noEventType(type) };
  if (limit === undefined || limit < 1 || limit > LARGEST_PAGE) {
    return { problem: `--limit takes a whole number from 1 to ${LARGEST_PAGE}` };
  }
  if (after !== undefined && !isPosition(after)) return { problem: '--after takes a position' };
  if (since === 'bad' || until === 'bad')
    return { problem: '--since and --until take an instant: 2026-11-21T12:00:00Z' };
  const position = after === undefined ? null : (BigInt(after) as LogPosition);
  return { limit, after: position, type, company, actor, since, until };
};

/** Engines store positions as signed 64-bit numbers. */
const LAST_POSITION = 2n ** 63n - 1n;

const isPosition = (text: string): boolean => /^\d{1,20}$/.test(text) && BigInt(text) <= LAST_POSITION;

const PAGE = 500;

/** Engines store revisions as signed 32-bit numbers. */
const LAST_REVISION = 2 ** 31 - 1;

const show: Command = {
  name: 'events show',
  positionals: ['ID|STREAM'],
  summary: 'the events of an invoice or of any stream, as stored',
  options: {
    from: { value: 'REVISION', help: 'first revision to show (default 0)' },
    limit: { value: 'N', help: 'how many events at most (default all)' },
    reveal: { help: 'personal fields in clear, too; this is recorded with the actor' },
  },
  changes: true,
  run: async ({ positionals: [wanted = ''], flags, actor, session, terminal }) => {
    const from = wholeFlag(flags, 'from', 0);
    const limit = wholeFlag(flags, 'limit', Number.MAX_SAFE_INTEGER);
    if (from === undefined || from > LAST_REVISION)
      return badUsage(`--from takes a revision, a whole number from 0 to ${LAST_REVISION}`);
    if (limit === undefined || limit === 0) return badUsage('--limit takes a whole number from 1');
    const opened = await session();
    const stream = await findStream(wanted, opened);
    const events = stream === undefined ? [] : await readPages(stream, opened.log, from, limit);
    if (stream === undefined) return await refusedUnknown(`nothing is recorded for ${wanted}`, opened, terminal);
    if (events.length === 0) return refused(`nothing is recorded for ${wanted}`);
    const reveal = flags.reveal === true;
    const seen = { command: 'events show', subject: stream };
    if (reveal) await appendAudit('PersonalDataRevealed', seen, auditDeps(opened, actor));
    const unopened = createUnopenedFields();
    const shown = await Promise.all(
      events.map((event) => (reveal ? revealEvent(event, opened.sealingKeys, unopened.add) : describeEvent(event))),
    );
    const lines = unopened.lines();
    for (const line of lines) terminal.err(printableLine(line));
    const last = events.at(-1);
    const more = last !== undefined && events.length === limit ? { next: last.revision + 1 } : {};
    const text = printableLines([`stream ${stream}`, ...shown.flatMap(linesOf)]);
    const outcome = reported(lines.length === 0, text, { events: shown, ...more });
    return unlessBroken(outcome, events, terminal, from > 0);
  },
};

type UntilStopped = (terminal: Pick<Terminal, 'untilInterrupted'>) => AbortSignal;

/** `untilStopped` returns a signal that ends `tail --follow`, `lookEveryMs` is the pause between its looks at a lost log. */
export const eventCommandsUntil = (untilStopped: UntilStopped, lookEveryMs = 3_000): readonly Command[] => [
  show,
  tailCommand(untilStopped, lookEveryMs),
  searchCommand,
  exportCommand,
];

const readPages = async (
  stream: StreamName,
  log: Session['log'],
  from: number,
  limit: number,
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for (;;) {
    const last = events.at(-1);
    const size = Math.min(PAGE, limit - events.length);
    const page =
      size === 0 ? [] : await log.read(stream, { from: last === undefined ? from : last.revision + 1, limit: size });
    events.push(...page);
    if (page.length < PAGE) return events;
  }
};

/** Revealed fields are on a line below their event. */
const linesOf = ({ revision, at, type, meta, revealed }: ShownEvent): readonly string[] => [
  `${String(revision).padStart(4)}  ${at}  ${type.padEnd(28)} ${meta.actor ?? ''}`,
  ...(revealed === undefined ? [] : [`      ${jsonText(revealed)}`]),
];

const LAST = 20;

/** With `--follow` each event is written as it arrives, with `--json` as one document a line. */
const tailCommand = (untilStopped: UntilStopped, lookEveryMs: number): Command => ({
  name: 'events tail',
  summary: 'the last events of the log; --follow then shows new ones as they come',
  options: {
    follow: { help: 'continue until Ctrl-C; with --json one event a line' },
    limit: { value: 'N', help: `how many of the last events (default ${LAST})` },
  },
  changes: false,
  run: async ({ flags, session, terminal }) => {
    const limit = wholeFlag(flags, 'limit', LAST);
    if (limit === undefined || limit > LARGEST_PAGE) return badUsage('--limit takes a whole number up to 10000');
    const { log } = await session();
    const last = await log.readLast({ prefixes: ALL_STREAMS, limit });
    if (flags.follow !== true) return done(printableLines(last.map(lineOf)), { events: last.map(describeEvent) });
    const write = (events: readonly RecordedEvent[]): void => {
      for (const event of events)
        terminal.out(flags.json === true ? jsonText(describeEvent(event)) : printableLine(lineOf(event)));
    };
    write(last);
    const after = last.at(-1)?.position ?? (await log.head());
    const stopped = untilStopped(terminal);
    const { lost, onInterrupted } = watchLoss(log, stopped, lookEveryMs);
    const signal = AbortSignal.any([stopped, lost]);
    const follow = async (): Promise<string | undefined> => {
      for await (const batch of log.subscribe({ prefixes: ALL_STREAMS, after, signal, onInterrupted })) write(batch);
      return lost.aborted ? LOST : undefined;
    };
    const fault = await follow().catch((error: unknown) => {
      if (error instanceof EventLogSetBack) return SET_BACK;
      throw error;
    });
    if (fault !== undefined) terminal.err(fault);
    return { exit: fault === undefined ? 0 : 3, text: '', json: undefined };
  },
});

const LOST = 'the event log cannot be reached any more: the service or its database has stopped';

const SET_BACK =
  'the event log has lost events that are shown above: run the command again to see those in their place';

/** A server that restarts is back sooner. */
const LOOKS = 5;

const answers = (log: Session['log']): Promise<boolean> =>
  log.head().then(
    () => true,
    () => false,
  );

/** `lost` aborts when the log does not answer again after an interruption: to a reader it would look like a log where nothing happens. */
const watchLoss = (log: Session['log'], stopped: AbortSignal, lookEveryMs: number) => {
  const lost = new AbortController();
  let isLooking = false;
  const look = async (): Promise<void> => {
    for (let looks = 0; looks < LOOKS; looks++) {
      await pause(lookEveryMs, stopped);
      const isBack = stopped.aborted || (await answers(log));
      if (isBack) return;
    }
    lost.abort();
  };
  const onInterrupted = (): void => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  };
  return { lost: lost.signal, onInterrupted };
};

export const eventCommands: readonly Command[] = eventCommandsUntil(({ untilInterrupted }) => {
  const stop = new AbortController();
  untilInterrupted?.().addEventListener('abort', () => stop.abort(), { once: true });
  // The reader of the output may close the pipe (`nfse events tail --follow | head`).
  process.stdout.once('error', () => stop.abort());
  return stop.signal;
});

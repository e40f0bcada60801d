import { describeEvent, type ShownEvent } from '../../app/audit/event-line.js';
import { recordReveal, revealEvent } from '../../app/audit/reveal.js';
import { findStream } from '../../app/support/find-stream.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import { badUsage, type Command, done, refused, textFlag } from '../command.js';
import type { ProgressStream } from '../progress.js';
import { auditDeps, type Session } from '../session.js';
import { exportCommand } from './events-export.js';
import { searchCommand } from './events-search.js';
import { tailCommand } from './events-tail.js';
import { wholeFlag } from './whole-flag.js';

const PAGE = 500;

/** Engines keep it in 32 bits with a sign. */
const LAST_REVISION = 2 ** 31 - 1;

const show: Command = {
  name: 'events show',
  positionals: ['ID|STREAM'],
  summary: 'the events of an invoice or of any stream, as stored',
  options: {
    from: { type: 'string', help: 'first revision to show (default 0)' },
    limit: { type: 'string', help: 'how many events at most (default all)' },
    reveal: { type: 'boolean', help: 'personal fields in clear, too; goes on record with the actor' },
  },
  changes: true,
  run: async ({ positionals: [wanted = ''], flags, actor, session }) => {
    const from = wholeFlag(typeof flags.from === 'string' ? flags.from : '0');
    const limit = wholeFlag(textFlag(flags, 'limit') ?? String(Number.MAX_SAFE_INTEGER));
    if (from === undefined || from > LAST_REVISION || limit === undefined)
      return badUsage('--from and --limit take whole numbers');
    const opened = await session();
    const stream = await findStream(wanted, opened);
    const events = stream === undefined ? [] : await readWhole(stream, opened, from, limit);
    if (stream === undefined || events.length === 0) return refused(`nothing is recorded for ${wanted}`);
    if (flags.reveal === true) {
      await recordReveal({ command: 'events show', subject: stream }, auditDeps(opened, actor));
    }
    const shown = await Promise.all(
      events.map((event) =>
        flags.reveal === true ? revealEvent(event, opened.sealingKeys) : Promise.resolve(describeEvent(event)),
      ),
    );
    const last = events[events.length - 1];
    const more = last !== undefined && events.length === limit ? { next: last.revision + 1 } : {};
    return done([`stream ${stream}`, ...shown.flatMap(linesOf)].join('\n'), { events: shown, ...more });
  },
};

export type EventOutputs = {
  /** Where `tail` writes as events come. */
  out: ProgressStream;
  progress: ProgressStream;
  /** Ends `tail --follow`. */
  untilStopped(): AbortSignal;
};

export const eventCommandsOn = (outputs: EventOutputs): readonly Command[] => [
  show,
  tailCommand(outputs),
  searchCommand,
  exportCommand(outputs.progress),
];

export const eventCommands: readonly Command[] = eventCommandsOn({
  out: process.stdout,
  progress: process.stderr,
  untilStopped: () => {
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    // Whoever reads may stop reading (`nfse events tail --follow | head`).
    process.stdout.once('error', () => stop.abort());
    return stop.signal;
  },
});

export const readWhole = async (
  stream: StreamName,
  { log }: Pick<Session, 'log'>,
  from = 0,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for (;;) {
    const last = events[events.length - 1];
    const size = Math.min(PAGE, limit - events.length);
    const page =
      size === 0 ? [] : await log.read(stream, { from: last === undefined ? from : last.revision + 1, limit: size });
    events.push(...page);
    if (page.length < PAGE) return events;
  }
};

/** What was opened stands below the event's own line. */
const linesOf = ({ revision, at, type, meta, revealed }: ShownEvent): readonly string[] => [
  `${String(revision).padStart(4)}  ${at}  ${type.padEnd(28)} ${meta.actor ?? ''}`,
  ...(revealed === undefined ? [] : [`      ${JSON.stringify(revealed)}`]),
];

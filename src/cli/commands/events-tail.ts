import { describeEvent } from '../../app/audit/event-line.js';
import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import { badUsage, type Command, done, textFlag } from '../command.js';
import type { ProgressStream } from '../progress.js';
import { lineOf } from './event-text.js';
import { wholeFlag } from './whole-flag.js';

const LAST = '20';

type Outputs = { out: ProgressStream; untilStopped(): AbortSignal };

/** With `--follow` what comes is written as it comes, with `--json` one document a line; nobody waits for the end. */
export const tailCommand = ({ out, untilStopped }: Outputs): Command => ({
  name: 'events tail',
  positionals: [],
  summary: 'the last events of the log; --follow goes on as they come',
  options: {
    follow: { type: 'boolean', help: 'go on until Ctrl-C; with --json one event a line' },
    limit: { type: 'string', help: `how many of the last events (default ${LAST})` },
  },
  changes: false,
  run: async ({ flags, session }) => {
    const limit = wholeFlag(textFlag(flags, 'limit') ?? LAST);
    if (limit === undefined || limit > 10_000) return badUsage('--limit takes a whole number up to 10000');
    const { log } = await session();
    const last = await log.readLast({ prefixes: ALL_STREAMS, limit });
    if (flags.follow !== true) return done(last.map(lineOf).join('\n'), { events: last.map(describeEvent) });
    const write = (events: readonly RecordedEvent[]): void => {
      for (const event of events)
        out.write(`${flags.json === true ? JSON.stringify(describeEvent(event)) : lineOf(event)}\n`);
    };
    write(last);
    const after = last[last.length - 1]?.position ?? (await log.head());
    for await (const batch of log.subscribe({ prefixes: ALL_STREAMS, after, signal: untilStopped() })) write(batch);
    return { exit: 0, text: '', json: undefined };
  },
});

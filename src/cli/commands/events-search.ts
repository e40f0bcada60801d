import { placeBefore } from '../../app/anchors/place-before.js';
import { describeEvent } from '../../app/audit/event-line.js';
import { walkLog } from '../../app/audit/walk.js';
import { eventTypeDefinitions } from '../../app/event-store/event-types.js';
import { ALL_STREAMS, companyPrefixes } from '../../domain/log/stream-prefixes.js';
import type { Instant } from '../../domain/shared/time.js';
import { isEarlier, type LogPosition, type RecordedEvent } from '../../ports/event-log.js';
import { badUsage, type Command, done, type Flags, refused, textFlag } from '../command.js';
import { readInstant } from '../instant-flag.js';
import { lineOf } from './event-text.js';
import { wholeFlag } from './whole-flag.js';

const PAGE = '100';
const LARGEST_PAGE = 10_000;

type Search = {
  type?: string;
  company?: string;
  since?: Instant;
  until?: Instant;
  actor?: string;
  limit: number;
  after: LogPosition | null;
};

/** In order of the log from an anchor before `--since`, page by page: `next` of an answer is `--after` of the next one. */
export const searchCommand: Command = {
  name: 'events search',
  positionals: [],
  summary: 'events by type, company, time and actor, in order of the log',
  options: {
    type: { type: 'string', help: 'an event type, e.g. Authorized' },
    company: { type: 'string', help: 'CNPJ: its own streams, its invoices and its DPS numbers' },
    since: { type: 'string', help: 'recorded at or after this instant' },
    until: { type: 'string', help: 'recorded before this instant' },
    by: { type: 'string', help: 'what the actor begins with, e.g. support:maria' },
    limit: { type: 'string', help: `events of a page (default ${PAGE})` },
    after: { type: 'string', help: 'position behind which to go on, from the page before' },
  },
  changes: false,
  run: async ({ flags, session }) => {
    const search = searchOf(flags);
    if ('problem' in search) return badUsage(search.problem);
    const { log, readModel, store } = await session();
    if (search.company !== undefined && (await readModel.company(search.company)) === undefined) {
      return refused(`there is no company ${search.company}`);
    }
    const found: RecordedEvent[] = [];
    const prefixes = search.company === undefined ? ALL_STREAMS : companyPrefixes(search.company);
    const place = search.since === undefined ? null : await placeBefore(search.since, store);
    for await (const page of walkLog(log, prefixes, isEarlier(search.after, place) ? place : search.after)) {
      for (const event of page) if (found.length <= search.limit && matches(event, search)) found.push(event);
      if (found.length > search.limit) break;
    }
    const shown = found.slice(0, search.limit);
    const next = found.length > search.limit ? shown[shown.length - 1]?.position : undefined;
    const lines = [...shown.map(lineOf), ...(next === undefined ? [] : [`more: --after ${next}`])];
    const text = lines.length === 0 ? 'no such event' : lines.join('\n');
    return done(text, { events: shown.map(describeEvent), ...(next === undefined ? {} : { next: String(next) }) });
  },
};

const matches = ({ type, metadata }: RecordedEvent, search: Search): boolean => {
  const at = metadata.recordedAt ?? '';
  if (search.type !== undefined && type !== search.type) return false;
  if (search.since !== undefined && at < search.since) return false;
  if (search.until !== undefined && at >= search.until) return false;
  return search.actor === undefined || (metadata.actor ?? '').startsWith(search.actor);
};

const searchOf = (flags: Flags): Search | { problem: string } => {
  const [type, company, actor] = [textFlag(flags, 'type'), textFlag(flags, 'company'), textFlag(flags, 'by')];
  const limit = wholeFlag(textFlag(flags, 'limit') ?? PAGE);
  const after = textFlag(flags, 'after');
  const since = momentOf(flags, 'since');
  const until = momentOf(flags, 'until');
  if (type !== undefined && !eventTypeDefinitions.has(type)) return { problem: `there is no event type ${type}` };
  if (limit === undefined || limit < 1 || limit > LARGEST_PAGE) {
    return { problem: `--limit takes a whole number from 1 to ${LARGEST_PAGE}` };
  }
  if (after !== undefined && !isPosition(after)) return { problem: '--after takes a position' };
  if (since === 'bad' || until === 'bad')
    return { problem: '--since and --until take an instant: 2026-11-21T12:00:00Z' };
  return {
    ...{ limit, after: after === undefined ? null : (BigInt(after) as LogPosition) },
    ...(type === undefined ? {} : { type }),
    ...(company === undefined ? {} : { company }),
    ...(actor === undefined ? {} : { actor }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
};

/** Engines keep it in 64 bits with a sign. */
const LAST_POSITION = 2n ** 63n - 1n;

const isPosition = (text: string): boolean => /^\d{1,20}$/.test(text) && BigInt(text) <= LAST_POSITION;

const momentOf = (flags: Flags, name: string): Instant | undefined | 'bad' => {
  const text = textFlag(flags, name);
  return text === undefined ? undefined : (readInstant(text) ?? 'bad');
};

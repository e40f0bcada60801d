import { type ReadAllOptions, START } from '@eventstore/db-client';
import { EventLogUnavailable, type LogPosition, type RecordedEvent } from '../../ports/event-log.js';
import { callOptions } from './client.js';
import { positionOf, toServerPosition } from './events.js';
import { isLost } from './faults.js';
import { eventsOf, follow, laterOf } from './following.js';
import { answered, type Reader } from './read.js';

/** What was found behind a place, and how far the log was looked at; `lookedTo` may be no event of ours. */
export type Stretch = { events: readonly RecordedEvent[]; lookedTo: LogPosition | null; atEnd: boolean };

type Wanted = { prefixes: readonly string[]; after: LogPosition | null; limit: number };

/** Events of a page, ours or not. */
const PAGE = { smallest: 64, largest: 500 };

/** Where fewer than one in so many events of a page is ours, the server looks for the next. */
const SCARCE = 8;

/**
 * The next events behind a place, `limit` of them unless the log ends before. Plain pages, which a server holds back for whoever
 * is slow; only where ours are scarce does the server search, by a subscription. One that is lost is gone on with by pages, behind
 * the last event that came. Throws `EventLogUnavailable`.
 */
export const readBehind = async (reader: Reader, wanted: Wanted, signal: AbortSignal): Promise<Stretch> => {
  const { prefixes, limit } = wanted;
  const events: RecordedEvent[] = [];
  let lookedTo = wanted.after;
  let smallest = PAGE.smallest;
  while (events.length < limit && !signal.aborted) {
    const left = limit - events.length;
    const page = await readPage(reader, { prefixes, after: lookedTo, limit: left }, smallest);
    events.push(...page.events);
    lookedTo = page.lookedTo;
    if (page.atEnd) return { events, lookedTo, atEnd: true };
    if (!page.isScarce || events.length >= limit) continue;
    const found = await search(reader, { prefixes, after: lookedTo, limit: limit - events.length }, signal);
    events.push(...found.events);
    lookedTo = found.lookedTo;
    if (found.atEnd) return { events, lookedTo, atEnd: true };
    smallest = PAGE.largest;
  }
  return { events, lookedTo, atEnd: false };
};

const readPage = async (
  reader: Reader,
  { prefixes, after, limit }: Wanted,
  smallest: number,
): Promise<Stretch & { isScarce: boolean }> => {
  const fromPosition = after === null ? START : toServerPosition(after);
  // One more, because the event at the place itself comes along, unless it was scavenged.
  const maxCount = Math.min(PAGE.largest, Math.max(smallest, limit)) + 1;
  const options: ReadAllOptions = { ...callOptions(reader), fromPosition, maxCount };
  const page = await answered(reader, () => reader.client.readAll(options), isLost);
  const behind = page.filter(({ event }) => event !== undefined && (after === null || positionOf(event) > after));
  const ours = eventsOf(behind, prefixes);
  const events = ours.slice(0, limit);
  if (events.length < ours.length) {
    return { events, lookedTo: events.at(-1)?.position ?? after, atEnd: false, isScarce: false };
  }
  const last = behind.at(-1)?.event;
  const lookedTo = last === undefined ? after : positionOf(last);
  return { events, lookedTo, atEnd: page.length < maxCount, isScarce: ours.length * SCARCE < behind.length };
};

/** Until there are enough, the log ends or the subscription is lost; what is lost is not an end. */
const search = async (reader: Reader, { prefixes, after, limit }: Wanted, signal: AbortSignal): Promise<Stretch> => {
  const { inbox, preface, lookedTo } = await follow(reader, prefixes, after);
  const events = [...eventsOf(preface, prefixes)];
  const place = (): LogPosition | null =>
    events.length >= limit
      ? (events[limit - 1]?.position ?? after)
      : laterOf(events.at(-1)?.position ?? after, lookedTo());
  try {
    while (events.length < limit) {
      const taken = inbox.take(limit - events.length);
      events.push(...eventsOf(taken, prefixes));
      if (taken.length > 0) continue;
      if (inbox.isCaughtUp()) return { events, lookedTo: place(), atEnd: true };
      if (signal.aborted || inbox.isFull()) break;
      const before = performance.now();
      const looked = lookedTo();
      await inbox.wait(reader.timeoutMs, signal);
      // A server that looks through a long stretch without a match says only how far it is.
      if (performance.now() - before >= reader.timeoutMs && lookedTo() === looked) {
        throw new EventLogUnavailable('the event log did not answer a read in time');
      }
    }
  } catch (error) {
    if (!isLost(error)) throw error;
  } finally {
    inbox.close();
  }
  return { events: events.slice(0, limit), lookedTo: place(), atEnd: false };
};

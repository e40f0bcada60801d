import {
  type EventBatch,
  type EventLog,
  isEarlier,
  type LogPosition,
  type StoredEvent,
} from '../../ports/event-log.js';

const PAGE = 200;

/** How far a long walk is: events so far, and the share of the way from 0 to 1, by positions or bytes. */
export type WalkProgress = { events: number; share: number };

/** Progress between 0 and 1. Positions are not counts, but they grow with the log. */
export const shareOf = (position: LogPosition | null, head: LogPosition | null): number => {
  if (head === null || head === 0n) return 1;
  return Math.min(1, Number(((position ?? 0n) * 10_000n) / head) / 10_000);
};

/** The log from its beginning (or after `after`) to its end, page by page; never more than two pages in memory. */
export const walkLog = (
  log: Pick<EventLog, 'readAll'>,
  prefixes: readonly string[],
  after: LogPosition | null = null,
): AsyncGenerator<EventBatch, void, void> =>
  pagesOf((from) => log.readAll({ prefixes, after: from, limit: PAGE }), after);

/** The same, with the rows of the engine's table. */
export const walkStored = (
  readStored: Required<EventLog>['readStored'],
): AsyncGenerator<readonly StoredEvent[], void, void> => pagesOf((after) => readStored({ after, limit: PAGE }), null);

async function* pagesOf<Item extends { position: LogPosition }>(
  read: (after: LogPosition | null) => Promise<readonly Item[]>,
  after: LogPosition | null,
): AsyncGenerator<readonly Item[], void, void> {
  let reading = read(after);
  for (;;) {
    const page = await reading;
    const last = page.at(-1);
    if (last === undefined) return;
    reading = read(last.position);
    // A consumer that stops early never awaits this page, so its failure must not become an unhandled rejection.
    reading.catch(() => undefined);
    yield page;
  }
}

/**
 * Whether the log reaches this position and can be read from there. A stored position of an end that the log has lost is past the head, or lies inside
 * a record once the log has grown again; it can also be that of another event, which only a remembered event shows (ADR 14).
 */
export const isPlaceOf = async (
  log: Pick<EventLog, 'hasPlace'>,
  head: LogPosition | null,
  position: LogPosition | null,
): Promise<boolean> => position === null || (!isEarlier(head, position) && (await log.hasPlace?.(position)) !== false);

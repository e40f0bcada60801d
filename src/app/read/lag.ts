import { epochMs } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog, LogPosition } from '../../ports/event-log.js';

const CACHED_MS = 200;

/**
 * Age in seconds of the oldest event of the log that a reader has not handled; 0 when it is at the head. Taken from
 * the log itself, so that a dead subscription shows (design section 7).
 */
export const createLag = (
  log: EventLog,
  source: { prefixes: readonly string[]; checkpoint(): Promise<LogPosition | null> },
  clock: Clock,
): (() => Promise<number>) => {
  let cached: { at: number; value: Promise<number> } | undefined;
  const measure = async (): Promise<number> => {
    const after = await source.checkpoint();
    if ((await log.head()) === after) return 0;
    const [oldest] = await log.readAll({ prefixes: source.prefixes, after, limit: 1 });
    if (oldest === undefined) return 0;
    return Math.max(0, (epochMs(clock.now()) - epochMs(oldest.metadata.recordedAt ?? clock.now())) / 1000);
  };
  return () => {
    const at = epochMs(clock.now());
    if (cached === undefined || Math.abs(at - cached.at) >= CACHED_MS) {
      const value = measure();
      value.catch(() => {
        cached = undefined;
      });
      cached = { at, value };
    }
    return cached.value;
  };
};

import type { Gauge } from 'prom-client';
import { cachedCheck, lastAnswer } from '../../lib/cached-check.js';
import type { Series } from './series.js';

type ScrapeSource<T> = {
  name: string;
  gauges: readonly Gauge<string>[];
  ask(): Promise<T>;
  show(answer: T): void;
  /** The projection whose rows the answer is made of; while these are behind the log, the source fails. */
  reads?: string;
  reuseMs?: number;
  limitMs?: number;
};

const LIMIT_MS = 2_000;

/** Shorter than the limit of the sources that wait for this answer. */
const BEHIND_LIMIT_MS = 1_000;

const KEPT_MS = 5_000;

/** Asks all sources at once, each within its limit. A source that fails shows no series instead of old ones, and `nfse_source_ok` is 0. */
export const scrapeSources = ({ gauge }: Series, isKnown: (projection: string) => Promise<boolean>) => {
  const ok = gauge('nfse_source_ok', '1 when what the gauges of this source show could be asked for this scrape.', [
    'source',
  ]);
  const refreshes: (() => Promise<void>)[] = [];
  return {
    add: <T>({ name, gauges, ask, show, reads, reuseMs = KEPT_MS, limitMs = LIMIT_MS }: ScrapeSource<T>): void => {
      const answer = cachedCheck(ask, { reuseMs, limitMs });
      refreshes.push(async () => {
        const known = reads === undefined || (await isKnown(reads));
        const seen = !known
          ? undefined
          : await answer().then(
              (value) => ({ value }),
              () => undefined,
            );
        for (const shown of gauges) clear(shown);
        if (seen !== undefined) show(seen.value);
        ok.set({ source: name }, seen === undefined ? 0 : 1);
      });
    },
    refresh: async (): Promise<void> => {
      await Promise.all(refreshes.map((refresh) => refresh()));
    },
  };
};

/** Whether the rows of a projection hold what the log says. While no answer comes the one before stays: a log that is away ends no alert. */
export const rowsKnown = (
  projectionsBehind: () => Promise<readonly string[]>,
  reuseMs = KEPT_MS,
): ((projection: string) => Promise<boolean>) => {
  const behind = lastAnswer(projectionsBehind, { reuseMs, limitMs: BEHIND_LIMIT_MS });
  return async (projection) => (await behind())?.includes(projection) === false;
};

/** `reset` alone would leave a gauge without labels at 0. */
const clear = (gauge: Gauge<string>): void => {
  gauge.reset();
  gauge.remove({});
};

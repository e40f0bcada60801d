import { Gauge, type Registry } from 'prom-client';
import { momentary } from '../momentary.js';

/** One engine's answer and the gauges that show it. */
export type ScrapeSource<T> = {
  name: string;
  gauges: readonly Gauge<string>[];
  ask(): Promise<T>;
  show(answer: T): void;
  keptMs?: number;
  limitMs?: number;
};

const LIMIT_MS = 2_000;
const KEPT_MS = 5_000;

/**
 * Asks all sources at once, each within its own limit and no more often than its answer is kept. A source that fails
 * shows no series instead of old ones, and says so in `nfse_source_ok`.
 */
export const scrapeSources = (registry: Registry) => {
  const ok = new Gauge({
    name: 'nfse_source_ok',
    help: '1 when what the gauges of this source show could be asked for this scrape.',
    labelNames: ['source'],
    registers: [registry],
  });
  const refreshes: (() => Promise<void>)[] = [];
  return {
    add: <T>({ name, gauges, ask, show, keptMs = KEPT_MS, limitMs = LIMIT_MS }: ScrapeSource<T>): void => {
      const answer = momentary(ask, { keptMs, limitMs });
      refreshes.push(async () => {
        const seen = await answer().then(
          (value) => ({ value }),
          () => undefined,
        );
        for (const gauge of gauges) clear(gauge);
        if (seen !== undefined) show(seen.value);
        ok.set({ source: name }, seen === undefined ? 0 : 1);
      });
    },
    refresh: async (): Promise<void> => {
      await Promise.all(refreshes.map((refresh) => refresh()));
    },
  };
};

/** Not `reset` alone, which leaves a gauge without labels at 0. */
const clear = (gauge: Gauge<string>): void => {
  gauge.reset();
  gauge.remove({});
};

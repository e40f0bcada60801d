import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { rowsKnown, scrapeSources } from '../../../src/runtime/metrics/scrape-sources.js';
import { seriesIn } from '../../../src/runtime/metrics/series.js';
import { readMetrics } from '../../support/metrics-text.js';

const scraped = async (projectionsBehind: () => Promise<readonly string[]>) => {
  const registry = new Registry();
  const series = seriesIn(registry);
  const sources = scrapeSources(series, rowsKnown(projectionsBehind));
  const waiting = series.gauge('waiting', 'Made of rows of invoices.');
  const unsettled = { name: 'unsettled', gauges: [waiting], reads: 'invoices', ask: async () => 0 };
  sources.add({ ...unsettled, show: (count) => waiting.set(count) });
  await sources.refresh();
  const { value } = readMetrics(await registry.metrics());
  return { waiting: value('waiting'), ok: value('nfse_source_ok', { source: 'unsettled' }) };
};

it('a gauge of rows has no series while the rows are behind the log, instead of a 0 that nobody knows', async () => {
  expect(await scraped(async () => ['invoices'])).toEqual({ waiting: undefined, ok: 0 });
  expect(await scraped(async () => ['companies'])).toEqual({ waiting: 0, ok: 1 });
});

it('a gauge of rows has no series before it is known whether the rows are behind', async () => {
  expect(await scraped(() => Promise.reject(new Error('the log is away')))).toEqual({ waiting: undefined, ok: 0 });
});

it('rows that were known stay known while the log is away', async () => {
  const answers: (readonly string[])[] = [[]];
  const isKnown = rowsKnown(async () => answers.shift() ?? Promise.reject(new Error('the log is away')), 0);
  expect([await isKnown('invoices'), await isKnown('invoices')]).toEqual([true, true]);
});

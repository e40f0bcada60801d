import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { companies } from '../../../projections/companies.js';
import { createMonitoringReads } from '../../../src/adapters/read-model-postgres/monitoring-reads.js';
import { addSeconds, DAY_SECONDS, type Instant } from '../../../src/domain/common/time.js';
import { prepareProjections } from '../../../src/projector/projector.js';
import { addCertificates } from '../../../src/runtime/metrics/certificate-gauges.js';
import { scrapeSources } from '../../../src/runtime/metrics/scrape-sources.js';
import { seriesIn } from '../../../src/runtime/metrics/series.js';
import { T0 } from '../../support/fixture/invoice.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { readMetrics } from '../../support/metrics-text.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('the gauges of certificates', () => {
  let database: FreshDatabase;
  const clock = { now: () => T0 };
  beforeAll(async () => {
    database = await freshDatabase();
    await prepareProjections(database.pool, memoryEventLog(), clock, [companies]);
  });
  afterAll(() => database.close());

  let companyId = 0;
  const put = async (ends: readonly (Instant | undefined)[], enabled = true): Promise<void> => {
    const first = companyId;
    companyId += ends.length;
    await database.pool.query(
      `insert into read.companies (company_id, revision, enabled, state)
       select id, 0, $3, state from unnest($1::text[], $2::text[]) as company (id, state)`,
      [
        ends.map((_, n) => `${first + n}`),
        ends.map((notAfter) => JSON.stringify(notAfter === undefined ? {} : { certificate: { notAfter } })),
        enabled,
      ],
    );
  };
  const shown = async () => {
    const registry = new Registry();
    const series = seriesIn(registry);
    const sources = scrapeSources(series, async () => true);
    addCertificates(sources, series, { watch: createMonitoringReads(database.pool), clock });
    await sources.refresh();
    const { value } = readMetrics(await registry.metrics());
    const ending = (within: string) => value('nfse_certificates_ending', { within });
    return {
      ending: ['over', '1d', '7d', '15d', '30d'].map(ending),
      remaining: value('nfse_certificate_remaining_seconds'),
    };
  };
  const inDays = (days: number, seconds = 0): Instant => addSeconds(T0, days * DAY_SECONDS + seconds);

  it('count each certificate of an enabled company by its step, however many have expired', async () => {
    expect(await shown()).toEqual({ ending: [0, 0, 0, 0, 0], remaining: undefined });
    await put([inDays(0), inDays(0, 1), inDays(1), inDays(7, -1), inDays(7), inDays(15), inDays(30, -1), inDays(30)]);
    await put([undefined]);
    await put([inDays(-900)], false);
    expect(await shown()).toEqual({ ending: [1, 1, 2, 1, 2], remaining: 0 });
    await put(Array.from({ length: 1_200 }, (_, n) => inDays(-1, -n)));
    expect(await shown()).toEqual({ ending: [1_201, 1, 2, 1, 2], remaining: -DAY_SECONDS - 1_199 });
  });
});

import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { describeWithPostgres } from '../../support/postgres.js';

describeWithPostgres('the stopped series', () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService({}, ['api', 'projector']);
  });
  afterAll(() => running.close());

  it('are read once for metrics and console within a minute', async () => {
    const sent = vi.spyOn(pg.Pool.prototype, 'query');
    const read = async (path: string): Promise<string> => (await fetch(`${running.service.opsUrl}${path}`)).text();
    // A busy machine may not tell within a second that the rows of the companies are not behind.
    await expect.poll(() => read('/metrics')).toMatch(/nfse_series_stopped\{mode="live"\} 0/);
    expect(await read('/console')).toContain('console');
    const asked = sent.mock.calls.map(([statement]) => statement as { values?: readonly unknown[] });
    sent.mockRestore();
    const ofSeries = asked.filter(({ values }) => String(values).includes('dpsLive-'));
    expect(ofSeries).toHaveLength(1);
  });
});

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { startService } from '../../../src/runtime/service.js';
import { eventually } from '../../support/eventually.js';
import { createPoster } from '../../support/harness/poster.js';
import { appendFromTheFuture } from '../../support/harness/projector.js';
import { runningClock } from '../../support/harness/running-clock.js';
import { type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { scrape } from '../../support/metrics-text.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { becomesNotReady, becomesReady, PROBE_MS, readiness } from '../../support/readiness.js';
import { type SilentProxy, silentProxy } from '../../support/silent-proxy.js';

const statusOf = async (opsUrl: string, path: string): Promise<number> =>
  (await fetch(`${opsUrl}${path}`, { signal: AbortSignal.timeout(PROBE_MS) })).status;

describeWithPostgres('health of a service whose engines fail', () => {
  let database: FreshDatabase;
  let proxy: SilentProxy;
  let running: RunningService;
  beforeEach(async () => {
    database = await freshDatabase();
    proxy = await silentProxy(database.connectionString);
    running = await startRunningService({ DATABASE_URL: proxy.connectionString });
  });
  afterEach(async () => {
    // A call to a silent server would wait without end; when the line is cut, the call fails.
    await proxy.close();
    await running.close();
    await database.close();
  });

  it('is not ready while the database takes no writes, and ready again when it does', async () => {
    const { opsUrl } = running.service;
    const name = new URL(database.connectionString).pathname.slice(1);
    await becomesReady(opsUrl);
    await database.admin.query(`alter database ${name} set default_transaction_read_only = on`);
    await database.breakConnections();
    const { body } = await becomesNotReady(opsUrl, /^database: read-only$/);
    expect(body.checks.certificate_vault).toEqual({ ok: true });
    expect((await scrape(opsUrl)).value('nfse_check_ok', { check: 'database' })).toBe(0);
    await database.admin.query(`alter database ${name} reset default_transaction_read_only`);
    await database.breakConnections();
    await becomesReady(opsUrl);
  });

  it('answers in time when the database is silent: live, not ready, metrics without what nobody could tell', async () => {
    const { opsUrl } = running.service;
    await becomesReady(opsUrl);
    const lag = async () => (await scrape(opsUrl)).value('nfse_projection_lag_seconds', { projection: 'invoices' });
    await expect.poll(lag).toBeDefined();
    proxy.silence();
    const { body } = await eventually(
      () => readiness(opsUrl),
      ({ body: { checks } }) =>
        [checks.database, checks.event_log, checks.projections, checks.certificate_vault].every(({ ok }) => !ok),
    );
    expect(body).toMatchObject({ ready: false, checks: { queue: { ok: true }, serving: { ok: true } } });
    expect(body.reasons[0]).toMatch(/^database: (?:no answer within 2 s|unreachable)$/);
    expect(body.lag_s).toBeNull();
    expect(await statusOf(opsUrl, '/health/live')).toBe(200);
    expect(await statusOf(opsUrl, '/health/startup')).toBe(200);
    const shown = await eventually(
      () => scrape(opsUrl),
      ({ value }) => value('nfse_source_ok', { source: 'projections' }) === 0,
    );
    expect(shown.value('nfse_ready')).toBe(0);
    expect(shown.value('nfse_projection_lag_seconds')).toBeUndefined();
  });

  it('says that the database is unreachable when it is gone', async () => {
    await becomesReady(running.service.opsUrl);
    await proxy.close();
    await becomesNotReady(running.service.opsUrl, /^database: unreachable$/);
  });

  it('says which projection halted, here and in its metrics', async () => {
    const { opsUrl, engines } = running.service;
    await becomesReady(opsUrl);
    await appendFromTheFuture(
      engines.log,
      invoiceStream('test', demoCompany().cnpj, randomUUID()),
      'InvoiceTeleported',
    );
    const { body } = await becomesNotReady(opsUrl, /^projections: .*invoices halted/);
    expect(body.checks.database).toEqual({ ok: true });
    const shown = await scrape(opsUrl);
    expect(shown.value('nfse_projection_halted', { projection: 'invoices' })).toBe(1);
    expect(shown.value('nfse_projection_halted', { projection: 'companies' })).toBe(0);
  });

  it('says that certificates are sealed under a master key that this process does not have', async () => {
    await becomesReady(running.service.opsUrl);
    await database.pool.query(
      `update vault_certificates set sealed = regexp_replace(sealed, '^vault:2:[^:]*', 'vault:2:0000000000000000')`,
    );
    await becomesNotReady(
      running.service.opsUrl,
      /^certificate_vault: 1 certificates are sealed under another master key$/,
    );
  });
});

/** PostgreSQL answers every append as it does when a file cannot be extended. */
const FULL_DISK = `
  create function disk_full() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
  create trigger disk_full before insert on event_log for each statement execute function disk_full()`;

describeWithPostgres('health of a service whose database has no disk space', () => {
  it('is not ready for a minute after a write that found the disk full', async () => {
    const database = await freshDatabase();
    const clock = runningClock();
    const running = await startRunningService({ DATABASE_URL: database.connectionString }, undefined, clock);
    try {
      const { opsUrl } = running.service;
      const post = () =>
        running.call('test', 'POST', '/v1/nfse', { amount_in_cents: 10_000, description: 'Sem disco' });
      await becomesReady(opsUrl);
      await database.admin.query(FULL_DISK);
      expect((await post()).status).toBe(503);
      await becomesNotReady(opsUrl, /^database: no disk space$/);
      await database.admin.query('drop trigger disk_full on event_log');
      expect((await post()).status).toBe(202);
      clock.pass(61);
      await becomesReady(opsUrl);
    } finally {
      await running.close();
      await database.close();
    }
  });
});

describeWithPostgres('health of a process without a projector', () => {
  it('is not ready once the read model is 30 s behind the log', async () => {
    const clock = runningClock();
    const running = await startRunningService({}, ['api'], clock);
    try {
      const { opsUrl } = running.service;
      const answer = await running.call('test', 'POST', '/v1/nfse', {
        amount_in_cents: 10_000,
        description: 'Sem leitor',
      });
      expect(answer.status).toBe(202);
      clock.pass(31);
      const { body } = await becomesNotReady(opsUrl, /^projections: .*invoices lags \d+ s behind the log/);
      expect(body.lag_s).toBeGreaterThanOrEqual(31);
      const lag = async () => (await scrape(opsUrl)).value('nfse_projection_lag_seconds', { projection: 'invoices' });
      await expect.poll(lag).toBeGreaterThan(30);
    } finally {
      await running.close();
    }
  });
});

describeWithPostgres('the operations port on an address of IPv6', () => {
  it('is told as an origin that opens', async () => {
    const running = await startRunningService({ OPS_HOST: '::1' }, ['api']);
    try {
      expect(running.service.opsUrl).toMatch(/^http:\/\/\[::1\]:\d+$/);
      expect(await statusOf(running.service.opsUrl, '/health/live')).toBe(200);
    } finally {
      await running.close();
    }
  });
});

describeWithPostgres('health of a service that starts and stops', () => {
  it('has not started before it serves, and is not ready while it drains', async () => {
    const { config, keys, close } = await startRunningService({}, ['api']);
    let opsUrl = '';
    const service = await startService({
      config,
      roles: ['api'],
      clock: systemClock,
      logger: createLogger('silent', 'stderr'),
      beforeReady: async (starting) => {
        opsUrl = starting.opsUrl;
        expect(await statusOf(opsUrl, '/health/startup')).toBe(503);
        expect(await statusOf(opsUrl, '/health/serving')).toBe(503);
        await expect
          .poll(() => readiness(opsUrl))
          .toMatchObject({ status: 503, body: { reasons: ['serving: not yet serving'] } });
      },
    });
    expect(await statusOf(opsUrl, '/health/startup')).toBe(200);
    expect(await statusOf(opsUrl, '/health/serving')).toBe(200);
    await becomesReady(opsUrl);

    const poster = createPoster(service.url, keys.test, 'fresh');
    await poster.begin({}, 'unfinished');
    const stopped = service.stop();
    await becomesNotReady(opsUrl, /^serving: draining$/);
    expect(await statusOf(opsUrl, '/health/startup')).toBe(200);
    expect(await statusOf(opsUrl, '/health/serving')).toBe(503);
    poster.close();
    await stopped;
    await close();
  });
});

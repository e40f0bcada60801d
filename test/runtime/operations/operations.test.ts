import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { invoiceStream } from '../../../src/domain/shared/ids.js';
import { addSeconds } from '../../../src/domain/shared/time.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import type { Readiness } from '../../../src/runtime/operations/readiness.js';
import { startService } from '../../../src/runtime/service.js';
import { appendFromTheFuture } from '../../support/harness/projector.js';
import { eventually, type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { scrape } from '../../support/metrics-text.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { type SilentProxy, silentProxy } from '../../support/silent-proxy.js';

type Probe = { status: number; body: Readiness };

/** Milliseconds after which a probe of an orchestrator counts as failed. */
const PROBE_MS = 15_000;

const ready = async (opsUrl: string): Promise<Probe> => {
  const response = await fetch(`${opsUrl}/health/ready`, { signal: AbortSignal.timeout(PROBE_MS) });
  return { status: response.status, body: (await response.json()) as Readiness };
};

const statusOf = async (opsUrl: string, path: string): Promise<number> =>
  (await fetch(`${opsUrl}${path}`, { signal: AbortSignal.timeout(PROBE_MS) })).status;

const becomes = (opsUrl: string, reason: RegExp): Promise<Probe> =>
  eventually(
    () => ready(opsUrl),
    ({ status, body }) => status === 503 && body.reasons.some((one) => reason.test(one)),
  );

const becomesReady = (opsUrl: string): Promise<Probe> =>
  eventually(
    () => ready(opsUrl),
    ({ status }) => status === 200,
  );

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
    const { body } = await becomes(opsUrl, /^database: read-only$/);
    expect(body.checks.certificate_vault).toEqual({ ok: true });
    expect((await scrape(opsUrl)).value('nfse_check_ok', { check: 'database' })).toBe(0);
    await database.admin.query(`alter database ${name} reset default_transaction_read_only`);
    await database.breakConnections();
    await becomesReady(opsUrl);
  });

  it('answers in time when the database is silent: live, not ready, metrics without what nobody could tell', async () => {
    const { opsUrl } = running.service;
    await becomesReady(opsUrl);
    expect((await scrape(opsUrl)).value('nfse_projection_lag_seconds', { projection: 'invoices' })).toBeDefined();
    proxy.silence();
    const { body } = await eventually(
      () => ready(opsUrl),
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
    await becomes(running.service.opsUrl, /^database: unreachable$/);
  });

  it('says which projection halted, here and in its metrics', async () => {
    const { opsUrl, engines } = running.service;
    await becomesReady(opsUrl);
    await appendFromTheFuture(
      engines.log,
      invoiceStream('test', demoCompany().cnpj, randomUUID()),
      'InvoiceTeleported',
    );
    const { body } = await becomes(opsUrl, /^projections: .*invoices halted/);
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
    await becomes(running.service.opsUrl, /^certificate_vault: 1 certificates are sealed under another master key$/);
  });
});

describeWithPostgres('health of a process without a projector', () => {
  it('is not ready once the read model is 30 s behind the log', async () => {
    let ahead = 0;
    const clock = { now: () => addSeconds(systemClock.now(), ahead) };
    const running = await startRunningService({}, ['api'], clock);
    try {
      const { url, opsUrl } = running.service;
      const answer = await fetch(`${url}/v1/nfse`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.keys.test}`, 'content-type': 'application/json' },
        body: JSON.stringify({ amount_in_cents: 10_000, description: 'Sem leitor' }),
      });
      expect(answer.status).toBe(202);
      ahead = 31;
      const { body } = await becomes(opsUrl, /^projections: .*invoices lags \d+ s behind the log/);
      expect(body.lag_s).toBeGreaterThanOrEqual(31);
      expect((await scrape(opsUrl)).value('nfse_projection_lag_seconds', { projection: 'invoices' })).toBeGreaterThan(
        30,
      );
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
      ...{ config, roles: ['api'], clock: systemClock, logger: createLogger('silent', 'stderr') },
      beforeReady: async (starting) => {
        opsUrl = starting.opsUrl;
        expect(await statusOf(opsUrl, '/health/startup')).toBe(503);
        expect(await ready(opsUrl)).toMatchObject({ status: 503, body: { reasons: ['serving: not yet serving'] } });
      },
    });
    expect(await statusOf(opsUrl, '/health/startup')).toBe(200);
    await becomesReady(opsUrl);

    const unfinished = await beginRequest(service.url, keys.test);
    const stopped = service.stop();
    await becomes(opsUrl, /^serving: draining$/);
    expect(await statusOf(opsUrl, '/health/startup')).toBe(200);
    unfinished.destroy();
    await stopped;
    await close();
  });
});

/** A request whose body does not come: the server waits for it before it closes. */
const beginRequest = (origin: string, key: string) =>
  new Promise<ReturnType<typeof connect>>((resolve) => {
    const { hostname, port } = new URL(origin);
    const head = [
      'POST /v1/nfse HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
    ];
    const socket = connect(Number(port), hostname, () => {
      socket.write([...head, 'Expect: 100-continue', 'Content-Length: 10', '', '{'].join('\r\n'));
      // After the interim answer 100 the server continues to read.
      socket.once('data', () => resolve(socket));
    });
    socket.on('error', () => undefined);
  });

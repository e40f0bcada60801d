import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Role } from '../../src/runtime/config/config.js';
import { type EventStoreDouble, startEventStoreDouble } from '../support/eventstore-double/double.js';
import { createDoubleLog } from '../support/eventstore-double/log.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import {
  type Answer,
  type LogAndDatabaseHarness,
  openLogAndDatabaseHarness,
  type ServiceAt,
} from '../support/harness/log-and-database.js';
import { startRunningService } from '../support/harness/running-service.js';
import { copyOfDatabase, describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { becomesReady } from '../support/readiness.js';

const bodyOf = (amount: number, fields: object = {}): object => ({
  amount_in_cents: amount,
  description: 'Desenvolvimento de sistema',
  ...fields,
});

const CUSTOMER = { document: '11222333000181', name: 'CLIENTE LTDA' };

const acceptedId = ({ status, body }: Answer): string => {
  expect(status, JSON.stringify(body)).toBe(202);
  return String(body.id);
};

const post = (at: ServiceAt, amount: number, fields: object = {}, ask: object = {}): Promise<Answer> =>
  at.ask('/v1/nfse', { body: bodyOf(amount, fields), ...ask });

const settled = (at: ServiceAt, id: string, mode: 'live' | 'test' = 'live') =>
  eventually(
    async () => (await at.ask(`/v1/nfse/${id}`, { mode })).body,
    ({ status }) => status !== 'queued' && status !== 'processing',
  );

const complete = (at: ServiceAt) =>
  eventually(
    () => at.readiness(),
    ({ checks }) => checks.guards.ok,
  );

const refusedWith = (code: string) => ({ status: 409, body: { error: { code } } });

describeWithPostgres('a service whose log outlives its database', () => {
  let harness: LogAndDatabaseHarness;
  let double: EventStoreDouble;
  let database: FreshDatabase;
  beforeEach(async () => {
    [harness, double, database] = await Promise.all([
      openLogAndDatabaseHarness(),
      startEventStoreDouble(),
      freshDatabase(),
    ]);
  });
  afterEach(async () => {
    await harness.close();
    await double.close();
  });

  let keyIds: { live: string; test: string };
  const begin = async (roles?: readonly Role[]): Promise<ServiceAt> => {
    const at = await harness.start(database, double.url, roles);
    keyIds = await harness.register(at);
    await complete(at);
    return at;
  };

  it('keeps every promise over an empty one, and makes no second note', async () => {
    const first = await begin();
    const keyed = acceptedId(await post(first, 1_001, { customer: CUSTOMER }, { idempotencyKey: 'k-1' }));
    const referenced = acceptedId(await post(first, 1_002, { reference: 'pedido-2' }, { idempotencyKey: 'k-2' }));
    const unkeyed = acceptedId(await post(first, 1_003));
    const tried = acceptedId(await post(first, 1_004, { customer: CUSTOMER }, { mode: 'test' }));
    for (const id of [keyed, referenced, unkeyed]) expect(await settled(first, id)).toMatchObject({ status: 'issued' });
    expect(await settled(first, tried, 'test')).toMatchObject({ status: 'issued', customer: CUSTOMER });
    const before = await Promise.all([keyed, referenced, unkeyed].map((id) => first.ask(`/v1/nfse/${id}`)));
    await first.control('/_control/faults', { on: 'lookup', kind: 'http_503', times: 1_000 });
    await first.control('/_control/faults', { on: 'issue', kind: 'lost_after_commit', times: 1 });
    const inFlight = acceptedId(await post(first, 1_005, {}, { idempotencyKey: 'k-5' }));
    await eventually(
      async () => await first.ledger(1_005),
      (notes) => notes.length === 1,
    );
    await first.stop();

    const second = await harness.start(await freshDatabase(), double.url);
    await complete(second);
    expect(acceptedId(await post(second, 1_001, { customer: CUSTOMER }, { idempotencyKey: 'k-1' }))).toBe(keyed);
    expect(await post(second, 1_001, {}, { idempotencyKey: 'k-1' })).toMatchObject(
      refusedWith('idempotency_key_reuse'),
    );
    expect(
      await post(second, 1_001, { customer: CUSTOMER, reference: 'outro' }, { idempotencyKey: 'k-1' }),
    ).toMatchObject(refusedWith('idempotency_key_reuse'));
    expect(await post(second, 2_002, { reference: 'pedido-2' })).toMatchObject(refusedWith('nfse.reference_in_use'));
    expect(await post(second, 1_003)).toMatchObject(refusedWith('duplicate_suspected'));
    // The mark of an acceptance with a key counts too.
    expect(await post(second, 1_001, { customer: CUSTOMER })).toMatchObject(refusedWith('duplicate_suspected'));
    expect(acceptedId(await post(second, 1_005, {}, { idempotencyKey: 'k-5' }))).toBe(inFlight);

    const after = await Promise.all([keyed, referenced, unkeyed].map((id) => second.ask(`/v1/nfse/${id}`)));
    const shown = (answers: readonly Answer[]) =>
      answers.map(({ status, body: { links: _links, ...body } }) => ({ status, body }));
    expect(shown(after)).toEqual(shown(before));
    // The day has another key from here on, under the same date.
    expect(await post(second, 2_004, {}, { mode: 'test' })).toMatchObject({ status: 202 });
    const erased = await second.ask(`/v1/nfse/${tried}`, { mode: 'test' });
    expect(erased).toMatchObject({ status: 200, body: { status: 'issued', amount_in_cents: 1_004 } });
    expect(erased.body).not.toHaveProperty('customer');
    expect(erased.body).not.toHaveProperty('description');
    expect(await second.ask(`/v1/nfse/${tried}/xml`, { mode: 'test' })).toMatchObject({
      status: 409,
      body: { error: { code: 'nfse.not_issued', retryable: false, message: expect.stringContaining('apagado') } },
    });

    expect(await second.operate('doctor')).toMatchObject({
      exit: 1,
      out: expect.stringMatching(/BAD +certificate .*not in the database any more/),
    });
    expect((await second.operate('certificate', 'issue-demo', DEMO_CNPJ)).exit).toBe(0);
    expect(await settled(second, inFlight)).toMatchObject({ status: 'issued', failed_attempts: 0 });
    for (const amount of [1_001, 1_002, 1_003, 1_004, 1_005]) expect(await second.ledger(amount)).toHaveLength(1);
  });

  it('turns requests away until one process has rebuilt the guards, then both serve', async () => {
    const first = await begin();
    const keyed = acceptedId(await post(first, 1_001, {}, { idempotencyKey: 'k-1' }));
    await settled(first, keyed);
    await first.stop();

    const empty = await freshDatabase();
    const apis = await Promise.all([
      harness.start(empty, double.url, ['api']),
      harness.start(empty, double.url, ['api']),
    ]);
    for (const api of apis) {
      const { ready, checks } = await eventually(
        () => api.readiness(),
        (seen) => seen.reasons.includes('guards: rebuilding (waiting for the projector)'),
      );
      expect({ ready, checks }).toMatchObject({ ready: false, checks: { guards: { ok: false } } });
      for (const answer of [
        await post(api, 1_001, {}, { idempotencyKey: 'k-1' }),
        await api.ask(`/v1/nfse/${keyed}`),
      ]) {
        expect(answer).toMatchObject({
          status: 503,
          body: { error: { code: 'service_unavailable', retryable: true } },
        });
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      }
    }
    await harness.start(empty, double.url, ['projector', 'relay', 'issuer', 'sweeper']);
    await Promise.all(apis.map(complete));
    for (const api of apis) {
      expect(acceptedId(await post(api, 1_001, {}, { idempotencyKey: 'k-1' }))).toBe(keyed);
      expect(await post(api, 1_002, {}, { idempotencyKey: 'k-1' })).toMatchObject(refusedWith('idempotency_key_reuse'));
      expect(await post(api, 1_001)).toMatchObject(refusedWith('duplicate_suspected'));
      expect(await api.ask(`/v1/nfse/${keyed}`)).toMatchObject({ status: 200, body: { status: 'issued' } });
    }
  });

  it('keeps every promise over one from an older backup, revocations too', async () => {
    const first = await begin();
    const old = acceptedId(await post(first, 1_001, {}, { idempotencyKey: 'k-1' }));
    await settled(first, old);
    await first.stop();
    const backup = await copyOfDatabase(database);

    const second = await harness.start(database, double.url);
    await complete(second);
    const keyed = acceptedId(await post(second, 1_002, {}, { idempotencyKey: 'k-2' }));
    const unkeyed = acceptedId(await post(second, 1_003));
    for (const id of [keyed, unkeyed]) await settled(second, id);
    expect((await second.operate('key', 'revoke', keyIds.test)).exit).toBe(0);
    await second.stop();

    const third = await harness.start(backup, double.url);
    await complete(third);
    expect(acceptedId(await post(third, 1_001, {}, { idempotencyKey: 'k-1' }))).toBe(old);
    expect(acceptedId(await post(third, 1_002, {}, { idempotencyKey: 'k-2' }))).toBe(keyed);
    expect(await post(third, 1_002, { reference: 'r' }, { idempotencyKey: 'k-2' })).toMatchObject(
      refusedWith('idempotency_key_reuse'),
    );
    expect(await post(third, 1_003)).toMatchObject(refusedWith('duplicate_suspected'));
    expect((await third.ask(`/v1/nfse/${old}`, { mode: 'test' })).status).toBe(401);
    for (const amount of [1_001, 1_002, 1_003]) expect(await third.ledger(amount)).toHaveLength(1);
  });

  it('notices within moments that its rows were set back while it serves', async () => {
    const at = await begin();
    const keyed = acceptedId(await post(at, 1_001, {}, { idempotencyKey: 'k-1' }));
    await settled(at, keyed);
    await eventually(
      async () => (await database.pool.query('select from guards_position where guards is not null')).rowCount,
      (rows) => rows === 1,
    );
    await database.admin.query('truncate idempotency_keys, duplicate_marks, guards_position');
    await eventually(
      async () => (await database.pool.query('select from idempotency_keys, guards_position')).rowCount,
      (rows) => rows === 1,
    );
    /** Requests may be refused until the worker for the guards has noticed the loss and rebuilt them. */
    const admitted = (amount: number, fields: object = {}, ask: object = {}) =>
      eventually(
        () => post(at, amount, fields, ask),
        ({ status }) => status !== 503,
      );
    expect(acceptedId(await admitted(1_001, {}, { idempotencyKey: 'k-1' }))).toBe(keyed);
    expect(await admitted(1_001, { reference: 'r' }, { idempotencyKey: 'k-1' })).toMatchObject(
      refusedWith('idempotency_key_reuse'),
    );
    await database.breakConnections();
    expect(await admitted(1_001)).toMatchObject(refusedWith('duplicate_suspected'));
  });

  it('issues nothing over a log from an older backup, also after a restart, until somebody has looked', async () => {
    const first = await begin(['api', 'projector']);
    const open = acceptedId(await post(first, 1_001));
    const backup = createDoubleLog();
    // Without what every new log begins with: an event keeps its place in a backup.
    for (const event of double.log.all().slice(backup.all().length)) backup.append(event.stream, 'any', [event]);
    expect(backup.all().map(({ position }) => position)).toEqual(double.log.all().map(({ position }) => position));
    const restored = backup.all().length;
    expect(await post(first, 1_002)).toMatchObject({ status: 202 });
    // Only the positions in the database show that a log has become shorter.
    const head = String(await first.service.engines.log.head());
    await eventually(
      async () => (await database.pool.query('select from checkpoints where position::numeric >= $1', [head])).rowCount,
      (rows) => (rows ?? 0) > 0,
    );
    await first.stop();

    const older = await startEventStoreDouble({ log: backup });
    const second = await harness.start(database, older.url);
    await eventually(
      () => second.readiness(),
      ({ checks: { guards } }) =>
        !guards.ok && /^the log ends at \d+, before \d+.*issuing is paused$/.test(guards.reason),
    );
    expect(await post(second, 1_003)).toMatchObject({ status: 503 });
    expect(await second.ask(`/v1/nfse/${open}`)).toMatchObject({ status: 503 });
    await eventually(
      async () => (await database.pool.query('select from log_set_back')).rowCount,
      (rows) => rows === 1,
    );
    await second.stop();
    expect(backup.all().length).toBe(restored);

    // Even the whole log does not end the pause by itself.
    const third = await harness.start(database, double.url);
    await expect
      .poll(async () => (await third.readiness()).checks.guards)
      .toMatchObject({ reason: expect.stringMatching(/issuing is paused$/) });
    expect(await third.ledger(1_001)).toEqual([]);
    await database.pool.query('delete from log_set_back');
    await complete(third);
    expect(await settled(third, open)).toMatchObject({ status: 'issued' });
    expect(await third.ledger(1_001)).toHaveLength(1);
    await older.close();
  });
});

describeWithPostgres('a service whose database keeps the log too', () => {
  it('has nothing to compare, and spends nothing on it', async () => {
    const running = await startRunningService();
    const { pool } = running.service.engines;
    const { body } = await becomesReady(running.service.opsUrl);
    expect(body.checks.guards).toEqual({ ok: true });
    expect((await pool.query('select from guards_position')).rowCount).toBe(0);
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where application_name = 'nfse-guards-position' and datname = current_database()`,
    );
    expect(rowCount).toBe(0);
    await running.close();
  });
});

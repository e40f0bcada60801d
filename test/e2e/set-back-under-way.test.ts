import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type EventStoreDouble, startEventStoreDouble } from '../support/eventstore-double/double.js';
import { createDoubleLog, type DoubleLog } from '../support/eventstore-double/log.js';
import { eventually } from '../support/eventually.js';
import {
  type LogAndDatabaseHarness,
  openLogAndDatabaseHarness,
  type ServiceAt,
} from '../support/harness/log-and-database.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

const post = (at: ServiceAt, amount: number) => {
  const body = { amount_in_cents: amount, description: `Serviço ${amount}`, reference: `pedido-${amount}` };
  return at.ask('/v1/nfse', { body, idempotencyKey: `key-${amount}` });
};

const issue = async (at: ServiceAt, amount: number): Promise<void> => {
  const { status, body } = await post(at, amount);
  expect(status, JSON.stringify(body)).toBe(202);
  await eventually(
    async () => (await at.ask(`/v1/nfse/${body.id}`)).body,
    ({ status: reached }) => reached === 'issued',
  );
};

const guardsSay = (at: ServiceAt, reason: RegExp) =>
  eventually(
    () => at.readiness(),
    ({ checks: { guards } }) => !guards.ok && reason.test(guards.reason),
  );

const complete = (at: ServiceAt) =>
  eventually(
    () => at.readiness(),
    ({ checks: { guards } }) => guards.ok,
  );

const copyOf = (log: DoubleLog): DoubleLog => {
  const copy = createDoubleLog();
  for (const event of log.all().slice(copy.all().length)) copy.append(event.stream, 'any', [event]);
  return copy;
};

const eventOf = (data: object) => ({
  id: randomUUID(),
  type: 'Other',
  contentType: 'application/json',
  metadata: Buffer.from('{}'),
  data: Buffer.from(JSON.stringify(data)),
});

/** Events of more than any lost end, whose sizes are not those of ours: old positions lie inside of them. */
const grow = (log: DoubleLog): void => {
  for (let n = 0; n < 400; n += 1) log.append(`other-${n}`, 'any', [eventOf({ text: 'x'.repeat(311) })]);
};

describeWithPostgres('a log that is exchanged at the address of running processes', () => {
  let harness: LogAndDatabaseHarness;
  let double: EventStoreDouble;
  let database: FreshDatabase;
  let opened: EventStoreDouble[];
  beforeEach(async () => {
    opened = [];
    [harness, double, database] = await Promise.all([
      openLogAndDatabaseHarness(),
      startEventStoreDouble(),
      freshDatabase(),
    ]);
  });
  afterEach(async () => {
    await harness.close();
    await Promise.all([double, ...opened].map((one) => one.close()));
  });

  const putInPlace = async (log: DoubleLog): Promise<void> => {
    double.stop();
    opened.push(await startEventStoreDouble({ log, port: double.port }));
  };
  const pauses = async () => (await database.pool.query('select from log_set_back')).rowCount;

  const begin = async (): Promise<ServiceAt> => {
    const at = await harness.start(database, double.url);
    await harness.register(at);
    await complete(at);
    await issue(at, 1_001);
    return at;
  };

  /** Invoice 1,002 is in no backup, and the database holds the position of its last event. */
  const issueAfterBackup = async (): Promise<{ at: ServiceAt; backup: DoubleLog }> => {
    const at = await begin();
    const backup = copyOf(double.log);
    await issue(at, 1_002);
    const head = String(await at.service.engines.log.head());
    await eventually(
      async () => (await database.pool.query('select from guards_position where guards >= $1', [head])).rowCount,
      (rows) => rows === 1,
    );
    return { at, backup };
  };

  it('takes nothing when it was put back, also when it has grown past its old end, and recovers', {
    timeout: 240_000,
  }, async () => {
    const { at, backup } = await issueAfterBackup();
    grow(backup);
    const length = backup.all().length;
    await putInPlace(backup);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => post(at, 2_000 + n)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    await eventually(pauses, (rows) => rows === 1);
    await guardsSay(at, /issuing is paused$/);
    expect(backup.all().length).toBe(length);
    const doctor = await at.operate('doctor');
    expect(doctor.out).toMatch(/BAD +guards /);
    const done = await at.operate('doctor', '--reconcile', '--accept-unknown');
    expect(done.exit, done.out).toBe(0);
    await complete(at);
    await issue(at, 1_003);
    expect(await at.ledger(1_002)).toHaveLength(1);
  });

  it('is found by a process that starts over it when it has grown past its old end, and recovers', {
    timeout: 240_000,
  }, async () => {
    const { at: first, backup } = await issueAfterBackup();
    await first.stop();
    grow(backup);
    await putInPlace(backup);
    const at = await harness.start(database, double.url);
    await guardsSay(at, /issuing is paused$/);
    await eventually(pauses, (rows) => rows === 1);
    const done = await at.operate('doctor', '--reconcile', '--accept-unknown');
    expect(done.exit, done.out).toBe(0);
    await complete(at);
    await issue(at, 1_003);
  });

  it('takes nothing when another and longer log is there, and all again when the right one is back', {
    timeout: 240_000,
  }, async () => {
    const at = await begin();
    const other = createDoubleLog();
    other.append('log-identity', 'any', [{ ...eventOf({ identity: randomUUID() }), type: 'LogIdentityGiven' }]);
    grow(other);
    const length = other.all().length;
    await putInPlace(other);
    const answer = await post(at, 1_002);
    expect(answer.status).toBe(503);
    await guardsSay(at, /^another log is at the address of the event log: issuing is paused$/);
    expect(other.all().length).toBe(length);
    for (const { stop } of opened) stop();
    await double.start();
    await complete(at);
    await issue(at, 1_002);
    expect(await pauses()).toBe(0);
    expect(await at.ledger(1_001)).toHaveLength(1);
  });
});

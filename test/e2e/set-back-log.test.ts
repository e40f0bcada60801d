import { afterEach, beforeEach, expect, it } from 'vitest';
import { supportStream } from '../../src/domain/audit/events.js';
import { type EventStoreDouble, startEventStoreDouble } from '../support/eventstore-double/double.js';
import { createDoubleLog } from '../support/eventstore-double/log.js';
import { eventually } from '../support/eventually.js';
import {
  guardsSay,
  type LogAndDatabaseHarness,
  openLogAndDatabaseHarness,
  type ServiceAt,
} from '../support/harness/log-and-database.js';
import { putNextNumber } from '../support/harness/next-number.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

/** With an Idempotency-Key, as most clients send. */
const accept = async (at: ServiceAt, amount: number): Promise<string> => {
  const body = { amount_in_cents: amount, description: `Serviço ${amount}`, reference: `pedido-${amount}` };
  const answer = await at.ask('/v1/nfse', { body, idempotencyKey: `key-${amount}` });
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return String(answer.body.id);
};

const ended = (at: ServiceAt, id: string, as: 'issued' | 'failed') =>
  eventually(
    async () => (await at.ask(`/v1/nfse/${id}`)).body,
    ({ status }) => status === as,
  );

const issued = (at: ServiceAt, id: string) => ended(at, id, 'issued');

/** The simulator refuses this amount. */
const REFUSED = 99_990_002;

describeWithPostgres('a log that was put back beside a newer database', () => {
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

  it('is compared with the authorizer before anything is sent again, and issues nothing twice', {
    timeout: 300_000,
  }, async () => {
    const first = await harness.start(database, double.url);
    await harness.register(first);
    await guardsSay(first, true);
    const known = await accept(first, 1_001);
    await issued(first, known);
    await first.stop();
    const waiting = await harness.start(database, double.url, ['api', 'projector']);
    await guardsSay(waiting, true);
    const open = await accept(waiting, 1_002);
    const backup = createDoubleLog();
    for (const event of double.log.all().slice(backup.all().length)) backup.append(event.stream, 'any', [event]);
    // The database remembers what nobody names afterwards.
    await putNextNumber(waiting.service.engines, 1_000);
    await waiting.stop();

    const later = await harness.start(database, double.url);
    await guardsSay(later, true);
    const before = await issued(later, open);
    const forgotten = await accept(later, 1_003);
    await issued(later, forgotten);
    const refused = await accept(later, REFUSED);
    await ended(later, refused, 'failed');
    const head = String(await later.service.engines.log.head());
    await eventually(
      async () => (await database.pool.query('select from checkpoints where position::numeric >= $1', [head])).rowCount,
      (rows) => (rows ?? 0) > 0,
    );
    await later.stop();

    const older = await startEventStoreDouble({ log: backup });
    const paused = await harness.start(database, older.url);
    await guardsSay(paused, false);
    const compared = await paused.operate('doctor', '--reconcile');
    expect(compared.exit).toBe(1);
    expect(compared.out).toContain('2 notes that the log does not have, 1 recorded on its open invoice');
    expect(compared.out).toMatch(new RegExp(`BAD +note without invoice .*was ${forgotten} -> take it over`));
    await guardsSay(paused, false);

    const done = await paused.operate('doctor', '--reconcile', '--accept-unknown');
    expect(done).toMatchObject({ exit: 0, out: expect.stringContaining('the next number is 1002') });
    expect(done.out).toMatch(/series 1, city 3304557 \(Rio de Janeiro\/RJ\), numbers 2 to 51 and 1000 to 1051: /);
    const [note] = await paused.ledger(1_003);
    const { events: acts } = await paused.service.engines.store.load(supportStream);
    expect(acts).toMatchObject([{ type: 'LogRecovered', data: { unknownNotes: 1, accessKeys: [note?.access_key] } }]);
    await guardsSay(paused, true);
    expect(await paused.ask(`/v1/nfse/${open}`)).toMatchObject({ body: { access_key: before.access_key } });
    expect(await paused.ask(`/v1/nfse/${forgotten}`)).toMatchObject({ status: 404 });
    await issued(paused, known);
    // Repeats: of what the log knows, the same invoice; of what it has lost and the authorizer never had, a new one under the same reference.
    for (const [amount, id] of [
      [1_001, known],
      [1_002, open],
    ] as const)
      expect(await accept(paused, amount)).toBe(id);
    await ended(paused, await accept(paused, REFUSED), 'failed');
    await issued(paused, await accept(paused, 1_004));
    for (const amount of [1_001, 1_002, 1_003, 1_004]) expect(await paused.ledger(amount)).toHaveLength(1);
    const { rows } = await database.pool.query<{ n: number }>(
      `select count(*)::int as n from read.invoices where stream like '%' || $1`,
      [forgotten.replace('nfse_', '')],
    );
    expect(rows).toEqual([{ n: 0 }]);
    // A rollback would bring back the rows of what the log has lost.
    const { rows: beside } = await database.pool.query(`select name, role from checkpoints where role <> 'live'`);
    expect(beside).toEqual([]);
    // No position in the database is past the head any more, so the next start finds no reason to pause.
    await paused.stop();
    const next = await harness.start(database, older.url);
    await guardsSay(next, true);
    await next.stop();
    await older.close();
  });
});

import { afterEach, beforeEach, expect, it } from 'vitest';
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

const issue = async (at: ServiceAt, amount: number): Promise<string> => {
  const body = { amount_in_cents: amount, description: `Serviço ${amount}`, reference: `pedido-${amount}` };
  const answer = await at.ask('/v1/nfse', { body, idempotencyKey: `key-${amount}` });
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  const id = String(answer.body.id);
  await eventually(
    async () => (await at.ask(`/v1/nfse/${id}`)).body,
    ({ status }) => status === 'issued',
  );
  return id;
};

describeWithPostgres('the rows beside a log that was put back', () => {
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

  it('stay as evidence of a lost note, whatever command would make or drop them, until log recovery has found it', {
    timeout: 300_000,
  }, async () => {
    const first = await harness.start(database, double.url);
    await harness.register(first);
    await guardsSay(first, true);
    await issue(first, 1_001);
    await first.stop();
    // Leaves generations to which a rollback would go.
    expect(await harness.command(database, double.url, 'projections', 'rebuild', '--all')).toMatchObject({ exit: 0 });
    const backup = createDoubleLog();
    for (const event of double.log.all().slice(backup.all().length)) backup.append(event.stream, 'any', [event]);

    const later = await harness.start(database, double.url);
    await guardsSay(later, true);
    await putNextNumber(later.service.engines, 1_000);
    const forgotten = await issue(later, 1_003);
    const head = String(await later.service.engines.log.head());
    const behind = `select from checkpoints where role = 'live' and position::numeric < $1 and name in ('companies', 'invoices')`;
    await eventually(
      async () => (await database.pool.query(behind, [head])).rowCount,
      (rows) => rows === 0,
    );
    await later.stop();

    const older = await startEventStoreDouble({ log: backup });
    const refusedAll = async (why: RegExp): Promise<void> => {
      for (const argv of [
        ['rebuild', '--all'],
        ['rebuild', 'companies'],
        ['rollback', 'companies'],
      ])
        expect(await harness.command(database, older.url, 'projections', ...argv)).toEqual({
          exit: 1,
          out: expect.stringMatching(why),
        });
    };
    await refusedAll(/^the log is older than the database, /);
    const paused = await harness.start(database, older.url);
    await guardsSay(paused, false);
    await eventually(
      async () => (await database.pool.query('select from log_set_back')).rowCount,
      (rows) => rows === 1,
    );
    await paused.stop();
    await refusedAll(/, and the rows show what the log has lost: /);

    const again = await harness.start(database, older.url);
    await guardsSay(again, false);
    const compared = await again.operate('doctor', '--reconcile');
    expect(compared.exit).toBe(1);
    expect(compared.out).toMatch(new RegExp(`BAD +note without invoice .*was ${forgotten} -> take it over`));
    await guardsSay(again, false);
    expect(await again.ledger(1_003)).toHaveLength(1);
    await again.stop();
    await older.close();
  });
});

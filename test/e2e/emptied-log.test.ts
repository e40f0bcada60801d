import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EventStoreDouble, startEventStoreDouble } from '../support/eventstore-double/double.js';
import { createDoubleLog } from '../support/eventstore-double/log.js';
import { eventually } from '../support/eventually.js';
import { type LogAndDatabaseHarness, openLogAndDatabaseHarness } from '../support/harness/log-and-database.js';
import { describeWithPostgres, freshDatabase } from '../support/postgres.js';

describeWithPostgres('a log that came back empty under a running service', () => {
  let harness: LogAndDatabaseHarness;
  const doubles: EventStoreDouble[] = [];
  beforeAll(async () => {
    harness = await openLogAndDatabaseHarness();
  });
  afterAll(async () => {
    await harness.close();
    await Promise.all(doubles.map((double) => double.close()));
  });

  it('is never taken for a log without the invoice: no 404 after the 202', { timeout: 120_000 }, async () => {
    const double = await startEventStoreDouble();
    doubles.push(double);
    const at = await harness.start(await freshDatabase(), double.url);
    await harness.register(at);
    const accepted = await eventually(
      () =>
        at.ask('/v1/nfse', {
          body: { amount_in_cents: 900, description: 'Pedido', reference: 'r-900' },
          idempotencyKey: 'k',
        }),
      ({ status }) => status === 202,
    );
    const path = `/v1/nfse/${accepted.body.id}`;
    await eventually(
      async () => (await at.ask(path)).body.status,
      (status) => status === 'issued',
    );
    double.stop();
    doubles.push(await startEventStoreDouble({ log: createDoubleLog(), port: double.port }));
    const statuses = new Set<number>();
    for (const until = performance.now() + 5_000; performance.now() < until; ) {
      const answers = await Promise.all([
        at.ask(path),
        at.ask(`${path}/cancel`, { body: { reason: 'issuance_error' } }),
      ]);
      for (const { status } of answers) statuses.add(status);
    }
    expect([...statuses]).toEqual([503]);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allProjections } from '../../projections/registry.js';
import type { Projection } from '../../projections/types.js';
import { createEventStore, NO_STREAM } from '../../src/app/event-store/event-store.js';
import { invoiceStream, publicInvoiceId } from '../../src/domain/common/ids.js';
import type { LogPosition } from '../../src/ports/event-log.js';
import { liveGeneration } from '../../src/projector/checkpoints.js';
import { rebuildProjection } from '../../src/projector/rebuild.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { eventually } from '../support/eventually.js';
import { accepted, attempted, authorized } from '../support/fixture/histories.js';
import { createCarefulClient } from '../support/harness/careful-client.js';
import { runProgram } from '../support/harness/processes.js';
import { dump } from '../support/harness/projector.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

const INVOICES = 2_000;
const WRITERS = 32;
const WORK_MS = 120_000;
const TRIES = 5;

describeWithPostgres('a service while its read model is rebuilt by an operator’s process', () => {
  let running: RunningService;
  let ids: readonly string[];
  beforeAll(async () => {
    running = await startRunningService({ ALLOW_SHORT_WINDOWS: '1', TEST_RETENTION_S: '4', SWEEP_INTERVAL_S: '1' });
    ids = await writeInvoices(running);
  });
  afterAll(() => running.close());

  it('answers every read and takes every write, and ends with rows that a rebuild from the log gives byte for byte', async () => {
    const { service, config, keys } = running;
    const { pool } = service.engines;
    const client = createCarefulClient(service.url, keys.live);
    const testClient = createCarefulClient(service.url, keys.test);
    const generations = async () =>
      await Promise.all(allProjections.map(async ({ name }) => (await liveGeneration(pool, name)).generation));
    const before = await generations();

    let rebuilt = false;
    const rebuild = runProgram(['src/main.ts', 'projections', 'rebuild', '--all', '--json'], {
      DATA_DIR: config.dataDir,
      DATABASE_URL: config.databaseUrl ?? '',
      MASTER_KEY_FILE: config.masterKeyFile,
    });
    const ended = rebuild.ended.then((death) => {
      rebuilt = true;
      return death;
    });

    const written: { id: string; amount: number }[] = [];
    let reads = 0;
    for (let n = 0; !rebuilt || n < 20; n++) {
      const at = (n * 97) % INVOICES;
      expect(await client.get(ids[at] ?? '')).toMatchObject({ status: 'issued', amount_in_cents: amountOf(at) });
      reads += 1;
      if (n % 10 !== 0) continue;
      const amount = 5_000_000 + n;
      const answer = await client.issue({ amount_in_cents: amount, description: `Durante a reconstrução ${n}` });
      expect(answer).toMatchObject({ status: 202, body: { amount_in_cents: amount } });
      const id = answer.body.id ?? '';
      written.push({ id, amount });
      expect(await client.get(id)).toMatchObject({ amount_in_cents: amount });
      expect((await testClient.issue({ amount_in_cents: amount, description: `Teste ${n}` })).status).toBe(202);
    }
    expect(await ended, rebuild.complaint()).toEqual({ code: 0, signal: null });
    expect(await generations()).toEqual(before.map((generation) => generation + 1));
    expect(reads).toBeGreaterThan(0);

    const [first] = written;
    for (const { id, amount } of written) {
      const seen = await client.pollUntil(id, WORK_MS, ({ status }) => status === 'issued');
      expect(seen.amount_in_cents).toBe(amount);
    }
    expect((await client.cancel(first?.id ?? '')).status).toBe(202);
    await client.pollUntil(first?.id ?? '', WORK_MS, ({ status }) => status === 'canceled');

    // Every test invoice ends, and its stream is cut to the last event.
    await eventually(
      async () =>
        (await pool.query(`select from event_log where stream ^@ 'nfseTest-' and type <> 'TestInvoiceDeleted'`))
          .rowCount,
      (left) => left === 0,
      WORK_MS,
    );
    for (const projection of allProjections) {
      const { followed, rebuilt: again } = await rebuiltWhileQuiet(running, projection);
      expect(again).toEqual(followed);
      if (projection.name === 'invoices') {
        expect(followed).toHaveLength(INVOICES + 2 * written.length);
        expect(followed.filter((row) => row.includes('""kind"":""deleted""'))).toHaveLength(written.length);
      }
    }
  }, 300_000);
});

/**
 * The rows as the projector left them and as a rebuild gives them. A worker may record an event in between, such as the opening of a certificate; then
 * both are taken again.
 */
const rebuiltWhileQuiet = async (
  { service }: RunningService,
  projection: Projection,
): Promise<{ followed: readonly string[]; rebuilt: readonly string[] }> => {
  const { pool: db, log } = service.engines;
  const live = async () => (await liveGeneration(db, projection.name)).position;
  const isLast = async (position: LogPosition | null) =>
    (await log.readAll({ prefixes: projection.prefixes, after: position, limit: 1 })).length === 0;
  for (let tries = 0; tries < TRIES; tries++) {
    await eventually(async () => await isLast(await live()), Boolean);
    const position = await live();
    const followed = await dump(db, projection);
    const deps = { log, db, clock: systemClock };
    const outcome = await rebuildProjection(projection, new AbortController().signal, deps);
    expect(outcome).toMatchObject({ kind: 'live' });
    const rebuilt = await dump(db, projection);
    if (await isLast(position)) return { followed, rebuilt };
  }
  throw new Error(`${projection.name} was never quiet`);
};

const amountOf = (n: number): number => 100_000 + n;

/** Issued invoices, as the log has them after months. */
const writeInvoices = async ({ service }: RunningService): Promise<readonly string[]> => {
  const { cnpj } = demoCompany();
  const store = createEventStore(service.engines.log, service.engines.sealingKeys);
  const ids = Array.from({ length: INVOICES }, () => randomUUID());
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < INVOICES) {
      const n = next++;
      const invoiceId = ids[n] ?? '';
      const acceptance = accepted('live', n);
      const outcome = authorized(1, 2);
      if (acceptance.type !== 'InvoiceAccepted' || outcome.type !== 'Authorized')
        throw new Error('not an issued invoice');
      const { reference: _none, ...facts } = acceptance.data;
      const own = { ...acceptance, data: { ...facts, companyId: cnpj, invoiceId, amountInCents: amountOf(n) } };
      await store.append(invoiceStream('live', cnpj, invoiceId), NO_STREAM, [own, attempted(1, 1), outcome], {
        commandId: randomUUID(),
        correlationId: 'test',
        causationId: 'test',
        actor: 'worker:issuer',
        mode: 'live',
        now: systemClock.now(),
        site: 'accept_invoice',
      });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return ids.map(publicInvoiceId);
};

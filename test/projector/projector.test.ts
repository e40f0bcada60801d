import { expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { allProjections, operatorProjections } from '../../projections/registry.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { companyStream, systemApiStream } from '../../src/domain/common/ids.js';
import { EventLogUnavailable } from '../../src/ports/event-log.js';
import { applyStreamNow } from '../../src/projector/apply-now.js';
import { readCheckpoint } from '../../src/projector/checkpoints.js';
import { followProjection, LogIdentityMismatch, runProjector } from '../../src/projector/projector.js';
import { eventually } from '../support/eventually.js';
import {
  accepted,
  attempted,
  COMPANY,
  keyCreated,
  keyRevoked,
  registration,
  streamOf,
} from '../support/fixture/histories.js';
import { projecting } from '../support/harness/projecting.js';
import { appendFromTheFuture, NOW } from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres } from '../support/postgres.js';

describeWithPostgres('projector', () => {
  const harness = projecting();
  const { append, dump, start, caughtUp } = harness;

  const company = () =>
    append(companyStream(COMPANY), [{ type: 'CompanyRegistered', data: { registration, at: NOW } }, keyCreated('k1')]);

  it('waits for a database and a log that are away while it starts', async () => {
    await append(streamOf('live', 1), [accepted('live', 1)]);
    const faults: string[] = [];
    const gone = [new EventLogUnavailable('gone'), Object.assign(new Error('gone'), { code: '57P01' })];
    const identity = async (): Promise<string> => {
      const fault = gone.shift();
      if (fault !== undefined) throw fault;
      return await harness.log.identity();
    };
    start(allProjections, {
      log: { ...harness.log, identity },
      onFault: (name, error) => faults.push(`${name}: ${(error as Error).message}`),
    });
    await eventually(caughtUp);
    expect(faults).toEqual(['projector: gone', 'projector: gone']);
  });

  it('catches up, then follows', async () => {
    await append(streamOf('live', 1), [accepted('live', 1)]);
    start();
    const read = createReadModel(harness.pool);
    await eventually(async () => (await read.invoice(streamOf('live', 1)))?.revision === 0);
    await append(streamOf('live', 1), [attempted(1, 5)]);
    await eventually(async () => (await read.invoice(streamOf('live', 1)))?.revision === 1);
  });

  it('moves the checkpoints of quiet projections to the head, and still applies what comes for them', async () => {
    await company();
    for (const n of [1, 2, 3]) await append(streamOf('live', n), [accepted('live', n)]);
    start(allProjections, { passOverMs: 5 });
    await eventually(async () => {
      const head = await harness.log.head();
      const checkpoints = await Promise.all(allProjections.map((each) => readCheckpoint(harness.pool, each)));
      return checkpoints.every((position) => position === head);
    });
    await append(companyStream(COMPANY), [keyRevoked('k1')]);
    await eventually(async () => (await createReadModel(harness.pool).credentialById('k1'))?.revoked === true);
  });

  it('applies each event once though two follow the log at the same time', async () => {
    let applied = 0;
    const faults: unknown[] = [];
    const follower = () =>
      followProjection(
        invoices,
        harness.signal,
        harness.deps({
          onBatch: ({ events }) => {
            applied += events;
          },
          onFault: (_name, error) => faults.push(error),
        }),
      );
    harness.running(Promise.all([follower(), follower()]));
    for (let n = 1; n <= 40; n++) {
      await append(streamOf('live', n), [accepted('live', n), attempted(1, 5)]);
      // Gives each subscriber a separate batch.
      await readCheckpoint(harness.pool, invoices);
    }
    await eventually(caughtUp);
    await harness.end();
    expect(faults).toEqual([]);
    expect(applied).toBe(80);
    expect(await dump(invoices)).toHaveLength(40);
  });

  it('has one leader, and a stand-by that takes over', async () => {
    const leader = new AbortController();
    const batches: string[] = [];
    const first = start([invoices], { onBatch: () => batches.push('first'), signal: leader.signal });
    await append(streamOf('live', 1), [accepted('live', 1)]);
    await eventually(caughtUp);
    start([invoices], { onBatch: () => batches.push('second') });
    await append(streamOf('live', 2), [accepted('live', 2)]);
    await eventually(caughtUp);
    leader.abort();
    await first;
    await append(streamOf('live', 3), [accepted('live', 3)]);
    await eventually(caughtUp);
    await eventually(async () => batches.length === 3);
    expect(batches).toEqual(['first', 'first', 'second']);
  });

  it('goes on after PostgreSQL has dropped every connection', async () => {
    start([invoices]);
    await append(streamOf('live', 1), [accepted('live', 1)]);
    await eventually(caughtUp);
    await harness.database.breakConnections();
    await append(streamOf('live', 2), [accepted('live', 2)]);
    await eventually(() => caughtUp().catch(() => false));
    expect(await dump(invoices)).toHaveLength(2);
  });

  it('halts one projection once, and lets the others go on', async () => {
    start();
    await appendFromTheFuture(harness.log, systemApiStream, 'ApiSwitchedOff');
    await eventually(async () => harness.halts.length > 0);
    await append(streamOf('live', 1), [accepted('live', 1)]);
    await eventually(caughtUp);
    expect(harness.halts).toMatchObject([{ name: 'system', stream: systemApiStream, type: 'ApiSwitchedOff' }]);
    expect(await readCheckpoint(harness.pool, { name: 'system' })).toBeNull();
  });

  it('follows again after a halt when a rebuild has mended the rows, without a restart', async () => {
    const resumed: string[] = [];
    start([invoices], { onResume: (name) => void resumed.push(name) });
    await append(streamOf('live', 1), [accepted('live', 1)]);
    await eventually(caughtUp);
    await harness.pool.query('delete from read.invoices');
    await append(streamOf('live', 1), [attempted(1, 5)]);
    await eventually(async () => harness.halts.length > 0);
    await append(streamOf('live', 2), [accepted('live', 2)]);
    expect(await harness.rebuild(invoices)).toMatchObject({ kind: 'live' });
    await eventually(async () => resumed.length > 0);
    await append(streamOf('live', 3), [accepted('live', 3)]);
    await eventually(caughtUp);
    expect(await dump(invoices)).toHaveLength(3);
    expect(harness.halts).toHaveLength(1);
    expect(resumed).toEqual(['invoices']);
  });

  it('follows again when a process of a newer version has applied the event to the same rows', async () => {
    const resumed: string[] = [];
    await append(streamOf('live', 1), [attempted(1, 5)]);
    start([invoices], { onResume: (name) => void resumed.push(name) });
    await eventually(async () => harness.halts.length > 0);
    const past = await harness.log.head();
    await harness.pool.query(`update checkpoints set position = $1 where name = 'invoices'`, [past]);
    await eventually(async () => resumed.length > 0);
    await append(streamOf('live', 2), [accepted('live', 2)]);
    await eventually(caughtUp);
    expect(await dump(invoices)).toHaveLength(1);
    expect(harness.halts).toHaveLength(1);
  });

  it('refuses to start over another log', async () => {
    const other = runProjector({
      ...harness.deps({ log: memoryEventLog() }),
      projections: [invoices],
      signal: harness.signal,
    });
    await expect(other).rejects.toThrow(LogIdentityMismatch);
  });

  it('a revocation applied at once holds with the projector stopped, and the projector meeting it later does no harm', async () => {
    await company();
    await append(companyStream(COMPANY), [keyRevoked('k1')]);
    await applyStreamNow(harness.pool, operatorProjections, await harness.log.read(companyStream(COMPANY)));
    const read = createReadModel(harness.pool);
    expect(await read.credential('hash-k1')).toMatchObject({ keyId: 'k1', revoked: true });
    const before = await Promise.all(operatorProjections.map((projection) => dump(projection)));
    const revoked: unknown[] = [];
    start(allProjections, {
      onBatch: ({ name }) => {
        if (name === 'credentials') revoked.push(read.credential('hash-k1').then((credential) => credential?.revoked));
      },
    });
    await eventually(async () => (await readCheckpoint(harness.pool, { name: 'credentials' })) !== null);
    await eventually(async () => (await readCheckpoint(harness.pool, { name: 'companies' })) !== null);
    expect(await Promise.all(revoked)).not.toContain(false);
    expect(await Promise.all(operatorProjections.map((projection) => dump(projection)))).toEqual(before);
  });

  it('an older stream applied late never takes a newer row back', async () => {
    await company();
    const early = await harness.log.read(companyStream(COMPANY));
    await append(companyStream(COMPANY), [keyRevoked('k1')]);
    await applyStreamNow(harness.pool, operatorProjections, await harness.log.read(companyStream(COMPANY)));
    await applyStreamNow(harness.pool, operatorProjections, early);
    expect(await createReadModel(harness.pool).credential('hash-k1')).toMatchObject({ revoked: true });
  });

  it('refuses to apply ahead of the log what cannot be guarded', async () => {
    await append(streamOf('live', 1), [accepted('live', 1), attempted(1, 5)]);
    const stream = await harness.log.read(streamOf('live', 1));
    await expect(applyStreamNow(harness.pool, [invoices], stream.slice(1))).rejects.toThrow(/first event/);
  });
});

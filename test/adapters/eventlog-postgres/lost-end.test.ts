import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { watchEnd } from '../../../src/adapters/eventlog-postgres/lost-end.js';
import { EventLogUnavailable, type LogPosition } from '../../../src/ports/event-log.js';
import { at, chained, freshTestInvoice, retried, streamOf } from '../../support/harness/event-log.js';
import { loseEnd } from '../../support/lost-end.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('a log that lost its end under a process', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  let noticed: number;
  beforeEach(async () => {
    database = await freshDatabase();
    database.pool.on('error', () => undefined);
    log = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
    noticed = 0;
    log.lostEnd?.onLost(() => {
      noticed += 1;
    });
  });
  afterEach(async () => {
    await log.close();
    await database.close();
  });

  /** Ends all connections, as a restart or a failover does. */
  const reconnect = async (): Promise<void> => {
    await database.breakConnections();
    await retried(() => log.head());
  };
  const isLost = () => log.lostEnd?.isLost();
  const first = async (reading: PostgresEventLog, prefix: string): Promise<unknown> => {
    const over = new AbortController();
    for await (const batch of reading.subscribe({ prefixes: [prefix], after: null, signal: over.signal })) {
      over.abort();
      return batch;
    }
    return undefined;
  };

  const expectAppendsRefused = async (): Promise<void> => {
    const refusal = () => log.append('s-1', at(0), [chained('s-1', 1)]).catch((error: unknown) => error);
    await expect
      .poll(refusal)
      .toEqual(new EventLogUnavailable('the event log has lost its end: no pause is recorded yet'));
    expect(noticed).toBe(1);
  };

  it('takes no append of a process that has appended a lost event, before anything was read', async () => {
    await streamOf(log, 1, 's-1');
    await streamOf(log, 1, 's-lost');
    await loseEnd(database, 1n);
    await expectAppendsRefused();
    expect(await database.admin.query('select from event_log')).toMatchObject({ rowCount: 1 });
  });

  it('takes appends again when the loss is accepted, and notices the next one', async () => {
    for (const loss of [1, 2]) {
      const end = (await log.head()) ?? 0n;
      await streamOf(log, 1, `s-lost-${loss}`);
      await loseEnd(database, end);
      await expect.poll(() => isLost()?.catch(() => undefined)).toBe(true);
      log.lostEnd?.accept();
      await streamOf(log, 1, `s-${loss}`, retried);
      expect([await isLost(), noticed]).toEqual([false, loss]);
    }
  });

  it('is noticed also by what was only read, and where other events stand at the lost positions', async () => {
    const other = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
    await streamOf(other, 3, 's-1');
    expect(await isLost()).toBe(false);
    await loseEnd(database, 0n);
    await expect.poll(() => other.lostEnd?.isLost().catch(() => undefined)).toBe(true);
    other.lostEnd?.accept();
    await streamOf(other, 5, 's-2', retried);
    await expect.poll(() => isLost()?.catch(() => undefined)).toBe(true);
    await other.close();
  });

  it.each<[string, (reading: PostgresEventLog, stream: string) => Promise<unknown>]>([
    ['in its stream', (reading, stream) => reading.read(stream)],
    ['as the last of its stream', (reading, stream) => reading.read(stream, { direction: 'backwards', limit: 1 })],
    ['by a subscription', (reading, stream) => first(reading, stream)],
  ])('takes no append of a process that has read a lost event %s and has not looked since', async (_how, readLost) => {
    const other = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
    await streamOf(other, 1, 's-1');
    await streamOf(other, 1, 's-lost');
    await other.close();
    await readLost(log, 's-lost');
    await loseEnd(database, 1n);
    await expectAppendsRefused();
  });

  it.each<[string, (reading: PostgresEventLog) => Promise<unknown>]>([
    ['in its stream', (reading) => retried(() => reading.read('s-2'))],
    ['by a subscription', (reading) => first(reading, 's-2')],
  ])(
    'takes no append of a process that has read a lost event and then a later event of the other history %s',
    async (_how, readNew) => {
      const other = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
      await streamOf(other, 1, 's-1');
      await streamOf(other, 1, 's-lost');
      await log.read('s-lost');
      await other.close();
      await loseEnd(database, 1n);
      const next = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
      await streamOf(next, 3, 's-2', retried);
      await next.close();
      await readNew(log);
      await expectAppendsRefused();
    },
  );

  it('is noticed by what was only read where nothing stands at the lost positions yet', async () => {
    const other = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
    await streamOf(other, 3, 's-1');
    expect(await isLost()).toBe(false);
    await loseEnd(database, 1n);
    await expect.poll(() => isLost()?.catch(() => undefined)).toBe(true);
    await other.close();
  });

  it('is not what a restart, an empty log, or the end of a deleted test invoice look like', async () => {
    expect(await isLost()).toBe(false);
    await reconnect();
    expect(await isLost()).toBe(false);
    const invoice = await streamOf(log, 1, freshTestInvoice());
    await reconnect();
    expect(await isLost()).toBe(false);
    const other = postgresEventLog({ connectionString: database.connectionString });
    await other.append(invoice, at(0), [chained(invoice, 1, { type: 'TestInvoiceDeleted' })]);
    await other.cut(invoice, 1);
    await other.close();
    expect([await isLost(), noticed]).toEqual([false, 0]);
  });

  it('is not proven by a server that takes no writes', async () => {
    await streamOf(log, 1, 's-1');
    await isLost();
    const name = new URL(database.connectionString).pathname.slice(1);
    await database.admin.query(`alter database ${name} set default_transaction_read_only = on`);
    await database.admin.query(
      'begin; set local transaction_read_only = off; delete from event_log; update event_log_head set position = 0; commit',
    );
    await reconnect();
    expect([await isLost(), noticed]).toEqual([false, 0]);
    await database.admin.query(
      `set transaction_read_only = off; alter database ${name} reset default_transaction_read_only`,
    );
    await expect.poll(() => isLost()?.catch(() => undefined)).toBe(true);
  });
});

describe('the watch of the end of a log', () => {
  /** A server that gives these answers, the last of them again and again; and what it was asked for. */
  const serverThat = (...holds: boolean[]) => {
    const asked: (readonly unknown[])[] = [];
    const query = async ({ values }: { values: readonly unknown[] }) => {
      asked.push(values);
      const [now = true] = holds.length > 1 ? holds.splice(0, 1) : holds;
      return { rows: [{ head: '9', hash: 'h9', holds: now, takes_writes: true }] };
    };
    const db = { query } as unknown as Parameters<typeof watchEnd>[0];
    return { asked, end: watchEnd(db), db };
  };

  it('takes no loss from a standby that is promoted during the question', async () => {
    const { end, db } = serverThat(false, true);
    expect(await end.check(db)).toBe(true);
    expect(end.isKnownLost()).toBe(false);
  });

  it('looks for no event whose append was sent before the loss was accepted', async () => {
    const { asked, end, db } = serverThat(false, false, true);
    const remember = end.beginAppend();
    await end.check(db);
    end.accept();
    remember({ stream: 's-1', revision: 4, id: 'a' });
    await end.check(db);
    expect(asked.at(-1)).toEqual([[], [], null, null, null]);
    end.beginAppend()({ stream: 's-1', revision: 5, id: 'b' });
    await end.check(db);
    expect(asked.at(-1)).toEqual([[9n], ['h9'], 's-1', 5, 'b']);
  });

  it('looks for no event that was asked for before the loss was accepted', async () => {
    const { asked, end, db } = serverThat(false, false, true);
    const remember = end.beginRead();
    const lookAt = end.beginMarkedRead();
    await end.check(db);
    end.accept();
    remember({ position: 12n as LogPosition, hash: 'h12' });
    await lookAt({ last: { position: 13n as LogPosition, hash: 'h13' }, holdsMark: true }, undefined);
    await end.check(db);
    expect(asked.at(-1)).toEqual([[], [], null, null, null]);
    end.beginRead()({ position: 14n as LogPosition, hash: 'h14' });
    await end.check(db);
    expect(asked.at(-1)?.slice(0, 2)).toEqual([
      [9n, 14n],
      ['h9', 'h14'],
    ]);
  });

  it('looks for an event whose read began before the last look and ended after it, and for no event before that look', async () => {
    const { asked, end, db } = serverThat(true);
    const remember = end.beginRead();
    await end.check(db);
    remember({ position: 8n as LogPosition, hash: 'h8' });
    end.beginRead()({ position: 7n as LogPosition, hash: 'h7' });
    await end.check(db);
    expect(asked.at(-1)?.slice(0, 2)).toEqual([
      [9n, 8n],
      ['h9', 'h8'],
    ]);
    await end.check(db);
    expect(asked.at(-1)?.slice(0, 2)).toEqual([[9n], ['h9']]);
  });

  it('looks for an event that was read while it looked for others', async () => {
    const { asked, end, db } = serverThat(true);
    end.beginRead()({ position: 7n as LogPosition, hash: 'h7' });
    const looking = end.check(db);
    end.beginRead()({ position: 10n as LogPosition, hash: 'h10' });
    await looking;
    await end.check(db);
    expect(asked.at(-1)?.slice(0, 2)).toEqual([
      [9n, 10n],
      ['h9', 'h10'],
    ]);
  });

  it('keeps the last 1,000 of the events that it has read without a look', async () => {
    const { asked, end, db } = serverThat(true);
    for (let position = 1; position <= 1_001; position += 1) {
      end.beginRead()({ position: BigInt(position) as LogPosition, hash: `h${position}` });
    }
    await end.check(db);
    const [positions] = asked.at(-1) as [bigint[]];
    expect([positions.length, positions[0], positions.at(-1)]).toEqual([1_000, 2n, 1_001n]);
  });
});

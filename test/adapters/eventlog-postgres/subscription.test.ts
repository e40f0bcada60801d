import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { EventLogSetBack, type LogPosition } from '../../../src/ports/event-log.js';
import { retried, streamOf } from '../../support/harness/event-log.js';
import { loseEndUnder } from '../../support/lost-end.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('a subscription of a process that lives through a failover which lost the end of the log', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
  });
  afterAll(async () => {
    await log.close();
    await database.close();
  });

  const follow = (after: LogPosition | null) => {
    const stop = new AbortController();
    const streams: string[] = [];
    const running = (async () => {
      for await (const batch of log.subscribe({ prefixes: ['s-'], after, signal: stop.signal })) {
        streams.push(...batch.map(({ stream }) => stream));
      }
    })();
    const ended = running.then(
      () => undefined,
      (error: unknown) => error,
    );
    return { streams, ended, stop: () => stop.abort() };
  };

  it('ends, and a new one reads what stands at the positions of the lost events', async () => {
    for (const name of ['s-1', 's-2', 's-lost']) await streamOf(log, 1, name);
    const [early, late] = [follow(null), follow(2n as LogPosition)];
    await expect.poll(() => [early.streams, late.streams]).toEqual([['s-1', 's-2', 's-lost'], ['s-lost']]);
    await loseEndUnder(log, database, 2n);
    await streamOf(log, 1, 's-3', retried);
    await streamOf(log, 1, 's-4', retried);
    expect([await early.ended, await late.ended]).toEqual([expect.any(EventLogSetBack), expect.any(EventLogSetBack)]);
    const again = follow(2n as LogPosition);
    await expect.poll(() => again.streams).toEqual(['s-3', 's-4']);
    again.stop();
    expect(await again.ended).toBeUndefined();
    expect([early.streams, late.streams]).toEqual([['s-1', 's-2', 's-lost'], ['s-lost']]);
  });

  it('ends also where the log has not grown past the lost events yet', async () => {
    const end = (await log.head()) ?? 0n;
    await streamOf(log, 1, 's-5');
    const follower = follow(end as LogPosition);
    await expect.poll(() => follower.streams).toEqual(['s-5']);
    await loseEndUnder(log, database, end);
    expect(await follower.ended).toBeInstanceOf(EventLogSetBack);
  });

  it('ends also when it was at work while another one noticed the loss, and the log has grown past its position', async () => {
    const end = (await log.head()) ?? 0n;
    await streamOf(log, 1, 's-5');
    const stop = new AbortController();
    const busy = log.subscribe({ prefixes: ['s-'], after: end as LogPosition, signal: stop.signal });
    const reading = busy[Symbol.asyncIterator]();
    expect((await reading.next()).value).toMatchObject([{ stream: 's-5' }]);
    const follower = follow(end as LogPosition);
    await expect.poll(() => follower.streams).toEqual(['s-5']);
    await loseEndUnder(log, database, end);
    expect(await follower.ended).toBeInstanceOf(EventLogSetBack);
    for (const name of ['s-8', 's-9']) await streamOf(log, 1, name, retried);
    const later = follow(end as LogPosition);
    await expect.poll(() => later.streams).toEqual(['s-8', 's-9']);
    const next = await reading.next().catch((error: unknown) => error);
    later.stop();
    stop.abort();
    expect([next, await later.ended]).toEqual([expect.any(EventLogSetBack), undefined]);
  });

  it('goes on where retention has removed the event that was read last', async () => {
    const end = (await log.head()) ?? 0n;
    await streamOf(log, 1, 's-6');
    const follower = follow(end as LogPosition);
    await expect.poll(() => follower.streams).toEqual(['s-6']);
    await database.admin.query('delete from event_log where position > $1', [end]);
    await streamOf(log, 1, 's-7');
    await expect.poll(() => follower.streams).toEqual(['s-6', 's-7']);
    follower.stop();
    expect(await follower.ended).toBeUndefined();
  });
});

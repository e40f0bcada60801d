import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { type MarkedStretch, readStretch } from '../../../src/adapters/eventlog-postgres/reader.js';
import type { LogPosition } from '../../../src/ports/event-log.js';
import { chained, freshStream, NONE } from '../../support/harness/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('the mark of the furthest event that was read', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
    for (let count = 0; count < 3; count += 1) {
      const stream = freshStream();
      await log.append(stream, NONE, [chained(stream, 0)]);
    }
  });
  afterAll(async () => {
    await log.close();
    await database.close();
  });

  const read = (mark?: MarkedStretch['last']) => readStretch(database.pool, [], 0n as LogPosition, 10, mark);

  it('is held by the log that it was read from, and by no log that ends before it or holds another event there', async () => {
    const { last } = await read();
    if (last === undefined) throw new Error('the log is empty');
    expect(await read(last)).toMatchObject({ holdsMark: true });
    expect(await read({ ...last, hash: 'another' })).toMatchObject({ holdsMark: false });
    await database.admin.query('delete from event_log where position = $1', [last.position]);
    await database.admin.query('update event_log_head set position = position - 1');
    expect(await read(last)).toMatchObject({ holdsMark: false });
  });
});

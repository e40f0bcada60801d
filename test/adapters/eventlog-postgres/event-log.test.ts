import { expect, it } from 'vitest';
import { postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { eventLogContract } from '../../contracts/event-log.js';
import { streamOf } from '../../support/harness/event-log.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';

eventLogContract('memory', async () => {
  const log = memoryEventLog();
  return { log, reopen: async () => log, close: async () => undefined };
});

describeWithPostgres('postgres', () => {
  it('answers the appends under way before it is closed', async () => {
    const { connectionString, close } = await freshDatabase();
    const log = postgresEventLog({ connectionString });
    const appended = Promise.allSettled(['s-1', 's-2'].map((stream) => streamOf(log, 1, stream)));
    await log.close();
    expect((await appended).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    await close();
  });

  eventLogContract('postgres', async () => {
    const { connectionString, breakConnections, close } = await freshDatabase();
    const opened = [postgresEventLog({ connectionString })];
    const [log] = opened;
    if (log === undefined) throw new Error('not opened');
    return {
      log,
      reopen: async () => {
        const again = postgresEventLog({ connectionString });
        opened.push(again);
        return again;
      },
      breakConnections,
      close: async () => {
        await Promise.all(opened.map((each) => each.close()));
        await close();
      },
    };
  });
});

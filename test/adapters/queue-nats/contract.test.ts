import { afterAll, beforeAll } from 'vitest';
import { namesFor } from '../../../src/adapters/queue-nats/names.js';
import { createNatsQueue } from '../../../src/adapters/queue-nats/nats-queue.js';
import { workQueueContract } from '../../contracts/work-queue.js';
import { removeStreams } from '../../support/harness/nats-queue.js';
import { anyNats, freshPrefix } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

const clock = { now: () => '2026-11-21T12:00:00.000Z' };

describeWith('nats', 'NATS', () => {
  let server: Awaited<ReturnType<typeof anyNats>>;
  beforeAll(async () => {
    server = await anyNats();
  });
  afterAll(() => server.close());

  workQueueContract('NATS JetStream', async () => {
    const prefix = freshPrefix();
    const queue = await createNatsQueue({ servers: server.url, clock, prefix });
    return {
      queue,
      close: async () => {
        await queue.close();
        await removeStreams(server.url, namesFor(prefix));
      },
    };
  });
});

import { createMemoryQueue } from '../../../src/adapters/queue-memory/memory-queue.js';
import { workQueueContract } from '../../contracts/work-queue.js';

workQueueContract('memory', async () => ({
  queue: createMemoryQueue({ now: () => '2026-11-21T12:00:00.000Z' }),
  close: async () => undefined,
}));

import { expect, it } from 'vitest';
import { WorkQueueUnavailable } from '../../../src/ports/work-queue.js';
import { queueCheck } from '../../../src/runtime/operator/work-checks.js';

const broken = async () => {
  throw new WorkQueueUnavailable('the queue cannot be reached', 'ECONNREFUSED');
};

it('doctor says that NATS cannot be reached, and goes on to its other checks', async () => {
  const queue = { parked: broken, retryParked: broken, depth: broken };
  expect(await queueCheck({ queue })).toEqual({
    name: 'queue',
    ok: false,
    detail: 'NATS cannot be reached',
    cure: 'check NATS_URL and the NATS server',
  });
});

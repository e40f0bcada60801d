import { expect, it } from 'vitest';
import { NatsTopologyMismatch } from '../../../src/adapters/queue-nats/topology-mismatch.js';
import { type QueueFault, WorkQueueUnavailable } from '../../../src/ports/work-queue.js';
import { queueCheck } from '../../../src/runtime/operator/work-checks.js';

const checkOf = async (fault: Error) => {
  const broken = async () => {
    throw fault;
  };
  return await queueCheck({
    queue: { parked: broken, isParked: broken, retryParked: broken, depth: broken },
  });
};

it.each<[QueueFault, string, RegExp, RegExp]>([
  ['unavailable', 'CONNECTION_REFUSED', /^the work queue cannot be reached \(CONNECTION_REFUSED\)$/, /check NATS_URL/],
  ['refused', 'AUTHORIZATION_VIOLATION', /refuses this user \(AUTHORIZATION_VIOLATION\)$/, /password in NATS_URL/],
  ['untrusted', 'SERVER_OPT_NA', /TLS of NATS is not trusted.* \(SERVER_OPT_NA\)$/, /NODE_EXTRA_CA_CERTS/],
  ['without_jetstream', '503', /no JetStream \(503\)$/, /switch JetStream on/],
])('doctor says what is wrong with NATS, and goes on to its other checks: %s', async (fault, code, detail, cure) => {
  expect(await checkOf(new WorkQueueUnavailable('it cannot be used', code, fault))).toEqual({
    name: 'queue',
    ok: false,
    detail: expect.stringMatching(detail),
    cure: expect.stringMatching(cure),
  });
});

it('doctor goes on to its other checks when a stream of NATS cannot be what the queue needs', async () => {
  const fault = new NatsTopologyMismatch('NATS refuses the stream', 'delete it', false);
  expect(await checkOf(fault)).toEqual({
    name: 'queue',
    ok: false,
    detail: 'NATS refuses the stream',
    cure: 'delete it',
  });
  expect(fault.message).toBe('NATS refuses the stream: delete it');
});

it('doctor names a right that the user of NATS lacks', async () => {
  const queue = {
    parked: async () => ({ work: [], count: 0 }),
    isParked: async () => false,
    retryParked: async () => false,
    depth: async () => 3,
    missingRight: async () => 'not permitted: publish $JS.ACK.nfse-work.>',
  };
  expect(await queueCheck({ queue })).toEqual({
    name: 'queue',
    ok: false,
    detail: 'NATS keeps work away: not permitted: publish $JS.ACK.nfse-work.>',
    cure: expect.stringContaining('rights'),
  });
  expect(await queueCheck({ queue: { ...queue, missingRight: async () => undefined } })).toMatchObject({ ok: true });
});

it('does not take a fault of its own for one of NATS', async () => {
  await expect(checkOf(new TypeError('ours'))).rejects.toThrow('ours');
});

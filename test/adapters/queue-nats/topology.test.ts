import { type JetStreamManager, NatsError } from 'nats';
import { expect, it } from 'vitest';
import { namesFor } from '../../../src/adapters/queue-nats/names.js';
import { ensureTopology } from '../../../src/adapters/queue-nats/topology.js';
import { NatsTopologyMismatch } from '../../../src/adapters/queue-nats/topology-mismatch.js';

const refusal = (code: number, errCode: number): NatsError => {
  const error = new NatsError('refused', String(code));
  error.api_error = { code, err_code: errCode, description: 'refused' };
  return error;
};

/** A server on which another process makes what is missing between the look and the change; `made` after that many refusals. */
const serverWith = (refusals: number): { manager: JetStreamManager; asked: () => number } => {
  const configs = new Map<string, object>();
  let left = refusals;
  let asked = 0;
  const info = async (name: string): Promise<object> => {
    const config = configs.get(name);
    if (config === undefined) throw refusal(404, 10059);
    return { config };
  };
  const add = async (name: string, config: object): Promise<void> => {
    asked += 1;
    if (left === 0) {
      configs.set(name, config);
      return;
    }
    left -= 1;
    if (left === 0) configs.set(name, config);
    throw refusal(400, 10065);
  };
  const manager = {
    streams: { info, add: (config: { name: string }) => add(config.name, config) },
    consumers: {
      info: (_stream: string, name: string) => info(name),
      add: (_stream: string, config: { durable_name: string }) => add(config.durable_name, config),
    },
  };
  return { manager: manager as unknown as JetStreamManager, asked: () => asked };
};

it('looks again when another process that starts at the same time made the stream', async () => {
  const { manager, asked } = serverWith(2);
  await ensureTopology(manager, namesFor('nfse'), 30_000);
  expect(asked()).toBeGreaterThan(2);
});

it('refuses what stays missing and refused, after a bounded number of tries', async () => {
  const { manager, asked } = serverWith(Number.POSITIVE_INFINITY);
  await expect(ensureTopology(manager, namesFor('nfse'), 30_000)).rejects.toBeInstanceOf(NatsTopologyMismatch);
  expect(asked()).toBe(10);
});

/** Streams and consumers as they have to be, but for what `changed` says of each consumer; keeps what is deleted and updated. */
const serverThatHas = async (changed: { config?: object; paused?: boolean }) => {
  const configs = new Map<string, object>();
  const changes: string[] = [];
  const keep = async (name: string, config: object): Promise<void> => {
    configs.set(name, config);
  };
  const info = async (name: string): Promise<object> => {
    const config = configs.get(name);
    if (config === undefined) throw refusal(404, 10059);
    return { config };
  };
  const manager = {
    streams: { info, add: (config: { name: string }) => keep(config.name, config) },
    consumers: {
      info: async (_stream: string, name: string) => info(name),
      add: (_stream: string, config: { durable_name: string }) => keep(config.durable_name, config),
      update: async (_stream: string, name: string) => changes.push(`update ${name}`),
      delete: async (_stream: string, name: string) => {
        changes.push(`delete ${name}`);
        return configs.delete(name);
      },
    },
  } as unknown as JetStreamManager;
  const names = namesFor('nfse');
  await ensureTopology(manager, names, 30_000);
  Object.assign(manager.consumers, {
    info: async (_stream: string, name: string) => {
      const { config } = (await info(name)) as { config: object };
      const isTampered = name === 'issue-live' && !changes.includes('delete issue-live');
      return isTampered ? { config: { ...config, ...changed.config }, paused: changed.paused } : { config };
    },
  });
  await ensureTopology(manager, names, 30_000);
  await ensureTopology(manager, names, 30_000);
  return changes;
};

it.each([
  ['is paused', { paused: true }],
  ['answers only members of a group', { config: { priority_groups: ['theirs'], priority_policy: 'pinned_client' } }],
])('makes a consumer of a newer server again that %s', async (_what, changed) => {
  expect(await serverThatHas(changed)).toEqual(['delete issue-live']);
});

it('leaves a consumer alone to which a newer server added fields', async () => {
  const config = {
    metadata: { '_nats.req.level': '0', '_nats.ver': '2.12.1' },
    max_waiting: 512,
    num_replicas: 0,
    name: 'issue-live',
    pause_until: '2026-01-01T00:00:00Z',
    inactive_threshold: 5,
    priority_groups: [],
    later: true,
  };
  expect(await serverThatHas({ config, paused: false })).toEqual([]);
});

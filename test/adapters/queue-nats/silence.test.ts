import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createNatsQueue,
  type NatsQueueOptions,
  type NatsWorkQueue,
} from '../../../src/adapters/queue-nats/nats-queue.js';
import { WorkQueueUnavailable } from '../../../src/ports/work-queue.js';
import { bound } from '../../support/harness/nats-queue.js';
import { freshPrefix, startNats } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';
import { type SilentServer, startSilentServer } from '../../support/silent-server.js';
import { openTcpLine } from '../../support/tcp-line.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

const silent = async (greeting = ''): Promise<SilentServer> => {
  const server = await startSilentServer({ greeting });
  closers.push(server.close);
  return server;
};

const open = async (port: number, options: Partial<NatsQueueOptions> = {}): Promise<NatsWorkQueue> => {
  const queue = await createNatsQueue({
    servers: `nats://127.0.0.1:${port}`,
    clock: { now: () => '2026-11-21T12:00:00.000Z' },
    prefix: freshPrefix(),
    answerMs: 300,
    ...options,
  });
  closers.push(() => queue.close());
  return queue;
};

const INFO = 'INFO {"server_id":"x","version":"2.9.0","proto":1,"max_payload":1048576}\r\n';
const INFO_OF_TLS = INFO.replace('}', ',"tls_required":true}');

describe('a server that takes connections and stays silent', () => {
  it.each([
    ['at once', ''],
    ['after its first line', INFO],
    ['before its TLS begins', INFO_OF_TLS],
    ['in the middle of a line', 'INFO {'],
  ])('keeps no connection of an attempt that failed: %s', async (_when, greeting) => {
    const server = await silent(greeting);
    await expect(open(server.port)).rejects.toThrow(WorkQueueUnavailable);
    expect(server.taken()).toBe(1);
    await vi.waitFor(() => expect(server.open()).toBe(0), bound);
  });

  it('leaves the next server its turn', async () => {
    const [one, other] = [await silent(), await silent()];
    const servers = `nats://127.0.0.1:${one.port},nats://127.0.0.1:${other.port}`;
    await expect(open(one.port, { servers })).rejects.toThrow(WorkQueueUnavailable);
    expect([one.taken(), other.taken()]).toEqual([1, 1]);
    await vi.waitFor(() => expect([one.open(), other.open()]).toEqual([0, 0]), bound);
  });
});

describeWith('natsServer', 'a client whose server falls silent', () => {
  it('has one connection at a time, and none once it is closed', async () => {
    const nats = await startNats();
    closers.push(nats.close);
    const line = await openTcpLine('127.0.0.1', Number(new URL(nats.url).port));
    const queue = await open(line.port, { answerMs: 1_000 });
    await line.close();
    const server = await startSilentServer({ port: line.port });
    closers.push(server.close);
    await vi.waitFor(() => expect(server.taken()).toBeGreaterThan(2), bound);
    await vi.waitFor(() => expect(server.open()).toBeLessThanOrEqual(1), bound);
    await queue.close();
    await vi.waitFor(() => expect(server.open()).toBe(0), bound);
  });
});

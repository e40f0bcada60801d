import { nanos, RetentionPolicy, StorageType } from 'nats';
import { describe, expect, it, vi } from 'vitest';
import { unavailable } from '../../../src/adapters/queue-nats/faults.js';
import { subjectToken } from '../../../src/adapters/queue-nats/names.js';
import { readServers } from '../../../src/adapters/queue-nats/servers.js';
import { NatsTopologyMismatch } from '../../../src/adapters/queue-nats/topology-mismatch.js';
import { AddressInvalid } from '../../../src/ports/engine-address.js';
import { laneOf, WorkQueueUnavailable } from '../../../src/ports/work-queue.js';
import { bound, itemOf, natsForEachTest, type QueueHarness } from '../../support/harness/nats-queue.js';
import type { NatsServer } from '../../support/nats.js';
import { describeWith } from '../../support/needs.js';

const prefixOf = ({ workStream }: { workStream: string }): string => workStream.replace(/-work$/, '');

describeWith('natsServer', 'the NATS queue at its start', () => {
  let server: NatsServer;
  let harness: QueueHarness;
  const beginAnew = natsForEachTest((begun) => {
    ({ server, harness } = begun);
  });
  const manager = async () => (await server.admin()).jetstreamManager();

  it('mends what it may of a stream and a consumer that are there', async () => {
    const { names } = harness;
    const { streams, consumers } = await manager();
    await streams.add({
      name: names.workStream,
      subjects: [`${prefixOf(names)}.work.>`],
      retention: RetentionPolicy.Workqueue,
      duplicate_window: nanos(5_000),
      max_msgs: 10,
    });
    await streams.add({ name: names.parkedStream, subjects: [names.everyParked] });
    const js = (await server.admin()).jetstream();
    await js.publish(names.work(itemOf('waits')), '{}');
    await js.publish(names.parked(itemOf('parked')), 'x'.repeat(20_000));
    await harness.open({ ackWaitMs: 2_000 });
    await harness.open({ ackWaitMs: 4_000 });
    const { config } = await streams.info(names.workStream);
    expect(config).toMatchObject({ max_msgs_per_subject: 1, max_msgs: -1, duplicate_window: nanos(120_000) });
    for (const [name, subjects] of [
      [names.workStream, names.workSubjects],
      [names.parkedStream, names.parkedSubjects],
    ] as const) {
      const { config: mended, state } = await streams.info(name);
      expect(mended).toMatchObject({ subjects, max_msg_size: 16_384 });
      expect(state.messages).toBe(1);
    }
    await expect(js.publish(names.work(itemOf('a')), 'x'.repeat(20_000))).rejects.toThrow();
    await expect(js.publish(`${prefixOf(names)}.work.other.1`, '{}')).rejects.toThrow();
    const consumer = await consumers.info(names.workStream, 'issue-live');
    expect(consumer.config).toMatchObject({ ack_wait: nanos(4_000), max_deliver: -1, max_ack_pending: -1 });
  });

  it('refuses a stream that cannot become what it needs, and names what differs', async () => {
    const { names } = harness;
    const { streams } = await manager();
    await streams.add({
      name: names.workStream,
      subjects: names.workSubjects,
      retention: RetentionPolicy.Limits,
      storage: StorageType.Memory,
    });
    const opening = harness.open();
    await expect(opening).rejects.toThrow(NatsTopologyMismatch);
    await expect(opening).rejects.toThrow(
      /stream t\w+-work .*differs in retention, storage.*: delete the stream t\w+-work while/,
    );
    await streams.delete(names.workStream);
    const queue = await harness.open();
    await queue.put(itemOf('a'));
    expect(await queue.depth()).toBe(1);
  });

  it('refuses subjects that another stream takes already', async () => {
    const { streams } = await manager();
    await streams.add({ name: 'theirs', subjects: harness.names.workSubjects });
    await expect(harness.open()).rejects.toThrow(NatsTopologyMismatch);
  });

  it('fails within its time limit when there is no server, or none with JetStream', async () => {
    await server.kill();
    await expect(harness.open()).rejects.toThrow(WorkQueueUnavailable);
    await beginAnew({ jetStream: false });
    await expect(harness.open({ answerMs: 200 })).rejects.toMatchObject({ code: '503', fault: 'without_jetstream' });
  });

  it('logs in with what its address says, and never shows it', async () => {
    await beginAnew({ identity: { user: 'nfse', password: 'open%sesame' } });
    const queue = await harness.open();
    await queue.put(itemOf('a'));
    expect(await queue.depth()).toBe(1);
    const refused = await harness
      .open({ servers: server.url.replace('nfse:', 'other:') })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(WorkQueueUnavailable);
    expect(refused).toMatchObject({ fault: 'refused' });
    expect(`${refused} ${JSON.stringify(refused)}`).not.toMatch(/sesame|other/);
  });

  it('connects to whichever of its servers is there', async () => {
    const queue = await harness.open({ servers: `nats://127.0.0.1:9,${server.url}` });
    expect(queue.status()).toEqual({ ok: true });
  });

  it('does not connect without TLS where the address asks for it', async () => {
    const servers = server.url.replace('nats:', 'tls:');
    await expect(harness.open({ servers })).rejects.toMatchObject({ fault: 'untrusted' });
  });

  it('says why it is not ready, and that it is closed', async () => {
    const queue = await harness.open();
    await server.kill();
    await vi.waitFor(() => expect(queue.status()).toEqual({ ok: false, reason: 'not connected' }), bound);
    await server.start();
    await vi.waitFor(() => expect(queue.status()).toEqual({ ok: true }), bound);
    await queue.close();
    expect(queue.status()).toEqual({ ok: false, reason: 'closed' });
    await expect(queue.put(itemOf('a'))).rejects.toThrow(WorkQueueUnavailable);
  });
});

describe('a fault of a certificate', () => {
  it.each([
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'EPROTO',
  ])('is told by the code of Node, never by its text: %s', (code) => {
    const fault = unavailable('it cannot be used', Object.assign(new Error('secret host'), { code }));
    expect(fault).toMatchObject({ code, fault: 'untrusted', message: `it cannot be used (${code})` });
  });

  it('is not what a port that nothing listens on has', () => {
    const fault = unavailable('it cannot be used', Object.assign(new Error('secret host'), { code: 'ENOTFOUND' }));
    expect(fault).toMatchObject({ code: 'ENOTFOUND', fault: 'unavailable' });
  });
});

describe('the addresses of NATS servers', () => {
  it('hold user, password, token, TLS and several hosts', () => {
    const named = { ignoreClusterUpdates: true };
    expect(readServers('nats://queue')).toEqual({ servers: ['queue:4222'], ...named });
    expect(readServers('nats://me:p%40ss@a:1, nats://b')).toEqual({
      servers: ['a:1', 'b:4222'],
      user: 'me',
      pass: 'p@ss',
      ...named,
    });
    expect(readServers('tls://secret@[::1]:5')).toEqual({ servers: ['[::1]:5'], token: 'secret', tls: {} });
  });

  it.each(['', 'queue:4222', 'http://queue', 'nats://', 'nats://a,,nats://b', 'nats://u:secret@a,nats://u:other@b'])(
    'are refused without being shown: %s',
    (text) => {
      expect(() => readServers(text)).toThrow(AddressInvalid);
      expect(() => readServers(text)).not.toThrow(/secret|other|queue/);
    },
  );
});

describe('the names on the server', () => {
  it('keep streams apart whatever their characters, as one token', () => {
    const streams = ['a', 'a.b', 'a%2eb', 'a b', '*', '>', 'é', '€', 'A', '😀'];
    const tokens = streams.map(subjectToken);
    expect(new Set(tokens).size).toBe(streams.length);
    for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_%-]+$/);
    expect(subjectToken('nfseLive-12345678000195_x')).toBe('nfseLive-12345678000195_x');
  });

  it('put test invoices into a lane of their own', () => {
    expect(['nfseTest-1_x', 'nfseLive-1_x', 'other'].map(laneOf)).toEqual(['test', 'live', 'live']);
  });
});

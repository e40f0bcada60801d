import { Events, type NatsConnection, type Status } from 'nats';
import { expect, it, vi } from 'vitest';
import { openLink, type QueueNotice } from '../../../src/adapters/queue-nats/link.js';
import { bound } from '../../support/harness/nats-queue.js';

/** A connection that lasts until `close`, without a server. `said`: what the client says of it. */
const lastingConnection = (said: readonly Status[] = []): NatsConnection => {
  let end: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    closed: () => closed,
    status: async function* () {
      yield* said;
      await closed;
    },
    jetstream: () => ({}),
    jetstreamManager: async () => ({}),
    drain: async () => undefined,
    close: async () => end(),
  } as unknown as NatsConnection;
};

/** A link whose check of streams and consumers, after the first, fails when `fail` is called. */
const linkUnderCheck = async () => {
  const notices: QueueNotice[] = [];
  let fail: (() => void) | undefined;
  let checks = 0;
  const link = await openLink({
    server: {},
    answerMs: 1_000,
    checkMs: 1,
    connect: async () => lastingConnection(),
    notify: (notice) => notices.push(notice),
    prepare: async () => {
      checks += 1;
      if (checks === 1) return;
      await new Promise<void>((_, reject) => {
        fail = () => reject(new Error('cut'));
      });
    },
  });
  await vi.waitFor(() => expect(fail).toBeDefined(), bound);
  return { link, fail: () => fail?.(), failed: () => notices.filter(({ kind }) => kind === 'topology_failed') };
};

it('tells of a check that fails', async () => {
  const { link, fail, failed } = await linkUnderCheck();
  fail();
  await vi.waitFor(() => expect(failed()).not.toEqual([]), bound);
  await link.close();
});

it('does not tell of a check that its own closing cuts', async () => {
  const { link, fail, failed } = await linkUnderCheck();
  const closed = link.close();
  fail();
  await closed;
  expect(failed()).toEqual([]);
});

it('tells in one notice, with the code of the server, of all tries that it refuses', async () => {
  const lost: Status = { type: Events.Disconnect, data: 'server' };
  const refused: Status = { type: Events.Error, data: 'AUTHORIZATION_VIOLATION' };
  const denied: Status = { type: Events.Error, data: 'PERMISSIONS_VIOLATION' };
  const said = [denied, lost, ...Array.from({ length: 47 }, () => [refused, lost]).flat()];
  const notices: QueueNotice[] = [];
  const link = await openLink({
    server: {},
    answerMs: 1_000,
    checkMs: 60_000,
    connect: async () => lastingConnection(said),
    notify: (notice) => notices.push(notice),
    prepare: async () => undefined,
  });
  await vi.waitFor(() => expect(link.status()).toEqual({ ok: false, reason: 'AUTHORIZATION_VIOLATION' }), bound);
  await link.close();
  expect(notices).toEqual([
    { kind: 'connected' },
    { kind: 'disconnected', code: 'not connected' },
    { kind: 'disconnected', code: 'AUTHORIZATION_VIOLATION' },
  ]);
});

import { Events, type NatsConnection, NatsError, type Status } from 'nats';
import { expect, it, vi } from 'vitest';
import { type Link, openLink, type QueueNotice } from '../../../src/adapters/queue-nats/link.js';
import { NatsTopologyMismatch } from '../../../src/adapters/queue-nats/topology-mismatch.js';
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

/** A link whose checks of streams and consumers end as `outcomes` says, one after the other; the first is that of its start. */
const linkOf = async (outcomes: readonly (Error | undefined)[]) => {
  const notices: QueueNotice[] = [];
  const seen: ReturnType<Link['status']>[] = [];
  let checks = 0;
  const link = await openLink({
    server: {},
    answerMs: 1_000,
    checkMs: 1,
    connect: async () => lastingConnection(),
    notify: (notice) => notices.push(notice),
    prepare: async () => {
      if (checks > 0) seen.push(link.status());
      checks += 1;
      const outcome = outcomes[checks - 1];
      if (outcome !== undefined) throw outcome;
    },
  });
  await vi.waitFor(() => expect(checks).toBeGreaterThan(outcomes.length), bound);
  await link.close();
  // The first of them was read before the second check.
  return { notices, states: seen.slice(1, outcomes.length) };
};
const lostTrip = new NatsError('TIMEOUT', 'TIMEOUT');

it('says in its status that streams or consumers cannot be had, until a check succeeds', async () => {
  const mismatch = new NatsTopologyMismatch('NATS refuses the consumer c (JetStream 10100)', 'delete it', false);
  const { notices, states } = await linkOf([undefined, mismatch, undefined, undefined]);
  expect(states).toEqual([{ ok: false, reason: mismatch.what, isPartial: true }, { ok: true }, { ok: true }]);
  expect(notices).toContainEqual({ kind: 'topology_failed', code: 'NatsTopologyMismatch', what: mismatch.what });
});

it('does not change its status for one lost round trip, and does for two', async () => {
  const { states } = await linkOf([undefined, lostTrip, undefined, lostTrip, lostTrip, undefined]);
  const reason = 'streams or consumers: TIMEOUT';
  const good = { ok: true };
  expect(states).toEqual([good, good, good, { ok: false, reason, isPartial: true }, good]);
});

it('says which right is missing, without what names an invoice', async () => {
  const violation = (operation: string, subject: string): Status => ({
    type: Events.Error,
    data: 'PERMISSIONS_VIOLATION',
    permissionContext: { operation, subject },
  });
  const notices: QueueNotice[] = [];
  const link = await openLink({
    server: {},
    answerMs: 1_000,
    checkMs: 60_000,
    connect: async () =>
      lastingConnection([
        violation('publish', 'nfse.work.issue.live.nfseLive-12345678000195_x'),
        violation('subscription', '_INBOX.ABC.*'),
        violation('publish', '$JS.ACK.nfse-work.issue-live.1.2.3.4.5'),
        violation('publish', '$JS.ACK.nfse-work.issue-test.1.7.3.4.5'),
      ]),
    notify: (notice) => notices.push(notice),
    prepare: async () => undefined,
  });
  const reason = 'not permitted: publish $JS.ACK.nfse-work.>';
  await vi.waitFor(() => expect(link.status()).toEqual({ ok: false, reason, isPartial: true }), bound);
  await link.close();
  expect(notices.slice(1)).toEqual([
    { kind: 'not_permitted', what: 'publish nfse.work.issue.live.*' },
    { kind: 'not_permitted', what: 'subscription _INBOX.>' },
    { kind: 'not_permitted', what: 'publish $JS.ACK.nfse-work.>' },
  ]);
});

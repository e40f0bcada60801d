import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createHeadFinder } from '../../../src/adapters/eventlog-eventstoredb/pages.js';
import type { Reader } from '../../../src/adapters/eventlog-eventstoredb/read.js';

type Stored = { at: bigint; stream: string; id?: string; type?: string };
type Page = { fromPosition: 'end' | { commit: bigint }; maxCount: number };

/** A server whose log the test replaces, and how many events it was asked for. */
const serverWith = (...events: readonly Stored[]) => {
  const server = { log: events, asked: 0 };
  const readAll = ({ fromPosition, maxCount }: Page) => {
    server.asked += maxCount;
    const page = server.log
      .toReversed()
      .filter(({ at }) => fromPosition === 'end' || at < fromPosition.commit)
      .slice(0, maxCount);
    const resolved = page.map(({ at, stream, id = `${stream}@${at}`, type = 'T' }) => ({
      event: { streamId: stream, id, type, position: { commit: at, prepare: at } },
    }));
    return Object.assign(Readable.from(resolved), { cancel: async () => undefined });
  };
  const credentials = { username: 'service', password: 'secret' };
  const reader = { timeoutMs: 1_000, credentials, client: { readAll } } as unknown as Reader;
  return { server, reader };
};

const ours = (at: bigint): Stored => ({ at, stream: `nfseLive-${at}` });
const statistics = (at: bigint): Stored => ({ at, stream: '$stats-1' });

describe('the head of the log in EventStoreDB', () => {
  it('is the last event that is not the server’s own', async () => {
    const { reader } = serverWith(ours(100n), statistics(150n), ours(200n), statistics(260n));
    expect(await createHeadFinder(reader)()).toBe(200n);
  });

  it('is before the server’s mark of a stream of ours that a person deleted for good', async () => {
    const { reader } = serverWith(ours(100n), { at: 200n, stream: 'nfseLive-100', type: '$streamDeleted' });
    expect(await createHeadFinder(reader)()).toBe(100n);
  });

  it('is remembered, so that the server’s own events before a known one are not read again', async () => {
    const { server, reader } = serverWith(
      ours(1n),
      ...Array.from({ length: 100 }, (_, n) => statistics(2n + BigInt(n))),
    );
    const head = createHeadFinder(reader);
    expect(await head()).toBe(1n);
    server.asked = 0;
    server.log = [...server.log, statistics(200n)];
    expect(await head()).toBe(1n);
    expect(server.asked).toBe(8);
  });

  it('is the shorter log’s after a restore, although the server’s own events have grown past the old end', async () => {
    const { server, reader } = serverWith(ours(100n), ours(200n), ours(300n));
    const head = createHeadFinder(reader);
    expect(await head()).toBe(300n);
    server.log = [ours(100n), ours(200n), statistics(260n), statistics(420n)];
    expect(await head()).toBe(200n);
    expect(await head()).toBe(200n);
  });

  it('is the shorter log’s also when another event of the server stands where the newest stood', async () => {
    const { server, reader } = serverWith(ours(100n), ours(200n), statistics(300n));
    const head = createHeadFinder(reader);
    expect(await head()).toBe(200n);
    server.log = [ours(100n), { at: 300n, stream: '$stats-1', id: 'another' }, statistics(420n)];
    expect(await head()).toBe(100n);
  });

  it('is found again when the server has removed the newest of its own events', async () => {
    const { server, reader } = serverWith(ours(100n), statistics(300n));
    const head = createHeadFinder(reader);
    expect(await head()).toBe(100n);
    server.log = [ours(100n), statistics(420n)];
    expect(await head()).toBe(100n);
  });

  it('is none while the log has only the server’s own events', async () => {
    const { server, reader } = serverWith(statistics(10n));
    const head = createHeadFinder(reader);
    expect(await head()).toBeNull();
    server.log = [];
    expect(await head()).toBeNull();
  });
});

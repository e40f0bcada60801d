import { describe, expect, it, vi } from 'vitest';
import { createEventStore } from '../../src/app/event-store/event-store.js';
import { companyStream, invoiceStream } from '../../src/domain/common/ids.js';
import type { LogPosition } from '../../src/ports/event-log.js';
import { runRelay } from '../../src/workers/relay.js';
import { accepted, attempted, authorized, cancelRequested, T0 } from '../support/fixture/invoice.js';
import { appendTo, fixedKeys } from '../support/harness/event-store.js';
import { collectingQueue } from '../support/harness/workers.js';
import { memoryEventLog } from '../support/memory/event-log.js';

const stream = (mode: 'live' | 'test', digit: number): string =>
  invoiceStream(mode, '12345678000195', `${String(digit).repeat(8)}-1111-4111-8111-111111111111`);

const relayOver = () => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  const queue = collectingQueue();
  const relayed: LogPosition[] = [];
  const start = (after: LogPosition | null) => {
    const stop = new AbortController();
    const running = runRelay({
      log,
      queue,
      after,
      signal: stop.signal,
      onRelayed: async (position) => {
        relayed.push(position);
      },
      onInterrupted: () => undefined,
    });
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    return { running, end };
  };
  return { log, store, queue, relayed, start };
};

const items = (count: number, { items: put }: { items: readonly unknown[] }): Promise<void> =>
  vi.waitFor(() => expect(put).toHaveLength(count), { timeout: 60_000 });

describe('the relay', () => {
  it('puts a work item for an accepted invoice and for a requested cancellation, in both modes, and for nothing else', async () => {
    const { log, store, queue, start } = relayOver();
    await appendTo(store, stream('live', 1), [accepted(), attempted(1, 1), authorized(1, 2), cancelRequested(3)], T0);
    await appendTo(store, companyStream('12345678000195'), [{ type: 'CompanyEnabled', data: { at: T0 } }], T0);
    const relay = start(null);
    await appendTo(store, stream('test', 2), [accepted({ mode: 'test' })], T0);
    await items(3, queue);
    await relay.end();
    expect(queue.items.map((item) => [item.kind, item.stream])).toEqual([
      ['issue', stream('live', 1)],
      ['cancel', stream('live', 1)],
      ['issue', stream('test', 2)],
    ]);
    const [first] = await log.read(stream('live', 1));
    expect(queue.items[0]?.messageId).toBe(first?.id);
  });

  it('goes on behind the position that it is given', async () => {
    const { log, store, queue, relayed, start } = relayOver();
    await appendTo(store, stream('live', 1), [accepted()], T0);
    const relay = start(await log.head());
    await appendTo(store, stream('live', 2), [accepted()], T0);
    await items(1, queue);
    await vi.waitFor(async () => expect(relayed.at(-1)).toBe(await log.head()), { timeout: 60_000 });
    await relay.end();
    expect(queue.items.map((item) => item.stream)).toEqual([stream('live', 2)]);
  });

  it('says how far it got only after the items are in the queue', async () => {
    const { store, queue, relayed, start } = relayOver();
    await appendTo(store, stream('live', 1), [accepted()], T0);
    const { put } = queue;
    let before = -1;
    queue.put = async (item) => {
      before = relayed.length;
      await put(item);
    };
    const relay = start(null);
    await vi.waitFor(() => expect(relayed).toHaveLength(1), { timeout: 60_000 });
    await relay.end();
    expect(before).toBe(0);
  });

  it('fails when the queue does, without saying that it got further', async () => {
    const { store, queue, relayed, start } = relayOver();
    await appendTo(store, stream('live', 1), [accepted()], T0);
    queue.put = () => Promise.reject(new Error('queue down'));
    const relay = start(null);
    await expect(relay.running).rejects.toThrow('queue down');
    expect(relayed).toEqual([]);
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMemoryQueue } from '../../../src/adapters/queue-memory/memory-queue.js';
import type { WorkItem, WorkQueue } from '../../../src/ports/work-queue.js';
import { workQueueContract } from '../../contracts/work-queue.js';

const clock = { now: () => '2026-11-21T12:00:00.000Z' };
const bound = { timeout: 60_000, interval: 20 };

workQueueContract('memory', async () => ({ queue: createMemoryQueue(clock), close: async () => undefined }));

describe('the memory queue', () => {
  afterEach(() => vi.restoreAllMocks());

  const item = (index: number): WorkItem => ({
    ...{ kind: index % 2 === 0 ? 'issue' : 'cancel', stream: `s${index}`, messageId: `event ${index}` },
  });
  const worker = (queue: WorkQueue, handle: Parameters<WorkQueue['work']>[0]['handle']) => {
    const stop = new AbortController();
    const ended = queue.work({ concurrency: 16, signal: stop.signal, handle });
    return async () => {
      stop.abort();
      await ended;
    };
  };

  it('takes 200,000 items in their order, and new work while all of them pause', async () => {
    const many = 200_000;
    const queue = createMemoryQueue(clock);
    const streams: string[] = [];
    for (let index = 0; index < many; index += 1) await queue.put(item(index));
    const stop = worker(queue, async ({ stream }) => {
      streams.push(stream);
      return streams.length <= many ? { kind: 'retry', afterMs: 600_000 } : { kind: 'ack' };
    });
    await vi.waitFor(() => expect(streams.length).toBe(many), bound);
    expect([streams[0], streams[1], streams[many - 1]]).toEqual(['s0', 's1', `s${many - 1}`]);
    await queue.put(item(many));
    await queue.put(item(7));
    await vi.waitFor(() => expect(streams.slice(many)).toEqual([`s${many}`, 's7']), bound);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(many - 1), bound);
    await stop();
  });

  it('ends a pause in time when the wall clock is set back', async () => {
    const queue = createMemoryQueue(clock);
    let looks = 0;
    const stop = worker(queue, async () => {
      looks += 1;
      return looks === 1 ? { kind: 'retry', afterMs: 20 } : { kind: 'ack' };
    });
    await queue.put(item(0));
    await vi.waitFor(() => expect(looks).toBe(1), bound);
    const hourAgo = Date.now() - 3_600_000;
    vi.spyOn(Date, 'now').mockReturnValue(hourAgo);
    await vi.waitFor(() => expect(looks).toBe(2), bound);
    await stop();
  });
});

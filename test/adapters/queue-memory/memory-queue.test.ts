import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMemoryQueue } from '../../../src/adapters/queue-memory/memory-queue.js';
import { invoiceStream, type Mode, modes } from '../../../src/domain/common/ids.js';
import type { WorkItem, WorkQueue } from '../../../src/ports/work-queue.js';
import { workQueueContract } from '../../contracts/work-queue.js';

const clock = { now: () => '2026-11-21T12:00:00.000Z' };
const bound = { timeout: 60_000, interval: 20 };

workQueueContract('memory', async () => ({ queue: createMemoryQueue(clock), close: async () => undefined }));

describe('the memory queue', () => {
  afterEach(() => vi.restoreAllMocks());

  const item = (index: number): WorkItem => ({
    kind: index % 2 === 0 ? 'issue' : 'cancel',
    stream: `s${index}`,
    messageId: `event ${index}`,
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

  it('lets companies take turns, and live work go before test work three times of four', async () => {
    const queue = createMemoryQueue(clock);
    const [flooding, other] = ['12345678000195', '98765432000198'];
    const putOne = async (mode: Mode, company: string, index: number): Promise<void> => {
      const stream = invoiceStream(mode, company, `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
      await queue.put({ kind: 'issue', stream, messageId: `${mode} ${company} ${index}` });
    };
    for (let index = 0; index < 4; index += 1) await putOne('test', flooding, index);
    for (let index = 0; index < 4; index += 1) await putOne('live', flooding, index);
    for (const mode of modes) for (const index of [8, 9]) await putOne(mode, other, index);
    const order: string[] = [];
    const stop = new AbortController();
    const handle = async ({ messageId }: WorkItem) => {
      order.push(messageId);
      return { kind: 'ack' } as const;
    };
    const ended = queue.work({ concurrency: 1, signal: stop.signal, handle });
    await vi.waitFor(() => expect(order).toHaveLength(12), bound);
    stop.abort();
    await ended;
    const indexes = (mode: Mode) => order.filter((id) => id.startsWith(mode)).map((id) => Number(id.at(-1)));
    expect(indexes('live')).toEqual([0, 8, 1, 9, 2, 3]);
    expect(indexes('test')).toEqual([0, 8, 1, 9, 2, 3]);
    const lanes = order.map((id) => id.slice(0, 4));
    expect(lanes.slice(0, 8)).toEqual(['live', 'live', 'live', 'test', 'live', 'live', 'live', 'test']);
  });

  it('lets late work of companies hold up no other company, and leaves room for it', async () => {
    const queue = createMemoryQueue(clock);
    const stop = new AbortController();
    let release = (): void => {};
    const answered = new Promise<void>((resolve) => {
      release = resolve;
    });
    const begun = { slow: 0, other: 0 };
    let finished = 0;
    const slow = ['12345678000195', '11222333000181'];
    const putOne = async (mode: Mode, company: string, index: number): Promise<void> => {
      const stream = invoiceStream(mode, company, `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);
      await queue.put({ kind: 'issue', stream, messageId: `${mode} ${company} ${index}` });
    };
    for (const company of slow)
      for (const mode of modes) for (let index = 0; index < 8; index += 1) await putOne(mode, company, index);
    let ended = false;
    const working = queue
      .work({
        concurrency: 4,
        signal: stop.signal,
        handle: async ({ stream }) => {
          const isSlow = slow.some((company) => stream.includes(company));
          begun[isSlow ? 'slow' : 'other'] += 1;
          if (isSlow) await answered;
          finished += 1;
          return { kind: 'ack' };
        },
      })
      .then(() => {
        ended = true;
      });
    // Each of the two companies has its share in each mode, which is two.
    await vi.waitFor(() => expect(begun.slow).toBe(8), bound);
    for (const mode of modes) await putOne(mode, '98765432000198', 0);
    await vi.waitFor(() => expect(begun.other).toBe(2), bound);
    expect([begun.slow, finished]).toEqual([8, 2]);
    release();
    await vi.waitFor(() => expect(finished).toBe(34), bound);
    stop.abort();
    await working;
    expect([ended, await queue.depth()]).toEqual([true, 0]);
  });

  it('ends when late work is done', async () => {
    const queue = createMemoryQueue(clock);
    const stop = new AbortController();
    let release = (): void => {};
    const answered = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = 0;
    let ended = false;
    for (const index of [0, 1])
      await queue.put({
        ...item(0),
        stream: invoiceStream('live', `1234567800019${index}`, '00000000-0000-4000-8000-000000000000'),
      });
    const handle = async () => {
      begun += 1;
      await answered;
      return { kind: 'ack' } as const;
    };
    const working = queue.work({ concurrency: 1, signal: stop.signal, handle }).then(() => {
      ended = true;
    });
    await vi.waitFor(() => expect(begun).toBe(2), bound);
    stop.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
    release();
    await working;
    expect(await queue.depth()).toBe(0);
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

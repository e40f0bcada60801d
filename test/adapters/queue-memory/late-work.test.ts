import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryQueue } from '../../../src/adapters/queue-memory/memory-queue.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import type { HandlingResult, WorkQueue } from '../../../src/ports/work-queue.js';

const streamOf = (mode: Mode, company: number, index: number) =>
  invoiceStream(
    mode,
    String(12_345_678_000_000 + company),
    `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  );

describe('work that takes longer than a second', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  });
  afterEach(() => vi.useRealTimers());

  const queueOf = () => createMemoryQueue({ now: () => '2026-11-30T12:00:00.000Z' });

  const put = async (queue: WorkQueue, mode: Mode, company: number, items: number): Promise<void> => {
    for (let index = 0; index < items; index += 1)
      await queue.put({ kind: 'issue', stream: streamOf(mode, company, index), messageId: `${company} ${index}` });
  };

  /** Each item takes its company's seconds. `inHand` counts the items of each company that are handled now, and `most` is their largest sum. */
  const workOf = (queue: WorkQueue, concurrency: number, secondsOf: (company: number) => number) => {
    const stop = new AbortController();
    const inHand = new Map<number, number>();
    let [sum, most] = [0, 0];
    const add = (company: number, change: number): void => {
      inHand.set(company, (inHand.get(company) ?? 0) + change);
      sum += change;
      most = Math.max(most, sum);
    };
    const handle = async ({ stream }: { stream: string }): Promise<HandlingResult> => {
      const company = Number(stream.slice(9, 23)) - 12_345_678_000_000;
      add(company, 1);
      await new Promise((resolve) => setTimeout(resolve, secondsOf(company) * 1_000));
      add(company, -1);
      return { kind: 'ack' };
    };
    const ended = queue.work({ concurrency, signal: stop.signal, handle });
    return {
      inHand: (company: number) => inHand.get(company) ?? 0,
      most: () => most,
      end: async () => {
        stop.abort();
        await vi.advanceTimersByTimeAsync(60_000);
        await ended;
      },
    };
  };
  const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000);

  it('of one company alone is in hand as many times as there are places, and no more', async () => {
    const queue = queueOf();
    await put(queue, 'live', 1, 100);
    const { inHand, most, end } = workOf(queue, 8, () => 20);
    await pass(19);
    expect([inHand(1), most()]).toEqual([8, 8]);
    await end();
    expect(most()).toBe(8);
  });

  it('shares the places among few companies, which have all of them again once they are alone', async () => {
    const queue = queueOf();
    for (const company of [1, 2]) await put(queue, 'live', company, 8);
    const { inHand, most, end } = workOf(queue, 8, (company) => (company === 1 ? 20 : 2));
    await pass(0.5);
    expect([inHand(1), inHand(2)]).toEqual([4, 4]);
    // The second company has no more work after four seconds, while no item of the first one has ended.
    await pass(5);
    expect([inHand(1), inHand(2), most()]).toEqual([8, 0, 8]);
    await end();
  });

  it('is in hand four times for each place at most, however many companies are late, and the others come when an item ends', async () => {
    const queue = queueOf();
    for (let company = 1; company <= 200; company += 1)
      for (const mode of ['live', 'test'] as const) await put(queue, mode, company, 4);
    const { most, end } = workOf(queue, 8, () => 20);
    await pass(19);
    expect(most()).toBe(32);
    await put(queue, 'live', 999, 1);
    await pass(2);
    expect(most()).toBe(32);
    await end();
  });

  it('leaves half of the places to others while four companies are late in each mode', async () => {
    const queue = queueOf();
    for (let company = 1; company <= 4; company += 1)
      for (const mode of ['live', 'test'] as const) await put(queue, mode, company, 40);
    const handled = workOf(queue, 8, (company) => (company < 5 ? 20 : 0.1));
    await pass(5);
    await put(queue, 'live', 5, 40);
    await pass(4);
    expect([handled.inHand(5), await queue.depth()]).toEqual([0, 4 * 2 * 40]);
    await handled.end();
  });

  it('is handled by one at a time, is not lost, and ends before the work does, whatever fails, comes again or stops it', async () => {
    const step = fc.record({
      company: fc.integer({ min: 1, max: 5 }),
      index: fc.integer({ min: 0, max: 3 }),
      mode: fc.constantFrom<Mode>('live', 'test'),
      afterMs: fc.integer({ min: 0, max: 1_500 }),
    });
    const handling = fc.record({
      ms: fc.constantFrom(0, 10, 999, 1_000, 1_001, 2_500, 20_000),
      what: fc.constantFrom('ack', 'retry', 'throw', 'stop'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 60 }),
        fc.array(handling, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, handlings, concurrency) => {
          const queue = queueOf();
          const busy = new Set<string>();
          /** Streams with work that no handler has begun after. */
          const owed = new Set<string>();
          let [handled, running] = [0, 0];
          let stop = new AbortController();
          const handle = async ({ stream }: { stream: string }): Promise<HandlingResult> => {
            expect(busy.has(stream)).toBe(false);
            busy.add(stream);
            running += 1;
            expect(running).toBeLessThanOrEqual(4 * concurrency);
            owed.delete(stream);
            const { ms, what } = handlings[handled % handlings.length] ?? { ms: 0, what: 'ack' };
            handled += 1;
            await new Promise((resolve) => setTimeout(resolve, ms));
            busy.delete(stream);
            running -= 1;
            if (what === 'ack' || handled > 100) return { kind: 'ack' };
            owed.add(stream);
            if (what === 'stop') stop.abort();
            if (what === 'throw') throw new Error('broken');
            return { kind: 'retry', afterMs: 700 };
          };
          const begin = (): Promise<void> => {
            stop = new AbortController();
            return queue.work({ concurrency, signal: stop.signal, handle }).then(() => expect(running).toBe(0));
          };
          let working = begin();
          for (const { mode, company, index, afterMs } of steps) {
            const stream = streamOf(mode, company, index);
            owed.add(stream);
            await queue.put({ kind: 'issue', stream, messageId: 'm' });
            await vi.advanceTimersByTimeAsync(afterMs);
          }
          for (let round = 0; round < 600 && (await queue.depth()) > 0; round += 1) {
            if (stop.signal.aborted) {
              await vi.advanceTimersByTimeAsync(21_000);
              await working;
              working = begin();
            }
            await vi.advanceTimersByTimeAsync(5_000);
          }
          expect([await queue.depth(), [...owed]]).toEqual([0, []]);
          stop.abort();
          await vi.advanceTimersByTimeAsync(21_000);
          await working;
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);
});

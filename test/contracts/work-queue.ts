import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { invoiceStream, modes } from '../../src/domain/common/ids.js';
import type { Delivery, HandlingResult, WorkItem, WorkQueue } from '../../src/ports/work-queue.js';
import { streamNamed } from '../support/fixture/named-streams.js';
import { gate } from '../support/gate.js';

type WorkQueueEngine = { queue: WorkQueue; close(): Promise<void> };

type Handle = (delivery: Delivery) => Promise<HandlingResult>;

const ack: HandlingResult = { kind: 'ack' };
const bound = { timeout: 60_000, interval: 5 };

/** The promises that every work queue keeps; that no work item is lost is not promised, because the sweeper puts work back. */
export const workQueueContract = (engineName: string, open: () => Promise<WorkQueueEngine>) =>
  describe(`work queue contract: ${engineName}`, () => {
    let engine: WorkQueueEngine;
    let workers: { abort: AbortController; ended: Promise<void> }[];

    beforeEach(async () => {
      engine = await open();
      workers = [];
    });

    afterEach(async () => {
      for (const { abort } of workers) abort.abort();
      await Promise.all(workers.map(({ ended }) => ended));
      await engine.close();
    });

    const put = (name: string, kind: WorkItem['kind'] = 'issue', messageId = `${kind}/${name}`): Promise<void> =>
      engine.queue.put({ kind, stream: streamNamed(name), messageId });

    /** As the sweeper puts it: the id of its work item begins with the stream. */
    const putAgain = (name: string, sweep: string): Promise<void> =>
      put(name, 'issue', `${streamNamed(name)}/${sweep}`);

    const work = (handle: Handle, { concurrency = 1 } = {}) => {
      const abort = new AbortController();
      const ended = engine.queue.work({ concurrency, signal: abort.signal, handle });
      workers.push({ abort, ended });
      return { abort, ended };
    };

    /** Works with this verdict for every delivery and keeps what was delivered. */
    const collect = (verdict: (delivery: Delivery) => HandlingResult = () => ack, options = {}): Delivery[] => {
      const deliveries: Delivery[] = [];
      work(async (delivery) => {
        deliveries.push(delivery);
        return verdict(delivery);
      }, options);
      return deliveries;
    };

    const emptied = (): Promise<void> => vi.waitFor(async () => expect(await engine.queue.depth()).toBe(0), bound);

    it('delivers what was put before and after the work began', async () => {
      await put('a');
      const deliveries = collect();
      await put('b');
      await vi.waitFor(() => expect(deliveries).toHaveLength(2), bound);
      expect(deliveries.map(({ stream }) => stream)).toEqual(['a', 'b'].map(streamNamed));
      expect(deliveries[0]).toMatchObject({ kind: 'issue', messageId: 'issue/a', deliveries: 1 });
      await emptied();
    });

    it('takes the same work item put twice for one', async () => {
      await put('a');
      await put('a');
      const deliveries = collect();
      await put('b');
      await vi.waitFor(() => expect(deliveries.map(({ stream }) => stream)).toContain(streamNamed('b')), bound);
      expect(deliveries.map(({ stream }) => stream)).toEqual(['a', 'b'].map(streamNamed));
    });

    it('keeps the kinds of work on one stream apart, also under one message id', async () => {
      await put('a', 'cancel', 'one id');
      await put('a', 'issue', 'one id');
      expect(await engine.queue.depth()).toBe(2);
      const deliveries = collect();
      await emptied();
      expect(deliveries.map(({ kind }) => kind).sort()).toEqual(['cancel', 'issue']);
    });

    it('handles a stream again when work is put while it is handled, and never twice at once', async () => {
      const hold = gate();
      let under = 0;
      let most = 0;
      let looks = 0;
      work(
        async () => {
          under += 1;
          looks += 1;
          most = Math.max(most, under);
          await hold.opened;
          under -= 1;
          return ack;
        },
        { concurrency: 4 },
      );
      await put('a');
      await vi.waitFor(() => expect(looks).toBe(1), bound);
      await put('a', 'issue', 'issue/a/again');
      hold.open();
      await vi.waitFor(() => expect(looks).toBe(2), bound);
      expect(most).toBe(1);
      await emptied();
    });

    it('counts deliveries of what is retried', async () => {
      const deliveries = collect((delivery) => (delivery.deliveries < 4 ? { kind: 'retry', afterMs: 1 } : ack));
      await put('a');
      await vi.waitFor(() => expect(deliveries).toHaveLength(4), bound);
      expect(deliveries.map((delivery) => delivery.deliveries)).toEqual([1, 2, 3, 4]);
      await emptied();
    });

    it('does other work while a retry waits for its delay', async () => {
      const seen: string[] = [];
      work(async ({ stream }) => {
        seen.push(stream);
        if (stream !== streamNamed('a')) return ack;
        await put('b');
        return { kind: 'retry', afterMs: 600_000 };
      });
      await put('a');
      await vi.waitFor(() => expect(seen).toEqual(['a', 'b'].map(streamNamed)), bound);
      await vi.waitFor(async () => expect(await engine.queue.depth()).toBe(1), bound);
    });

    it('delivers what is retried after the whole of its delay', async () => {
      const looks: number[] = [];
      work(async () => {
        looks.push(performance.now());
        return looks.length === 1 ? { kind: 'retry', afterMs: 300 } : ack;
      });
      await put('a');
      await vi.waitFor(() => expect(looks).toHaveLength(2), bound);
      const [first = 0, second = 0] = looks;
      // Less by what two clocks may differ.
      expect(second - first).toBeGreaterThan(290);
    });

    it('lets a new work item end a long delay', async () => {
      const deliveries = collect((delivery) =>
        delivery.messageId === 'issue/a' ? { kind: 'retry', afterMs: 600_000 } : ack,
      );
      await put('a');
      await put('b');
      // The only worker has answered for `a` when it handles `b`.
      await vi.waitFor(() => expect(deliveries).toHaveLength(2), bound);
      await put('a', 'issue', 'issue/a/again');
      await vi.waitFor(() => expect(deliveries).toHaveLength(3), bound);
    });

    it('keeps a pause when the sweeper puts the work back', async () => {
      const seen: string[] = [];
      work(async ({ stream }) => {
        seen.push(stream);
        if (stream !== streamNamed('a')) return ack;
        if (seen.length === 1) await putAgain('a', 'during');
        return { kind: 'retry', afterMs: 600_000 };
      });
      await put('a');
      await put('b');
      // The only worker has answered for `a` when it handles `b`.
      await vi.waitFor(() => expect(seen).toContain(streamNamed('b')), bound);
      await putAgain('a', 'later');
      await put('c');
      await vi.waitFor(() => expect(seen).toContain(streamNamed('c')), bound);
      await vi.waitFor(async () => expect(await engine.queue.depth()).toBe(1), bound);
      expect(seen).toEqual(['a', 'b', 'c'].map(streamNamed));
    });

    it('ends a pause in time although the lane that waited for its end has other work', async () => {
      const hold = gate();
      let looks = 0;
      work(
        async ({ stream }) => {
          if (stream === streamNamed('long')) await hold.opened;
          else looks += 1;
          return stream === streamNamed('a') && looks === 1 ? { kind: 'retry', afterMs: 50 } : ack;
        },
        { concurrency: 2 },
      );
      await put('a');
      await vi.waitFor(() => expect(looks).toBe(1), bound);
      await put('long');
      await vi.waitFor(() => expect(looks).toBe(2), bound);
      hold.open();
      await emptied();
    });

    it('tries again what a handler threw at', async () => {
      let looks = 0;
      work(async () => {
        looks += 1;
        if (looks === 1) throw new Error('broken');
        return ack;
      });
      await put('a');
      await vi.waitFor(() => expect(looks).toBe(2), bound);
      await emptied();
    });

    it('parks, shows why, and delivers again only when told to', async () => {
      let parking = true;
      const deliveries = collect(() => (parking ? { kind: 'park', reason: 'poison' } : ack));
      await put('a');
      await vi.waitFor(async () => expect((await engine.queue.parked()).work).toHaveLength(1), bound);
      expect((await engine.queue.parked()).work[0]).toMatchObject({
        kind: 'issue',
        stream: streamNamed('a'),
        reason: 'poison',
      });
      await put('b', 'cancel');
      await vi.waitFor(async () => expect((await engine.queue.parked()).work).toHaveLength(2), bound);
      expect(deliveries.map(({ stream }) => stream)).toEqual(['a', 'b'].map(streamNamed));

      parking = false;
      expect([
        await engine.queue.isParked(streamNamed('nobody')),
        await engine.queue.isParked(streamNamed('a')),
      ]).toEqual([false, true]);
      expect((await engine.queue.parked()).count).toBe(2);
      expect(await engine.queue.retryParked(streamNamed('nobody'))).toBe(false);
      expect(await engine.queue.retryParked(streamNamed('a'))).toBe(true);
      await vi.waitFor(() => expect(deliveries).toHaveLength(3), bound);
      expect(deliveries[2]).toMatchObject({ stream: streamNamed('a') });
      expect((await engine.queue.parked()).work.map(({ stream }) => stream)).toEqual([streamNamed('b')]);
      expect(await engine.queue.retryParked(streamNamed('a'))).toBe(false);
    });

    it('delivers parked work as often as it is told to, also what is parked again at once', async () => {
      const deliveries = collect(() => ({ kind: 'park', reason: `look ${deliveries.length}` }));
      await put('a');
      for (const look of [1, 2, 3]) {
        const isParkedBy = async (): Promise<void> =>
          expect((await engine.queue.parked()).work.map(({ reason }) => reason)).toEqual([`look ${look}`]);
        await vi.waitFor(isParkedBy, bound);
        await emptied();
        expect(await engine.queue.retryParked(streamNamed('a'))).toBe(true);
        await vi.waitFor(() => expect(deliveries).toHaveLength(look + 1), bound);
      }
    });

    it('leaves a parked work item alone when it is put again, until it is told to retry it or new work comes', async () => {
      let parking = true;
      const deliveries = collect(() => (parking ? { kind: 'park', reason: 'poison' } : ack));
      await put('a', 'issue');
      await vi.waitFor(async () => expect((await engine.queue.parked()).work).toHaveLength(1), bound);
      for (const sweep of ['1', '2']) await putAgain('a', sweep);
      await emptied();
      expect((await engine.queue.parked()).work).toHaveLength(1);

      parking = false;
      expect(await engine.queue.retryParked(streamNamed('a'))).toBe(true);
      await vi.waitFor(() => expect(deliveries).toHaveLength(2), bound);
      await emptied();
      expect((await engine.queue.parked()).work).toEqual([]);
      parking = true;
      await put('a', 'issue', 'next work');
      await vi.waitFor(async () => expect((await engine.queue.parked()).work).toHaveLength(1), bound);
      parking = false;
      await put('a', 'issue', 'newer work');
      await vi.waitFor(() => expect(deliveries).toHaveLength(4), bound);
      await emptied();
      expect((await engine.queue.parked()).work).toEqual([]);
    });

    it('drops what the sweeper puts while an item is handled that is then parked', async () => {
      const deliveries: Delivery[] = [];
      work(async (delivery) => {
        deliveries.push(delivery);
        await putAgain('a', '1');
        return { kind: 'park', reason: 'poison' };
      });
      await put('a');
      await vi.waitFor(async () => expect((await engine.queue.parked()).work).toHaveLength(1), bound);
      await emptied();
      expect(deliveries).toHaveLength(1);
    });

    it('delivers new work that is put while an item is handled that is then parked', async () => {
      const deliveries: Delivery[] = [];
      work(async (delivery) => {
        deliveries.push(delivery);
        if (deliveries.length > 1) return ack;
        await put('a', 'issue', 'new work');
        return { kind: 'park', reason: 'poison' };
      });
      await put('a');
      await vi.waitFor(() => expect(deliveries).toHaveLength(2), bound);
      expect(deliveries[1]).toMatchObject({ stream: streamNamed('a'), messageId: 'new work', deliveries: 1 });
      await emptied();
      expect((await engine.queue.parked()).work).toEqual([]);
    });

    it('puts both kinds of a stream back at once, and neither of another', async () => {
      let parking = true;
      const deliveries = collect(() => (parking ? { kind: 'park', reason: 'poison' } : ack));
      await put('a', 'issue');
      await put('a', 'cancel');
      await put('b', 'issue');
      await vi.waitFor(async () => expect((await engine.queue.parked()).work).toHaveLength(3), bound);
      await emptied();
      parking = false;
      expect(await engine.queue.retryParked(streamNamed('a'))).toBe(true);
      await vi.waitFor(() => expect(deliveries).toHaveLength(5), bound);
      expect(deliveries.slice(3).map(({ kind, stream }) => `${kind} ${stream}`)).toEqual(
        expect.arrayContaining([`issue ${streamNamed('a')}`, `cancel ${streamNamed('a')}`]),
      );
      expect((await engine.queue.parked()).work.map(({ stream }) => stream)).toEqual([streamNamed('b')]);
    });

    it('delivers live and test invoices of several companies, and never takes one for another', async () => {
      const invoiceId = '01234567-89ab-4cde-8f01-23456789abcd';
      const streams = ['12345678000195', '1B345678000195', '98765432000198'].flatMap((company) =>
        modes.map((mode) => invoiceStream(mode, company, invoiceId)),
      );
      for (const stream of streams) await engine.queue.put({ kind: 'issue', stream, messageId: `issue/${stream}` });
      expect(await engine.queue.depth()).toBe(streams.length);
      const deliveries = collect();
      await vi.waitFor(() => expect(deliveries).toHaveLength(streams.length), bound);
      expect(new Set(deliveries.map(({ stream }) => stream))).toEqual(new Set(streams));
      await emptied();
    });

    it('takes a re-put with another id for what waits already', async () => {
      await put('a');
      for (const sweep of ['1', '2']) await putAgain('a', sweep);
      expect(await engine.queue.depth()).toBe(1);
      const deliveries = collect();
      await put('b');
      await vi.waitFor(
        () => expect(deliveries.map(({ stream }) => stream)).toEqual(['a', 'b'].map(streamNamed)),
        bound,
      );
      await emptied();
      await putAgain('a', '3');
      await vi.waitFor(() => expect(deliveries).toHaveLength(3), bound);
    });

    it('handles as many at once as it was told, and no more', async () => {
      const hold = gate();
      let under = 0;
      let most = 0;
      let finished = 0;
      for (let index = 0; index < 12; index += 1) await put(`s${index}`);
      work(
        async () => {
          under += 1;
          most = Math.max(most, under);
          await hold.opened;
          under -= 1;
          finished += 1;
          return ack;
        },
        { concurrency: 3 },
      );
      await vi.waitFor(() => expect(under).toBe(3), bound);
      expect(await engine.queue.depth()).toBe(12);
      hold.open();
      await vi.waitFor(() => expect(finished).toBe(12), bound);
      expect(most).toBe(3);
      await emptied();
    });

    it.each([
      ['', 0],
      [', also after work of before has ended', 4],
    ])('has a place for live work while test work of others takes all that it may%s', async (_when, before) => {
      if (before > 0) {
        const { abort, ended } = work(async () => ack, { concurrency: before });
        abort.abort();
        await ended;
      }
      const hold = gate();
      const begun: string[] = [];
      for (let index = 0; index < 12; index += 1) await put(`test ${index}`);
      work(
        async ({ stream }) => {
          begun.push(stream.slice(0, 8));
          if (stream.startsWith('nfseTest')) await hold.opened;
          return ack;
        },
        { concurrency: 4 },
      );
      await vi.waitFor(() => expect(begun.length).toBeGreaterThanOrEqual(3), bound);
      await put('live');
      await vi.waitFor(() => expect(begun).toContain('nfseLive'), bound).finally(hold.open);
      expect(begun.slice(0, 4)).toEqual(['nfseTest', 'nfseTest', 'nfseTest', 'nfseLive']);
      await vi.waitFor(() => expect(begun).toHaveLength(13), bound);
      await emptied();
    });

    it('ends when the work in hand is done, and takes nothing new', async () => {
      const hold = gate();
      const started: string[] = [];
      let ended = false;
      await put('a');
      await put('b');
      const worker = work(async ({ stream }) => {
        started.push(stream);
        await hold.opened;
        return ack;
      });
      const watched = worker.ended.then(() => {
        ended = true;
      });
      await vi.waitFor(() => expect(started).toEqual([streamNamed('a')]), bound);
      worker.abort.abort();
      await put('c');
      expect(ended).toBe(false);
      hold.open();
      await watched;
      expect(started).toEqual([streamNamed('a')]);
    });

    it('ends at once when it is idle, and when it was told to before it began', async () => {
      const idle = work(async () => ack);
      idle.abort.abort();
      await idle.ended;
      const abort = AbortSignal.abort();
      await engine.queue.work({ concurrency: 2, signal: abort, handle: async () => ack });
    });
  });

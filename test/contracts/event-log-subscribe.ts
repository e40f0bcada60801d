import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import {
  AppendOutcomeUnknown,
  type EventLog,
  EventLogUnavailable,
  type RecordedEvent,
} from '../../src/ports/event-log.js';
import {
  chained,
  type EventLogEngine,
  freshStream,
  NONE,
  recomputed,
  retried,
  streamOf,
} from '../support/harness/event-log.js';

/** The part of the event log contract that is about following the log, and about losing it. */
export const eventLogSubscriptionContract = (engineOf: () => EventLogEngine) => {
  describe('subscribe', () => {
    it('catches up and goes on live', async () => {
      const { log } = engineOf();
      const prefix = `live${randomUUID()}-`;
      await streamOf(log, 3, `${prefix}old`);
      const seen = collect(log, prefix);
      await seen.until((events) => events.length === 3);
      await streamOf(log, 2, `${prefix}new`);
      await seen.until((events) => events.length === 5);
      await seen.stop();
      expect(seen.events.map(({ revision }) => revision)).toEqual([0, 1, 2, 0, 1]);
    });

    it('begins behind the position that it is given', async () => {
      const { log } = engineOf();
      const stream = await streamOf(log, 3);
      const [, second] = await log.read(stream);
      const seen = collect(log, stream, second?.position);
      await seen.until((events) => events.length === 1);
      await seen.stop();
      expect(seen.events[0]?.revision).toBe(2);
    });

    it('never skips or reorders while 8 writers append', async () => {
      const { log } = engineOf();
      const prefix = `busy${randomUUID()}-`;
      const seen = collect(log, prefix);
      const elsewhere = await engineOf().reopen();
      const writers = Array.from({ length: 8 }, (_, n) =>
        streamOf(n % 2 === 0 ? log : elsewhere, 250, `${prefix}${n}`),
      );
      const streams = await Promise.all(writers);
      await seen.until((events) => events.length >= 8 * 250);
      await seen.stop();
      const positions = seen.events.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => (a < b ? -1 : 1)));
      for (const stream of streams) {
        const revisions = seen.events.filter((event) => event.stream === stream).map(({ revision }) => revision);
        expect(revisions).toEqual(Array.from({ length: 250 }, (_, n) => n));
      }
      expect(seen.events.every((event) => recomputed(event) === event.metadata.hash)).toBe(true);
    });

    it('ends promptly when the signal aborts, before and after the first batch', async () => {
      const { log } = engineOf();
      const quiet = collect(log, freshStream());
      await quiet.stop();
      expect(quiet.events).toEqual([]);
      const aborted = log.subscribe({ prefixes: ['x'], after: null, signal: AbortSignal.abort() });
      for await (const _batch of aborted) throw new Error('an aborted subscription gave a batch');
    });

    it('goes on after a lost connection and says that it was interrupted', async ({ skip }) => {
      const { log, breakConnections } = engineOf();
      if (breakConnections === undefined) return skip('no connection to lose');
      const prefix = `lost${randomUUID()}-`;
      const seen = collect(log, prefix);
      await streamOf(log, 2, `${prefix}a`);
      await seen.until((events) => events.length === 2);
      await seen.interruptedBy(breakConnections);
      await streamOf(log, 2, `${prefix}b`, retried);
      await seen.until((events) => events.length === 4);
      await seen.stop();
      expect(seen.events.map(({ stream }) => stream.at(-1))).toEqual(['a', 'a', 'b', 'b']);
    });
  });

  describe('lost connections', () => {
    it('leaves no append without a truth that re-reading tells', async ({ skip }) => {
      const { log, breakConnections } = engineOf();
      if (breakConnections === undefined) return skip('no connection to lose');
      let running = true;
      const breaking = (async () => {
        for (let n = 0; n < 10; n += 1) await breakConnections();
        running = false;
      })();
      const writers = Array.from({ length: 8 }, async () => {
        while (running) {
          const stream = freshStream();
          const events = [chained(stream, 0), chained(stream, 1)];
          const outcome = await log.append(stream, NONE, events).catch((error: unknown) => error);
          const stored = await retried(() => log.read(stream));
          if (outcome instanceof AppendOutcomeUnknown) expect([0, 2]).toContain(stored.length);
          else if (outcome instanceof EventLogUnavailable) expect(stored).toEqual([]);
          else {
            expect(outcome).toEqual({ ok: true, revision: 1 });
            expect(stored).toHaveLength(2);
          }
          expect(await retried(() => log.append(stream, NONE, events))).toEqual({ ok: true, revision: 1 });
          expect(await retried(() => log.read(stream))).toHaveLength(2);
        }
      });
      await Promise.all([breaking, ...writers]);
    });
  });
};

/** A subscriber that keeps what it gets. */
const collect = (log: EventLog, prefix: string, after: RecordedEvent['position'] | null = null) => {
  const controller = new AbortController();
  const events: RecordedEvent[] = [];
  let interruptions = 0;
  const onInterrupted = (): void => {
    interruptions += 1;
  };
  const running = (async () => {
    const batches = log.subscribe({ prefixes: [prefix], after, signal: controller.signal, onInterrupted });
    for await (const batch of batches) events.push(...batch);
  })();
  const bounded = async (holds: () => boolean): Promise<void> => {
    await vi.waitUntil(holds, { timeout: 60_000, interval: 5 }).catch(() => {
      throw new Error(`the subscriber has ${events.length} events and does not get further`);
    });
  };
  return {
    events,
    until: (holds: (events: readonly RecordedEvent[]) => boolean) => bounded(() => holds(events)),
    /** The subscriber polls on short-lived queries, so a single break may meet none of them. */
    interruptedBy: async (breakConnections: () => Promise<void>) => {
      for (let tries = 0; interruptions === 0 && tries < 1_000; tries += 1) await breakConnections();
      expect(interruptions).toBeGreaterThan(0);
    },
    stop: async () => {
      controller.abort();
      await running;
    },
  };
};

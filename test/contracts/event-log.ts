import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashText } from '../../src/domain/log/hash-text.js';
import {
  AppendOutcomeUnknown,
  type EventBatch,
  type EventLog,
  EventLogUnavailable,
  type EventToAppend,
  EventTooLarge,
  type JsonObject,
  MAX_EVENT_BYTES,
  type RecordedEvent,
} from '../../src/ports/event-log.js';

export type Engine = {
  log: EventLog;
  /** The same log through a new connection. */
  reopen(): Promise<EventLog>;
  /** Ends every connection of the log, as a restart of the server would; absent where there is none to lose. */
  breakConnections?(): Promise<void>;
  close(): Promise<void>;
};

const NONE = { kind: 'none' } as const;
const at = (revision: number) => ({ kind: 'exact', revision }) as const;

/** The promises every event log keeps. An adapter is done when this suite passes over it. */
export const eventLogContract = (engineName: string, open: () => Promise<Engine>) =>
  describe(`event log contract: ${engineName}`, () => {
    let engine: Engine;
    let log: EventLog;
    beforeAll(async () => {
      engine = await open();
      log = engine.log;
    });
    afterAll(() => engine?.close());

    describe('append', () => {
      it('begins a stream only when it is absent, and goes on only behind its last event', async () => {
        const stream = freshStream();
        expect(await log.append(stream, at(0), [chained(stream, 1)])).toEqual({ ok: false, actual: null });
        expect(await log.append(stream, NONE, [chained(stream, 0)])).toEqual({ ok: true, revision: 0 });
        expect(await log.append(stream, NONE, [chained(stream, 0)])).toEqual({ ok: false, actual: 0 });
        expect(await log.append(stream, at(5), [chained(stream, 6)])).toEqual({ ok: false, actual: 0 });
        expect(await log.append(stream, at(0), [chained(stream, 1)])).toEqual({ ok: true, revision: 1 });
        expect(await log.append(stream, at(0), [chained(stream, 1)])).toEqual({ ok: false, actual: 1 });
      });

      it('answers the same append twice with the first result, also after others followed', async () => {
        const stream = freshStream();
        const first = [chained(stream, 0), chained(stream, 1)];
        const result = await log.append(stream, NONE, first);
        expect(await log.append(stream, NONE, first)).toEqual(result);
        await log.append(stream, at(1), [chained(stream, 2)]);
        expect(await log.append(stream, NONE, first)).toEqual(result);
        expect(await log.read(stream)).toHaveLength(3);
      });

      it('treats an id that stands at another place as any other event', async () => {
        const [stream, other] = [freshStream(), freshStream()];
        const id = randomUUID();
        await log.append(stream, NONE, [chained(stream, 0, { id })]);
        expect(await log.append(stream, at(7), [chained(stream, 8, { id })])).toEqual({ ok: false, actual: 0 });
        expect(await log.append(other, at(0), [chained(other, 1, { id })])).toEqual({ ok: false, actual: null });
      });

      it('lets exactly one of 20 writers create a stream', async () => {
        const stream = freshStream();
        const results = await Promise.all(
          Array.from({ length: 20 }, () => log.append(stream, NONE, [chained(stream, 0)])),
        );
        expect(results.filter((result) => result.ok)).toHaveLength(1);
        expect(results.filter((result) => !result.ok && result.actual === 0)).toHaveLength(19);
        expect(await log.read(stream)).toHaveLength(1);
      });

      it('keeps the conflict of one append from the others that are under way', async () => {
        const taken = freshStream();
        await log.append(taken, NONE, [chained(taken, 0)]);
        const results = await Promise.all(
          Array.from({ length: 40 }, (_, index) => {
            const stream = index % 2 === 0 ? taken : freshStream();
            return log.append(stream, NONE, [chained(stream, 0)]);
          }),
        );
        expect(results.map((result) => result.ok)).toEqual(results.map((_, index) => index % 2 === 1));
      });

      it('stores several events all or none', async () => {
        const stream = freshStream();
        await log.append(stream, NONE, [chained(stream, 0)]);
        const three = [chained(stream, 0), chained(stream, 1), chained(stream, 2)];
        expect(await log.append(stream, NONE, three)).toEqual({ ok: false, actual: 0 });
        expect(await log.read(stream)).toHaveLength(1);
        const two = [chained(stream, 1), chained(stream, 2)];
        expect(await log.append(stream, at(0), two)).toEqual({ ok: true, revision: 2 });
        expect((await log.read(stream)).map(({ revision }) => revision)).toEqual([0, 1, 2]);
      });

      it('refuses an event that is too large, and stores nothing of its append', async () => {
        const stream = freshStream();
        const large = chained(stream, 1, { data: { text: 'x'.repeat(MAX_EVENT_BYTES) } });
        await expect(log.append(stream, NONE, [chained(stream, 0), large])).rejects.toThrow(EventTooLarge);
        expect(await log.read(stream)).toEqual([]);
      });
    });

    describe('read', () => {
      it('reads both ways, from a revision, with a limit', async () => {
        const stream = await streamOf(log, 5);
        const revisions = async (...[options]: [Parameters<EventLog['read']>[1]?]) =>
          (await log.read(stream, options)).map(({ revision }) => revision);
        expect(await revisions()).toEqual([0, 1, 2, 3, 4]);
        expect(await revisions({ from: 3 })).toEqual([3, 4]);
        expect(await revisions({ from: 1, limit: 2 })).toEqual([1, 2]);
        expect(await revisions({ direction: 'backwards' })).toEqual([4, 3, 2, 1, 0]);
        expect(await revisions({ direction: 'backwards', limit: 1 })).toEqual([4]);
        expect(await revisions({ from: 9 })).toEqual([]);
      });

      it('reads an absent stream as empty', async () => {
        expect(await log.read(freshStream())).toEqual([]);
        expect(await log.read(freshStream(), { direction: 'backwards', limit: 1 })).toEqual([]);
      });

      it('gives back what was appended, with a hash that recomputes', async () => {
        const stream = freshStream();
        const data = { z: 'ç{"}\\\u0000\n', a: [1, -5, true, ['é', { y: '', b: 'x' }]], big: Number.MAX_SAFE_INTEGER };
        const event = chained(stream, 0, { data });
        await log.append(stream, NONE, [event]);
        const [read] = await log.read(stream);
        expect(read).toEqual({ ...event, stream, revision: 0, position: expect.any(BigInt) });
        expect(read && recomputed(read)).toBe(read?.metadata.hash);
      });

      it('pages through the log in order and answers the end with nothing', async () => {
        const prefix = `page${randomUUID()}-`;
        for (let n = 0; n < 7; n += 1) await streamOf(log, 1, `${prefix}${n}`);
        const pages: EventBatch[] = [];
        for (let after = null as RecordedEvent['position'] | null; ; ) {
          const page = await log.readAll({ prefixes: [prefix], after, limit: 3 });
          if (page.length === 0) break;
          pages.push(page);
          after = page.at(-1)?.position ?? null;
        }
        expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
        expect(pages.flat().map(({ stream }) => stream)).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `${prefix}${n}`));
      });

      it('takes prefixes literally', async () => {
        const tag = randomUUID().slice(0, 8);
        const names = [`${tag}_a`, `${tag}%a`, `${tag}xa`, `${tag}\\a`, `${tag}Xa`];
        for (const name of names) await streamOf(log, 1, name);
        const found = async (...prefixes: string[]) =>
          (await log.readAll({ prefixes, after: null, limit: 100 })).map(({ stream }) => stream);
        for (const name of names) expect(await found(name.slice(0, -1))).toEqual([name]);
        expect(await found(`${tag}_`, `${tag}%`)).toEqual([`${tag}_a`, `${tag}%a`]);
      });

      it('knows the head and keeps its identity', async () => {
        const stream = await streamOf(log, 2);
        expect(await log.head()).toBe((await log.read(stream)).at(-1)?.position);
        expect(await (await engine.reopen()).identity()).toBe(await log.identity());
      });
    });

    describe('cut', () => {
      it('removes what stands before, and the rest stays as it was', async () => {
        const stream = await streamOf(log, 4);
        const before = await log.read(stream);
        await log.cut(stream, 3);
        expect(await log.read(stream)).toEqual(before.slice(3));
        expect(await log.readAll({ prefixes: [stream], after: null, limit: 10 })).toEqual(before.slice(3));
        expect(await log.append(stream, NONE, [chained(stream, 0)])).toEqual({ ok: false, actual: 3 });
        expect(await log.append(stream, at(3), [chained(stream, 4)])).toEqual({ ok: true, revision: 4 });
      });

      it('does no harm to an absent stream', async () => {
        await expect(log.cut(freshStream(), 3)).resolves.toBeUndefined();
      });
    });

    describe('subscribe', () => {
      it('catches up and goes on live', async () => {
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
        const stream = await streamOf(log, 3);
        const [, second] = await log.read(stream);
        const seen = collect(log, stream, second?.position);
        await seen.until((events) => events.length === 1);
        await seen.stop();
        expect(seen.events[0]?.revision).toBe(2);
      });

      it('never skips or reorders while 8 writers append', async () => {
        const prefix = `busy${randomUUID()}-`;
        const seen = collect(log, prefix);
        const elsewhere = await engine.reopen();
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
        const quiet = collect(log, freshStream());
        await quiet.stop();
        expect(quiet.events).toEqual([]);
        const aborted = log.subscribe({ prefixes: ['x'], after: null, signal: AbortSignal.abort() });
        for await (const _batch of aborted) throw new Error('an aborted subscription gave a batch');
      });

      it('goes on after a lost connection and says that it was interrupted', async ({ skip }) => {
        if (engine.breakConnections === undefined) return skip('no connection to lose');
        const prefix = `lost${randomUUID()}-`;
        const seen = collect(log, prefix);
        await streamOf(log, 2, `${prefix}a`);
        await seen.until((events) => events.length === 2);
        await seen.interruptedBy(engine.breakConnections);
        await retried(() => streamOf(log, 2, `${prefix}b`));
        await seen.until((events) => events.length === 4);
        await seen.stop();
        expect(seen.events.map(({ stream }) => stream.at(-1))).toEqual(['a', 'a', 'b', 'b']);
      });
    });

    describe('lost connections', () => {
      it('leaves no append without a truth that re-reading tells', async ({ skip }) => {
        const { breakConnections } = engine;
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
  });

export const freshStream = (): string => `test-${randomUUID()}`;

/** An event of this place, hashed as the codec does. */
export const chained = (
  stream: string,
  revision: number,
  part: { id?: string; data?: JsonObject } = {},
): EventToAppend => {
  const event = {
    id: part.id ?? randomUUID(),
    type: 'Happened',
    data: part.data ?? { n: revision, text: 'ação' },
    metadata: { schemaVersion: '1', commandId: randomUUID(), prevHash: revision === 0 ? '' : 'ab12' },
  };
  return { ...event, metadata: { ...event.metadata, hash: sha256(hashText(stream, revision, event)) } };
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const recomputed = (event: RecordedEvent): string => sha256(hashText(event.stream, event.revision, event));

/** A stream with this many events, appended one by one. */
const streamOf = async (log: EventLog, count: number, stream = freshStream()): Promise<string> => {
  for (let revision = 0; revision < count; revision += 1) {
    const result = await log.append(stream, revision === 0 ? NONE : at(revision - 1), [chained(stream, revision)]);
    expect(result).toEqual({ ok: true, revision });
  }
  return stream;
};

/** For what may hit a dying connection. */
const retried = async <T>(action: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await action();
    } catch (error) {
      if (tries === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
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
    for (let waited = 0; !holds(); waited += 1) {
      if (waited === 2_000) throw new Error(`the subscriber has ${events.length} events and does not get further`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
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

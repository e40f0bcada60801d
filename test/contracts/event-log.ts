import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type EventBatch,
  type EventLog,
  EventTooLarge,
  isEarlier,
  MAX_EVENT_BYTES,
  type RecordedEvent,
} from '../../src/ports/event-log.js';
import {
  at,
  chained,
  deletedTestInvoice,
  type EventLogEngine,
  freshCuttable,
  freshStream,
  NONE,
  recomputed,
  streamOf,
} from '../support/harness/event-log.js';
import { eventLogSubscriptionContract } from './event-log-subscribe.js';

/** The contract of every event log. An adapter is complete when it passes this suite. */
export const eventLogContract = (engineName: string, open: () => Promise<EventLogEngine>) =>
  describe(`event log contract: ${engineName}`, () => {
    let engine: EventLogEngine;
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

      it('knows the last event of a stream at once after an append, also of one that was cut', async () => {
        const stream = await streamOf(log, 3, freshCuttable(engine));
        const [third] = await log.read(stream, { from: 2 });
        expect(await log.lastEvent(stream)).toEqual({ revision: 2, hash: third?.metadata.hash });
        const fifth = chained(stream, 4, { type: 'TestInvoiceDeleted' });
        await log.append(stream, at(2), [chained(stream, 3), fifth]);
        expect(await log.lastEvent(stream)).toEqual({ revision: 4, hash: fifth.metadata.hash });
        await log.cut(stream, 4);
        expect(await log.lastEvent(stream)).toEqual({ revision: 4, hash: fifth.metadata.hash });
        expect(await log.lastEvent(freshStream())).toBeNull();
      });

      it('gives each of many readers at once the last event of its stream', async () => {
        const streams = await Promise.all([1, 2, 3].map((length) => streamOf(log, length)));
        const asked = [...streams, freshStream(), ...streams];
        const last = await Promise.all(asked.map((stream) => log.read(stream, { direction: 'backwards', limit: 1 })));
        const whole = await Promise.all(asked.map((stream) => log.read(stream)));
        expect(last).toEqual(whole.map((events) => events.slice(-1)));
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

      it('gives the last events of some streams in order of the log', async () => {
        const prefix = `last${randomUUID()}-`;
        for (let n = 0; n < 4; n += 1) await streamOf(log, 2, `${prefix}${n}`);
        await streamOf(log, 1);
        const last = async (limit: number, ...prefixes: string[]) =>
          (await log.readLast({ prefixes, limit })).map(({ stream, revision }) => `${stream}@${revision}`);
        expect(await last(3, prefix)).toEqual([`${prefix}2@1`, `${prefix}3@0`, `${prefix}3@1`]);
        expect(await last(1, `${prefix}0`)).toEqual([`${prefix}0@1`]);
        expect(await last(9, `${prefix}0`, `${prefix}1`)).toHaveLength(4);
        expect(await last(0, prefix)).toEqual([]);
        expect(await last(5, `none${prefix}`)).toEqual([]);
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

      it('gives a later commit a later place, also in another stream, and never moves the head back', async () => {
        const begun = await log.head();
        const heads: (typeof begun)[] = [];
        for (let n = 0; n < 3; n += 1) {
          await streamOf(log, 1);
          heads.push(await log.head());
        }
        for (const [n, head] of heads.entries()) {
          const before = heads[n - 1] ?? begun;
          expect([isEarlier(before, head), isEarlier(head, before), isEarlier(head, head)]).toEqual([
            true,
            false,
            false,
          ]);
        }
        expect([isEarlier(null, heads[0] ?? null), isEarlier(heads[0] ?? null, null)]).toEqual([true, false]);
      });

      it('knows the head and keeps its identity', async () => {
        const stream = await streamOf(log, 2);
        const [last] = await log.read(stream, { direction: 'backwards', limit: 1 });
        const head = await log.head();
        if (engine.isShared !== true) expect(head).toBe(last?.position);
        expect(head !== null && last !== undefined && head >= last.position).toBe(true);
        expect(await (await engine.reopen()).identity()).toBe(await log.identity());
      });
    });

    describe('cut', () => {
      it('removes what stands before, and the rest stays as it was', async () => {
        const stream = await deletedTestInvoice(log, 4, freshCuttable(engine));
        const before = await log.read(stream);
        await log.cut(stream, 3);
        expect(await log.read(stream)).toEqual(before.slice(3));
        const shown = engine.cutShowsInWholeLog === true ? before : before.slice(3);
        expect(await log.readAll({ prefixes: [stream], after: null, limit: 10 })).toEqual(shown);
        expect(await log.append(stream, NONE, [chained(stream, 0)])).toEqual({ ok: false, actual: 3 });
        expect(await log.append(stream, at(3), [chained(stream, 4)])).toEqual({ ok: true, revision: 4 });
      });

      it('leaves the last event, whatever it is told, and takes nothing back', async () => {
        const stream = await deletedTestInvoice(log, 3, freshCuttable(engine));
        const [, , last] = await log.read(stream);
        await log.cut(stream, 99);
        await log.cut(stream, 1);
        await log.cut(stream, 99);
        expect(await log.read(stream)).toEqual([last]);
        expect(await log.read(stream, { limit: 1 })).toEqual([last]);
        expect(await log.append(stream, at(2), [chained(stream, 3)])).toEqual({ ok: true, revision: 3 });
        expect((await log.read(stream)).map(({ revision }) => revision)).toEqual([2, 3]);
      });

      it('takes nothing back where two cut at once', async () => {
        const stream = await deletedTestInvoice(log, 4, freshCuttable(engine));
        const [, , , last] = await log.read(stream);
        const other = await engine.reopen();
        await Promise.all([log.cut(stream, 3), log.cut(stream, 1), other.cut(stream, 2)]);
        expect(await log.read(stream)).toEqual([last]);
      });

      it('does no harm to an absent stream', async () => {
        await expect(log.cut(freshStream(), 3)).resolves.toBeUndefined();
      });
    });

    eventLogSubscriptionContract(() => engine);
  });

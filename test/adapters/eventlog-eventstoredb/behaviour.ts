import { randomUUID } from 'node:crypto';
import { EventStoreDBClient } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createEventStoreEventLog,
  type EventStoreEventLog,
} from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { EventLogStreamDeleted } from '../../../src/adapters/eventlog-eventstoredb/faults.js';
import { sortedJson } from '../../../src/domain/log/hash-text.js';
import { AppendOutcomeUnknown, EventLogUnavailable, EventTooLarge } from '../../../src/ports/event-log.js';
import { type Line, openLine } from '../../support/eventstore-double/line.js';
import { at, chained, freshStream, NONE, retried, streamOf } from '../../support/harness/event-log.js';
import { hasOneNode, type Server } from '../../support/harness/eventstore-servers.js';

/** Behaviour of the adapter beyond the contract suite; it must be equal over the double and a real server. */
export const eventStoreBehaviour = (name: string, open: () => Promise<Server>) =>
  describe(`the event log in ${name}`, () => {
    let server: Server;
    let line: Line | undefined;
    let log: EventStoreEventLog;
    let client: EventStoreDBClient;
    beforeAll(async () => {
      server = await open();
      line = hasOneNode(server.url) ? await openLine(server.url) : undefined;
      client = EventStoreDBClient.connectionString(server.url);
      log = createEventStoreEventLog({ url: line?.url ?? server.url });
    });
    afterAll(async () => {
      await log?.close();
      await client?.dispose();
      await line?.close();
      await server?.close();
    });

    it('keeps data in the spelling that the hash covers, and links for the tools of the server', async () => {
      const stream = freshStream();
      const data = { b: [1, { z: 'ç', a: true }], a: 'first' };
      const event = chained(stream, 0, { data });
      const metadata = { ...event.metadata, correlationId: 'req-1', causationId: 'ev-1' };
      await log.append(stream, NONE, [{ ...event, metadata }]);
      const stored: unknown[] = [];
      for await (const { event: raw } of client.readStream(stream))
        stored.push([JSON.stringify(raw?.data), raw?.metadata]);
      expect(stored).toEqual([[sortedJson(data), { ...metadata, $correlationId: 'req-1', $causationId: 'ev-1' }]]);
      expect((await log.read(stream))[0]?.metadata).toEqual(metadata);
    });

    it('gives each event one position, in the order of the log', async () => {
      const stream = await streamOf(log, 3);
      const positions = (await log.read(stream)).map(({ position }) => position);
      expect(positions).toEqual([...positions].sort((a, b) => (a < b ? -1 : 1)));
      const [, second] = await log.readAll({ prefixes: [stream], after: null, limit: 10 });
      expect(second?.position).toBe(positions[1]);
    });

    it('cuts without touching other metadata, and writes nothing when there is nothing to cut', async () => {
      const stream = await streamOf(log, 3);
      await client.setStreamMetadata(stream, { note: 'kept', cacheControl: 7 });
      for (const before of [2, 2, 1]) await log.cut(stream, before);
      const { metadata } = await client.getStreamMetadata(stream);
      expect(metadata).toEqual({ note: 'kept', cacheControl: 7, truncateBefore: 2 });
      const revisions: (bigint | undefined)[] = [];
      for await (const { event } of client.readStream(`$$${stream}`)) revisions.push(event?.revision);
      expect(revisions).toEqual([1n]);
    });

    it('reads a stream as empty of which all was truncated by hand, and never begins it again', async () => {
      const impatient = createEventStoreEventLog({ url: server.url, appendDeadlineMs: 500 });
      const stream = await streamOf(log, 3);
      await client.setStreamMetadata(stream, { truncateBefore: 3 });
      expect(await log.read(stream)).toEqual([]);
      expect(await log.lastEvent(stream)).toBeNull();
      const again = impatient.append(stream, NONE, [chained(stream, 0)]).finally(() => impatient.close());
      await expect(again).rejects.toThrow(EventLogUnavailable);
      expect(await log.append(stream, at(2), [chained(stream, 3)])).toEqual({ ok: true, revision: 3 });
    });

    it('takes its id at another place for another event, also when the events before that place were cut', async () => {
      const stream = await streamOf(log, 1);
      const end = chained(stream, 1);
      await log.append(stream, at(0), [end]);
      await log.cut(stream, 1);
      expect(await log.append(stream, NONE, [end])).toEqual({ ok: false, actual: 1 });
      expect((await log.read(stream)).map(({ revision }) => revision)).toEqual([1]);
    });

    it('takes a stream that has only metadata for absent', async () => {
      const stream = freshStream();
      await client.setStreamMetadata(stream, { note: 'only' });
      expect(await log.read(stream)).toEqual([]);
      expect(await log.append(stream, at(0), [chained(stream, 1)])).toEqual({ ok: false, actual: null });
      expect(await log.append(stream, NONE, [chained(stream, 0)])).toEqual({ ok: true, revision: 0 });
    });

    it('says of a stream that was deleted for good what it is', async () => {
      const stream = await streamOf(log, 1);
      await client.tombstoneStream(stream);
      await expect(log.append(stream, at(0), [chained(stream, 1)])).rejects.toThrow(EventLogStreamDeleted);
      await expect(log.read(stream)).rejects.toThrow(`the stream ${stream} was deleted for good`);
    });

    it('reads the whole log past a stream that was deleted for good', async () => {
      const prefix = freshStream();
      const gone = await streamOf(log, 2, `${prefix}-gone`);
      await client.tombstoneStream(gone);
      const kept = await streamOf(log, 2, `${prefix}-kept`);
      const past = await log.readAll({ prefixes: [prefix], after: null, limit: 10 });
      const ofKept = past.filter(({ stream }) => stream === kept);
      expect(ofKept.map(({ revision }) => revision)).toEqual([0, 1]);
      expect(past.filter(({ stream, type }) => stream === gone && type.startsWith('$'))).toEqual([]);
    });

    it('names the streams of which a person hid the beginning, or all', async () => {
      const prefix = freshStream();
      const [cut, soft, gone] = [`${prefix}-cut`, `${prefix}-soft`, `${prefix}-gone`];
      for (const stream of [cut, soft, gone, `${prefix}-whole`]) await streamOf(log, 3, stream);
      await client.setStreamMetadata(cut, { truncateBefore: 2 });
      await client.setStreamMetadata(`${prefix}-whole`, { note: 'a person wrote this' });
      await client.deleteStream(soft);
      await client.tombstoneStream(gone);
      const hidden = await log.readHidden?.([prefix]);
      expect([...(hidden ?? [])]).toEqual([
        [cut, 2],
        [soft, 2 ** 63],
        [gone, null],
      ]);
    });

    it('refuses an append that is larger than the server takes at once', async () => {
      const stream = freshStream();
      const events = [0, 1, 2, 3, 4, 5].map((n) => chained(stream, n, { data: { text: 'x'.repeat(250_000) } }));
      await expect(log.append(stream, NONE, events)).rejects.toThrow(EventTooLarge);
      expect(await log.read(stream)).toEqual([]);
    });

    it('tells conflicts also when its address asks the client not to throw them', async () => {
      const mild = createEventStoreEventLog({ url: `${server.url}&throwOnAppendFailure=false` });
      const stream = await streamOf(mild, 2);
      expect(await mild.append(stream, NONE, [chained(stream, 0)])).toEqual({ ok: false, actual: 1 });
      expect(await mild.append(freshStream(), at(3), [chained('x', 4)])).toEqual({ ok: false, actual: null });
      await mild.close();
    });

    it('gives one identity to all callers that ask at once', async () => {
      const others = Array.from({ length: 4 }, () => createEventStoreEventLog({ url: server.url }));
      const identities = await Promise.all([log, ...others].map((each) => each.identity()));
      expect(new Set(identities).size).toBe(1);
      await Promise.all(others.map((each) => each.close()));
    });

    it('has its head at an event of ours, whatever the server wrote behind it', async () => {
      const stream = await streamOf(log, 12);
      for (let before = 1; before < 12; before += 1) await log.cut(stream, before);
      const head = await log.head();
      const place = { commit: head ?? 0n, prepare: head ?? 0n };
      const names: (string | undefined)[] = [];
      for await (const { event } of client.readAll({ fromPosition: place, maxCount: 1 })) names.push(event?.streamId);
      expect(names).toEqual([expect.not.stringMatching(/^\$/)]);
      const [, last] = [null, (await log.read(stream)).at(-1)];
      expect(head !== null && last !== undefined && head >= last.position).toBe(true);
    });

    it('keeps its deadlines while the server is silent, and works again afterwards', async ({ skip }) => {
      if (line === undefined) return skip('no line before a cluster');
      const stream = await streamOf(log, 1);
      const hasty = createEventStoreEventLog({ url: line.url, appendDeadlineMs: 2_000, readTimeoutMs: 2_000 });
      await retried(() => hasty.head());
      line.hold();
      const [append, read, head] = await Promise.allSettled([
        hasty.append(stream, at(0), [chained(stream, 1)]),
        hasty.read(stream),
        hasty.head(),
      ]);
      expect(append).toMatchObject({ reason: expect.any(AppendOutcomeUnknown) });
      for (const outcome of [read, head]) expect(outcome).toMatchObject({ reason: expect.any(EventLogUnavailable) });
      line.goOn();
      expect((await retried(() => hasty.read(stream))).length).toBeGreaterThan(0);
      await hasty.close();
    });

    it('calls the outcome of an append unknown when the answer is lost; reading and the same append tell that it was stored', async ({
      skip,
    }) => {
      if (line === undefined) return skip('no line before a cluster');
      const stream = freshStream();
      const events = [chained(stream, 0), chained(stream, 1)];
      const hasty = createEventStoreEventLog({ url: line.url, appendDeadlineMs: 3_000 });
      await retried(() => hasty.head());
      line.holdAnswers();
      await expect(hasty.append(stream, NONE, events)).rejects.toThrow(AppendOutcomeUnknown);
      line.goOn();
      expect((await log.read(stream)).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
      expect(await log.append(stream, NONE, events)).toEqual({ ok: true, revision: 1 });
      await hasty.close();
    });

    it('continues a subscription whose connection was silent for a while, without a lost or repeated event', async ({
      skip,
    }) => {
      if (line === undefined) return skip('no line before a cluster');
      const prefix = `silent${randomUUID()}-`;
      const stop = new AbortController();
      const watchful = createEventStoreEventLog({ url: line.url, readTimeoutMs: 1_000, subscriptionCheckMs: 300 });
      const direct = createEventStoreEventLog({ url: server.url });
      let interruptions = 0;
      const seen: string[] = [];
      const running = (async () => {
        const onInterrupted = (): void => {
          interruptions += 1;
        };
        const batches = watchful.subscribe({ prefixes: [prefix], after: null, signal: stop.signal, onInterrupted });
        for await (const batch of batches) seen.push(...batch.map(({ stream }) => stream.slice(prefix.length)));
      })();
      await streamOf(direct, 1, `${prefix}before`);
      await expect.poll(() => seen).toEqual(['before']);
      line.hold();
      await streamOf(direct, 1, `${prefix}meanwhile`);
      await expect.poll(() => interruptions).toBeGreaterThan(0);
      line.goOn();
      await streamOf(direct, 1, `${prefix}after`);
      await expect.poll(() => seen).toEqual(['before', 'meanwhile', 'after']);
      stop.abort();
      await running;
      await Promise.all([watchful.close(), direct.close()]);
    });
  });

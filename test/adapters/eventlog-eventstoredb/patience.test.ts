import { PassThrough } from 'node:stream';
import { type AllStreamResolvedEvent, type StreamingRead, UnavailableError } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventStoreEventLog } from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { answered } from '../../../src/adapters/eventlog-eventstoredb/read.js';
import { pause } from '../../../src/lib/pause.js';
import { type EventBatch, EventLogUnavailable, type LogPosition } from '../../../src/ports/event-log.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import { streamOf } from '../../support/harness/event-log.js';
import { type EventStoreHarness, fillWith, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

/** Longer than all tries without patience. */
const AWAY_MS = 3_000;

describe('a read of a command over a server that goes away', () => {
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  beforeEach(async () => {
    harness = openEventStoreHarness();
    double = await harness.double();
    const writer = harness.open(double.url);
    for (let n = 0; n < 3; n += 1) {
      fillWith(double, 600, `between-${n}`);
      await streamOf(writer, 2, `nfseTest-${n}`);
    }
  });
  afterEach(() => harness.close());

  /** The server is away after the first event of the walk. */
  const walked = async (log: EventStoreEventLog): Promise<readonly string[]> => {
    const seen: string[] = [];
    let back: Promise<void> | undefined;
    for (let after: LogPosition | null = null; ; ) {
      const page: EventBatch = await log.readAll({ prefixes: ['nfseTest-'], after, limit: 1 });
      if (page.length === 0) break;
      seen.push(...page.map(({ stream, revision }) => `${stream}@${revision}`));
      after = page.at(-1)?.position ?? null;
      if (back !== undefined) continue;
      double.stop();
      back = pause(AWAY_MS).then(() => double.start());
    }
    await back;
    return seen;
  };

  it('waits until the server is there again', async () => {
    const log = harness.open(double.url, { readPatienceMs: 20_000 });
    expect(await walked(log)).toEqual([0, 1, 2].flatMap((n) => [`nfseTest-${n}@0`, `nfseTest-${n}@1`]));
    double.stop();
    setTimeout(() => void double.start(), AWAY_MS);
    expect(await log.lastEvent('nfseTest-2')).toMatchObject({ revision: 1 });
  });

  it('does not wait for a server that has never answered, nor without patience', async () => {
    double.stop();
    const began = performance.now();
    await expect(harness.open(double.url, { readPatienceMs: 120_000 }).head()).rejects.toBeInstanceOf(
      EventLogUnavailable,
    );
    await double.start();
    const log = harness.open(double.url);
    await log.head();
    double.stop();
    await expect(log.head()).rejects.toBeInstanceOf(EventLogUnavailable);
    expect(performance.now() - began).toBeLessThan(60_000);
  });

  it('ends when the time is over, and at once when the log is closed', async () => {
    const [short, long] = [1_000, 120_000].map((readPatienceMs) => harness.open(double.url, { readPatienceMs }));
    await Promise.all([short?.head(), long?.head()]);
    double.stop();
    await expect(short?.head()).rejects.toBeInstanceOf(EventLogUnavailable);
    const waiting = long?.head();
    const began = performance.now();
    await Promise.all([expect(waiting).rejects.toBeInstanceOf(EventLogUnavailable), long?.close()]);
    expect(performance.now() - began).toBeLessThan(60_000);
  });
});

const stopProcess = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

type Answer = PassThrough & { cancel(): Promise<void> };

describe('the patience of a read', () => {
  const PATIENCE_MS = 500;

  /** The first answers are as given, and then the server answers. */
  const reading = async (...first: ((answer: Answer) => void)[]): Promise<readonly AllStreamResolvedEvent[]> => {
    const patience = { ms: PATIENCE_MS, closing: new AbortController().signal, hasAnswered: true };
    return await answered({ timeoutMs: 400, patience }, () => {
      const answer = Object.assign(new PassThrough({ objectMode: true }), { cancel: async () => undefined });
      const give = first.shift() ?? ((last: Answer) => setTimeout(() => last.end({ event: undefined }), 5));
      give(answer);
      return answer as unknown as StreamingRead<AllStreamResolvedEvent>;
    });
  };
  const lose = (answer: Answer): void => void answer.destroy(new UnavailableError());

  it('begins with the loss of the server, however long the answer was before it', async () => {
    const longAnswer = (answer: Answer): void => {
      const events = setInterval(() => answer.write({ event: undefined }), 50);
      setTimeout(() => {
        clearInterval(events);
        lose(answer);
      }, PATIENCE_MS * 2);
    };
    expect(await reading(longAnswer)).toHaveLength(1);
  });

  it('does not count the pause of a stopped process, before the loss of the server or after it', async () => {
    const stopped = (answer: Answer): void => {
      setTimeout(() => {
        stopProcess(PATIENCE_MS * 2);
        lose(answer);
      }, 5);
    };
    expect(await reading(stopped)).toHaveLength(1);
    expect(await reading((answer) => setTimeout(lose, 5, answer), stopped)).toHaveLength(1);
  });
});

describe('a process that is stopped for longer than the time limit of a read', () => {
  it('takes the answer that came meanwhile', async () => {
    const stream = new PassThrough({ objectMode: true });
    const read = answered({ timeoutMs: 200 }, () => stream as unknown as StreamingRead<AllStreamResolvedEvent>);
    setTimeout(() => {
      stopProcess(500);
      // What the socket holds is read after the timers that are due: those run between two immediates.
      setImmediate(() => setImmediate(() => stream.end({ event: undefined })));
    }, 10);
    expect(await read).toHaveLength(1);
  });

  it('finds a server silent that does not answer', async () => {
    const stream = Object.assign(new PassThrough({ objectMode: true }), { cancel: async () => undefined });
    const read = answered({ timeoutMs: 100 }, () => stream as unknown as StreamingRead<AllStreamResolvedEvent>);
    await expect(read).rejects.toThrow('did not answer a read in time');
  });
});

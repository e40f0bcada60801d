import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openConnection } from '../../../src/adapters/eventlog-eventstoredb/client.js';
import type { EventStoreEventLog } from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { readLastEvent } from '../../../src/adapters/eventlog-eventstoredb/read.js';
import { createMemory } from '../../../src/adapters/eventlog-eventstoredb/remembered.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import { createDoubleLog, type DoubleLog } from '../../support/eventstore-double/log.js';
import { chained, NONE, retried, streamOf } from '../../support/harness/event-log.js';
import { type EventStoreHarness, fillWith, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

describe('what a process remembers of a log in EventStoreDB', () => {
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  let log: EventStoreEventLog;
  beforeEach(async () => {
    harness = openEventStoreHarness();
    double = await harness.double();
    log = harness.open(double.url);
  });
  afterEach(() => harness.close());

  const copy = (): DoubleLog => {
    const backup = createDoubleLog();
    for (const event of double.log.all().slice(backup.all().length)) backup.append(event.stream, 'any', [event]);
    return backup;
  };
  /** The older state at the address of the newer one. */
  const putBack = async (backup: DoubleLog): Promise<EventStoreDouble> => {
    double.stop();
    return await harness.double({ log: backup, port: double.port });
  };
  const look = () => log.remembered?.look();
  const append = (stream: string) => log.append(stream, NONE, [chained(stream, 0)]);

  it('refuses the first append after the connection was lost when the log lacks the last event that was appended', async () => {
    await streamOf(log, 1, 'nfseTest-a');
    const backup = copy();
    await streamOf(log, 1, 'nfseTest-b');
    const older = await putBack(backup);
    fillWith(older, 50);
    const length = backup.all().length;
    await expect
      .poll(() => append('nfseTest-c').catch((error: unknown) => error))
      .toMatchObject({
        message: expect.stringContaining('lacks an event'),
      });
    await expect(append('nfseTest-c')).rejects.toBeInstanceOf(EventLogUnavailable);
    expect(await look()).toBe('missing');
    expect(backup.all().length).toBe(length);
    log.remembered?.forget();
    expect(await append('nfseTest-c')).toEqual({ ok: true, revision: 0 });
  });

  it('knows the head that was read, and another event in its place', async () => {
    const writer = harness.open(double.url);
    await streamOf(writer, 1, 'nfseTest-a');
    const backup = copy();
    await streamOf(writer, 1, 'nfseTest-b');
    await log.head();
    expect(await look()).toBe('held');
    const older = await putBack(backup);
    const other = harness.open(older.url);
    await expect.poll(() => streamOf(other, 1, 'nfseTest-b').then(() => 'taken')).toBe('taken');
    await log.head();
    expect(await look()).toBe('replaced');
    await log.head();
    expect(await look()).toBe('replaced');
  });

  it('knows the newest event of a quiet log, although the connection was lost between its read and the look', async () => {
    const writer = harness.open(double.url);
    await streamOf(writer, 1, 'nfseTest-a');
    await log.head();
    expect(await look()).toBe('held');
    const backup = copy();
    await streamOf(writer, 1, 'nfseTest-b');
    fillWith(double, 5, '$stats');
    await log.head();
    const same = double.log;
    double.stop();
    double = await harness.double({ log: same, port: double.port });
    await expect.poll(() => log.head().catch(() => undefined)).toBeTypeOf('bigint');
    expect(await look()).toBe('held');
    const older = await putBack(backup);
    fillWith(older, 50, '$stats');
    await expect.poll(() => log.head().catch(() => undefined)).toBeTypeOf('bigint');
    expect(await look()).toBe('missing');
  });

  it('misses no event that retention has cut, and none of a stream that a person has deleted', async () => {
    await streamOf(log, 3, 'nfseTest-a');
    await log.head();
    expect(await look()).toBe('held');
    await log.cut('nfseTest-a', 2);
    double.log.scavenge();
    expect(await look()).toBe('held');
    double.log.remove('nfseTest-a', false);
    expect(await look()).toBe('held');
    double.log.remove('nfseTest-a', true);
    expect(await look()).toBe('held');
  });

  it('misses no event of another log that was at the address for a while, when the first call after that is an append', async () => {
    await streamOf(log, 2, 'nfseTest-a');
    await log.head();
    expect(await look()).toBe('held');
    const other = await putBack(createDoubleLog());
    fillWith(other, 1);
    await expect.poll(() => log.head().catch(() => undefined)).toBeTypeOf('bigint');
    other.stop();
    await double.start();
    await expect.poll(() => append('nfseTest-b').catch(() => undefined)).toEqual({ ok: true, revision: 0 });
    for (let n = 0; n < 3; n += 1) {
      expect(await look()).toBe('held');
      await log.head();
    }
    expect(await append('nfseTest-c')).toEqual({ ok: true, revision: 0 });
  });

  it('takes no head of another log for its own that was at the address until the connection was lost during a look', async () => {
    const connection = openConnection(double.url);
    const reader = { client: connection.client, credentials: connection.credentials, timeoutMs: 10_000 };
    let losses = 1;
    const memory = createMemory(reader, () => losses);
    await streamOf(log, 1, 'nfseTest-a');
    const [event] = await log.read('nfseTest-a');
    memory.appended({ stream: 'nfseTest-a', revision: 0, id: event?.id ?? '' });
    memory.sawHead({ streamId: 'nfseTest-elsewhere', revision: 0n, id: randomUUID() });
    const looking = memory.look();
    losses += 1;
    expect(await looking).toBe('held');
    expect(await memory.look()).toBe('held');
    await connection.close();
  });

  it('hands a subscription no event of another log that stands behind its cursor', async () => {
    await streamOf(log, 1, 'nfseTest-a');
    const stop = new AbortController();
    const seen: string[] = [];
    const faults: unknown[] = [];
    const onInterrupted = (error: unknown): void => void faults.push(error);
    const following = (async () => {
      const wanted = { prefixes: ['nfseTest-'], after: null, signal: stop.signal, onInterrupted };
      for await (const batch of log.subscribe(wanted)) seen.push(...batch.map(({ stream }) => stream));
    })();
    await expect.poll(() => seen).toEqual(['nfseTest-a']);
    const other = await putBack(createDoubleLog());
    await streamOf(harness.open(other.url), 20, 'nfseTest-b', retried);
    const lacks = expect.objectContaining({ message: expect.stringContaining('lacks an event') });
    await expect.poll(() => [seen, faults]).toEqual([['nfseTest-a'], expect.arrayContaining([lacks])]);
    stop.abort();
    await following;
  });

  it('takes appends again when the complete log is back', async () => {
    await streamOf(log, 1, 'nfseTest-a');
    const backup = createDoubleLog();
    const older = await putBack(backup);
    await expect.poll(() => append('nfseTest-c').catch(({ message }: Error) => message)).toContain('lacks an event');
    older.stop();
    await double.start();
    await expect.poll(() => append('nfseTest-c').catch(() => undefined)).toEqual({ ok: true, revision: 0 });
  });

  it('shows no stream as absent after the connection was lost when the log lacks the last event that was appended', async () => {
    await streamOf(log, 1, 'nfseTest-a');
    await putBack(createDoubleLog());
    const answers = new Set<string>();
    const reads = [() => log.lastEvent('nfseTest-a'), () => log.read('nfseTest-a')];
    for (const read of reads) {
      for (let n = 0; n < 20; n += 1) {
        answers.add(
          await read().then(
            () => 'absent',
            ({ message }: Error) => message,
          ),
        );
      }
    }
    expect([...answers]).toContain('the event log lacks an event that was in it');
    expect([...answers]).not.toContain('absent');
    log.remembered?.forget();
    expect(await log.lastEvent('nfseTest-a')).toBeNull();
  });

  it('reads again when the connection was lost between the look and the read', async () => {
    const connection = openConnection(double.url);
    const reader = { client: connection.client, credentials: connection.credentials, timeoutMs: 10_000 };
    const memory = createMemory(reader, connection.losses);
    await streamOf(log, 1, 'nfseTest-a');
    const [event] = await log.read('nfseTest-a');
    memory.appended({ stream: 'nfseTest-a', revision: 0, id: event?.id ?? '' });
    await memory.ensureHeld();
    let answer: unknown;
    const read = async (): Promise<unknown> => {
      await putBack(createDoubleLog());
      await expect
        .poll(async () => {
          answer = await readLastEvent(reader, 'nfseTest-a').catch(() => undefined);
          return answer;
        })
        .toBeNull();
      return answer;
    };
    await expect(memory.whileHeld(read)).rejects.toThrow('lacks an event');
    expect(answer).toBeNull();
    await connection.close();
  });
});

import { describe, expect, it } from 'vitest';
import type { WatchedStretch } from '../../../src/adapters/eventlog-postgres/lost-end.js';
import type { Stretch } from '../../../src/adapters/eventlog-postgres/reader.js';
import { sharedTail } from '../../../src/adapters/eventlog-postgres/tail.js';
import { type LogPosition, type RecordedEvent, SUBSCRIPTION_BATCH } from '../../../src/ports/event-log.js';

const at = (position: number): LogPosition => BigInt(position) as LogPosition;

const event = (position: number, stream: string): RecordedEvent =>
  ({ position: at(position), stream, revision: 0, id: '', type: 'T', data: {}, metadata: {} }) as RecordedEvent;

/** A log in memory whose reads are counted; a held read answers with what it saw when it was sent. */
const logOf = (...streams: string[]) => {
  const events = streams.map((stream, index) => event(index + 1, stream));
  const state = { reads: [] as string[], held: undefined as Promise<void> | undefined, appends: 0, history: 0 };
  const read = async (prefixes: readonly string[], after: LogPosition): Promise<WatchedStretch> => {
    state.reads.push(`${[...prefixes].sort().join('+')} after ${after}`);
    const found = events.filter(
      ({ position, stream }) => position > after && prefixes.some((prefix) => stream.startsWith(prefix)),
    );
    const head = at(events.length);
    await state.held;
    return { events: found, cursor: head > after ? head : after, atEnd: true, history: state.history };
  };
  const append = (...added: string[]): void => {
    state.appends += 1;
    for (const stream of added) events.push(event(events.length + 1, stream));
  };
  /** The log of a standby that had not received the events from `position` on, as the first read of it shows. */
  const loseFrom = (position: number): void => {
    state.history += 1;
    events.splice(position - 1);
  };
  const { readAlone, readNext } = sharedTail({ read, history: () => state.history }, () => state.appends);
  return { state, append, loseFrom, next: readNext, first: readAlone };
};

const streamsOf = ({ events }: Stretch): readonly string[] => events.map(({ stream }) => stream);

describe('the shared end of the log', () => {
  it('is read once for all subscriptions that stand there', async () => {
    const { state, append, next } = logOf('a1');
    await next(['a'], at(0));
    await next(['b'], at(1));
    append('a2', 'b1', 'a3');
    state.reads.length = 0;
    const [a, b, c] = await Promise.all([next(['a'], at(1)), next(['b'], at(1)), next(['a', 'b'], at(1))]);
    expect([streamsOf(a), streamsOf(b), streamsOf(c)]).toEqual([['a2', 'a3'], ['b1'], ['a2', 'b1', 'a3']]);
    expect(new Set([a, b, c].map(({ cursor }) => cursor))).toEqual(new Set([at(4)]));
    expect(state.reads).toEqual(['a+b after 1']);
  });

  it('gives a subscription that comes later what it keeps, without a read', async () => {
    const { state, append, next } = logOf('a1');
    await next(['a'], at(0));
    append('a2');
    await next(['a'], at(1));
    state.reads.length = 0;
    expect(await next(['a'], at(1))).toMatchObject({ cursor: at(2), atEnd: true, seen: 1 });
    expect(state.reads).toEqual([]);
  });

  it('says which appends its read has seen, so that a later one wakes the subscription', async () => {
    const { append, next } = logOf('a1');
    await next(['a'], at(0));
    append('a2');
    await next(['a'], at(1));
    append('a3');
    expect((await next(['a'], at(1))).seen).toBe(1);
  });

  it('reads again for a call that came after a read was sent', async () => {
    const { state, append, next } = logOf('a1');
    await next(['a'], at(0));
    let release = (): void => undefined;
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    const early = next(['a'], at(1));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    append('a2');
    const late = next(['a'], at(1));
    release();
    expect(streamsOf(await early)).toEqual([]);
    expect(streamsOf(await late)).toEqual(['a2']);
  });

  it('reads alone for a subscription that is far behind, and keeps a bounded number of events', async () => {
    const { state, append, next } = logOf();
    await next(['a'], at(0));
    append(...Array.from({ length: 600 }, (_, index) => `a${index}`));
    const first = await next(['a'], at(0));
    expect([first.events.length, first.atEnd, first.cursor]).toEqual([600, true, at(600)]);
    state.reads.length = 0;
    expect((await next(['a'], at(10))).events).toHaveLength(590);
    expect(state.reads).toEqual(['a after 10']);
    expect((await next(['a'], at(100))).events).toHaveLength(500);
    expect(state.reads).toHaveLength(1);
  });

  it('goes on behind the last event that it gave where it keeps more events than a batch holds', async () => {
    const { append, next } = logOf();
    await next(['a'], at(0));
    append(...Array.from({ length: SUBSCRIPTION_BATCH + 5 }, (_, index) => `a${index}`));
    await next(['a'], at(0));
    const batch = await next(['a'], at(0));
    expect(batch).toMatchObject({ cursor: at(SUBSCRIPTION_BATCH), atEnd: false });
    expect(batch.events).toHaveLength(SUBSCRIPTION_BATCH);
    expect((await next(['a'], batch.cursor)).events).toHaveLength(5);
  });

  it('does not miss events of a prefix that a new subscription brings', async () => {
    const { append, next } = logOf('a1');
    await next(['a'], at(0));
    append('b1', 'a2');
    await next(['a'], at(1));
    expect(streamsOf(await next(['b'], at(1)))).toEqual(['b1']);
    append('b2');
    expect(streamsOf(await next(['b'], at(3)))).toEqual(['b2']);
  });

  it('drops what a read brings that did not ask for a prefix which came meanwhile', async () => {
    const { state, append, next } = logOf('a1');
    await next(['a'], at(0));
    append('b1');
    let release = (): void => undefined;
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    const first = next(['a'], at(1));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const second = next(['b'], at(1));
    release();
    await first;
    expect(streamsOf(await second)).toEqual(['b1']);
  });

  it('passes a fault on to all who wait, and reads again for the next call', async () => {
    const { state, append, next } = logOf('a1');
    await next(['a'], at(0));
    append('a2');
    state.held = Promise.reject(new Error('lost'));
    // The read waits for it only in a later turn, and Node reports a rejection that nothing handles yet.
    state.held.catch(() => undefined);
    const both = await Promise.allSettled([next(['a'], at(1)), next(['a'], at(1))]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    state.held = undefined;
    expect(streamsOf(await next(['a'], at(1)))).toEqual(['a2']);
  });

  it('is not what a new subscription gets first', async () => {
    const { state, append, next, first } = logOf('a1');
    await next(['a'], at(0));
    append('a2');
    await next(['a'], at(1));
    state.reads.length = 0;
    expect(streamsOf(await first(['a'], at(1)))).toEqual(['a2']);
    expect(state.reads).toEqual(['a after 1']);
  });

  it('forgets what it keeps when the log has lost its end', async () => {
    const { append, loseFrom, next } = logOf('a1');
    await next(['a'], at(0));
    append('a2', 'a3');
    await next(['a'], at(1));
    loseFrom(3);
    append('a4');
    expect(await next(['a'], at(2))).toMatchObject({ events: [{ stream: 'a4', position: at(3) }], history: 1 });
  });

  it('forgets what it keeps also when its own read is the first that finds the log without its end', async () => {
    const { state, append, loseFrom, next } = logOf('a1');
    await next(['a'], at(0));
    append('a2', 'a3');
    await next(['a'], at(1));
    let release = (): void => undefined;
    state.held = new Promise((resolve) => {
      release = resolve;
    });
    const reading = next(['a'], at(3));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    loseFrom(2);
    append('a5');
    release();
    expect(await reading).toMatchObject({ history: 1 });
    expect(streamsOf(await next(['a'], at(1)))).toEqual(['a5']);
  });
});

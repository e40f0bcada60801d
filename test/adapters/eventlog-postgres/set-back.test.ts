import { describe, expect, it } from 'vitest';
import { watchedRead } from '../../../src/adapters/eventlog-postgres/lost-end.js';
import type { MarkedStretch } from '../../../src/adapters/eventlog-postgres/reader.js';
import { EventLogSetBack, type LogPosition } from '../../../src/ports/event-log.js';

const at = (position: number): LogPosition => BigInt(position) as LogPosition;

/** A log in memory that is the hashes of its events; undefined for one that retention has cut. */
const watching = (log: readonly (string | undefined)[]) => {
  const server = { log, held: undefined as Promise<void> | undefined };
  const { read, history } = watchedRead(async (_prefixes, after, mark): Promise<MarkedStretch> => {
    const { log: own, held } = server;
    const last = own.at(-1);
    const found = mark && own[Number(mark.position) - 1];
    await held;
    return {
      events: [],
      cursor: at(Math.max(own.length, Number(after))),
      atEnd: true,
      head: at(own.length),
      last: last === undefined ? undefined : { position: at(own.length), hash: last },
      holdsMark: mark === undefined || (found === undefined ? mark.position <= own.length : found === mark.hash),
    };
  });
  return { server, history, read: (after: number) => read(['a'], at(after)) };
};

describe('a log that lost its end', () => {
  it('is one history while it only grows', async () => {
    const { server, read, history } = watching([]);
    await read(0);
    server.log = ['a', 'b'];
    await read(0);
    server.log = ['a', 'b', 'c'];
    expect(await read(2)).toMatchObject({ cursor: at(3), history: 0 });
    expect(history()).toBe(0);
  });

  it('is not what a log is whose last events retention has cut', async () => {
    const { server, read } = watching(['a', 'b', 'c']);
    await read(0);
    server.log = ['a', 'b', undefined];
    expect(await read(3)).toMatchObject({ cursor: at(3), history: 0 });
    server.log = ['a', undefined, undefined, 'd'];
    expect(await read(3)).toMatchObject({ cursor: at(4), history: 0 });
  });

  it('is noticed when other events stand at the positions that were read', async () => {
    const { server, read, history } = watching(['a', 'b', 'c']);
    await read(3);
    server.log = ['a', 'b', 'other', 'd'];
    expect(await read(3)).toMatchObject({ cursor: at(4), history: 1 });
    expect(await read(4)).toMatchObject({ history: 1 });
    expect(history()).toBe(1);
  });

  it('is noticed also by a reader that is behind what was lost', async () => {
    const { server, read } = watching(['a', 'b', 'c']);
    await read(3);
    server.log = ['a', 'b', 'other'];
    expect(await read(1)).toMatchObject({ history: 1 });
  });

  it('is refused to a reader that is past its end, whoever has read so far', async () => {
    const { server, read, history } = watching(['a', 'b', 'c']);
    await expect(read(4)).rejects.toThrow(EventLogSetBack);
    await read(3);
    server.log = ['a', 'b'];
    await expect(read(3)).rejects.toThrow(EventLogSetBack);
    expect(history()).toBe(1);
    expect(await read(2)).toMatchObject({ history: 1 });
  });

  it('is not read from an answer of the old server that comes after the loss was noticed', async () => {
    const { server, read } = watching(['a', 'b', 'c']);
    await read(0);
    let release = (): void => undefined;
    server.held = new Promise((resolve) => {
      release = resolve;
    });
    const late = read(0);
    server.held = undefined;
    server.log = ['a'];
    await read(0);
    release();
    expect(await late).toMatchObject({ cursor: at(1), history: 1 });
  });
});

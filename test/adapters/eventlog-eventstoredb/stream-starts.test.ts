import { describe, expect, it } from 'vitest';
import { createStreamStartFilter } from '../../../src/adapters/eventlog-eventstoredb/stream-starts.js';
import type { LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';

const event = (stream: string, revision: number): RecordedEvent => ({
  stream,
  revision,
  position: 0n as LogPosition,
  id: '',
  type: '',
  data: {},
  metadata: {},
});
const shown = (events: readonly RecordedEvent[]) => events.map(({ stream, revision }) => `${stream}${revision}`);

describe('events whose beginning was cut', () => {
  it('shows the events that follow those that were shown, without a read', async () => {
    const streamStarts = createStreamStartFilter(() => Promise.reject(new Error('asked')));
    expect(shown(await streamStarts([event('a', 0), event('b', 0), event('a', 1)]))).toEqual(['a0', 'b0', 'a1']);
    expect(shown(await streamStarts([event('b', 1), event('a', 2), event('a', 3)]))).toEqual(['b1', 'a2', 'a3']);
  });

  it('hides the events that the stream no longer has, reads once per stream, and shows the rest', async () => {
    const asked: string[] = [];
    const streamStarts = createStreamStartFilter(async (stream) => {
      asked.push(stream);
      return stream === 'cut' ? 5 : stream === 'gone' ? null : 0;
    });
    const batch = [
      event('cut', 3),
      event('cut', 4),
      event('old', 7),
      event('gone', 2),
      event('cut', 5),
      event('cut', 6),
    ];
    expect(shown(await streamStarts(batch))).toEqual(['old7', 'cut5', 'cut6']);
    expect(asked).toEqual(['cut', 'old', 'gone']);
    expect(shown(await streamStarts([event('cut', 7), event('old', 8)]))).toEqual(['cut7', 'old8']);
    expect(asked).toHaveLength(3);
  });
});

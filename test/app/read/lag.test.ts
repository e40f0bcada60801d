import { describe, expect, it } from 'vitest';
import { createLag, LATE_SECONDS } from '../../../src/app/read/lag.js';
import { type EventLog, EventLogUnavailable, type LogPosition } from '../../../src/ports/event-log.js';
import { chained, NONE, streamOf } from '../../support/harness/event-log.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const RARE = ['company-'];
const clock = { now: () => '2026-11-21T12:00:30.000Z' };

/** A log that says from where it was read. */
const observed = () => {
  const log = memoryEventLog();
  const from: (LogPosition | null)[] = [];
  const readAll: EventLog['readAll'] = (wanted) => {
    from.push(wanted.after);
    return log.readAll(wanted);
  };
  return { log: { ...log, readAll }, from };
};

const recorded = async (log: EventLog, stream: string, recordedAt: string): Promise<void> => {
  const { metadata, ...event } = chained(stream, 0);
  await log.append(stream, NONE, [{ ...event, metadata: { ...metadata, recordedAt } }]);
};

describe('how far a reader is behind the log', () => {
  it('is the age of the oldest event that it has not handled, and 0 when there is none', async () => {
    const { log } = observed();
    const lag = createLag(log, clock);
    expect(await lag(RARE, null)).toBe(0);
    await recorded(log, 'company-1', '2026-11-21T12:00:00.000Z');
    const place = await log.head();
    await streamOf(log, 2, 'nfseTest-1');
    expect(await lag(RARE, null)).toBe(30);
    expect(await lag(RARE, place)).toBe(0);
  });

  it.each([undefined, 'once'])(
    'is late before an event that no program of ours appended (recorded at %s)',
    async (at) => {
      const { log } = observed();
      const { metadata, ...event } = chained('company-1', 0);
      const { recordedAt: _own, ...foreign } = metadata;
      await log.append('company-1', NONE, [
        { ...event, metadata: at === undefined ? foreign : { ...metadata, recordedAt: at } },
      ]);
      expect(await createLag(log, clock)(RARE, null)).toBe(LATE_SECONDS);
    },
  );

  it('looks only once at a stretch in which there was nothing for the reader', async () => {
    const { log, from } = observed();
    const lag = createLag(log, clock);
    await streamOf(log, 1, 'company-1');
    const place = await log.head();
    await streamOf(log, 3, 'nfseTest-1');
    const lookedTo = await log.head();
    expect([await lag(RARE, place), await lag(RARE, place)]).toEqual([0, 0]);
    await streamOf(log, 2, 'nfseTest-2');
    expect(await lag(RARE, place)).toBe(0);
    expect(from).toEqual([place, lookedTo]);
  });

  it('finds an event behind that stretch, and looks again from a place to which the reader was set back', async () => {
    const { log, from } = observed();
    const lag = createLag(log, clock);
    await streamOf(log, 1, 'company-1');
    const place = await log.head();
    await streamOf(log, 1, 'nfseTest-1');
    expect(await lag(RARE, place)).toBe(0);
    await recorded(log, 'company-2', '2026-11-21T12:00:20.000Z');
    expect(await lag(RARE, place)).toBe(10);
    await lag(RARE, null);
    expect(from.at(-1)).toBeNull();
  });

  it('is the whole age of the log for a reader whose place the log has lost, and a fault when the log cannot be read', async () => {
    const { log } = observed();
    await recorded(log, 'company-1', '2026-11-21T12:00:00.000Z');
    await streamOf(log, 3, 'nfseTest-1');
    let isPlace = false;
    const readAll: EventLog['readAll'] = async (wanted) => {
      if (wanted.after !== null) throw new EventLogUnavailable('the event log cannot be read');
      return await log.readAll(wanted);
    };
    const lag = createLag({ ...log, readAll, hasPlace: async () => isPlace }, clock);
    const ofLostEnd = await lag(RARE, 2n as LogPosition);
    expect(ofLostEnd).toBe(30);
    isPlace = true;
    await expect(lag(RARE, 2n as LogPosition)).rejects.toThrow('cannot be read');
  });

  it('does not trust a stretch that is longer than the log has become', async () => {
    let head = 9n as LogPosition;
    const from: (LogPosition | null)[] = [];
    const restored: Pick<EventLog, 'head' | 'readAll'> = {
      head: async () => head,
      readAll: async ({ after }) => {
        from.push(after);
        return [];
      },
    };
    const lag = createLag(restored, clock);
    const place = 2n as LogPosition;
    await lag(RARE, place);
    head = 5n as LogPosition;
    await lag(RARE, place);
    expect(from).toEqual([place, place]);
  });
});

import { describe, expect, it } from 'vitest';
import { createEventStore, NO_STREAM, StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import { AppendOutcomeUnknown, type EventLog, EventLogUnavailable } from '../../../src/ports/event-log.js';
import { accepted, T0 } from '../../support/fixture/invoice.js';
import { contextAt, fixedKeys } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const stream = 'nfseLive-12345678000195_11111111-1111-4111-8111-111111111111';

/** A log whose connection is lost during the append; `meanwhile` is what the server did. */
const losing = (
  log: EventLog,
  meanwhile: (store: () => ReturnType<EventLog['append']>) => Promise<unknown>,
): EventLog => ({
  ...log,
  append: async (...args) => {
    await meanwhile(() => log.append(...args));
    throw new AppendOutcomeUnknown('connection lost');
  },
});

const append = (log: EventLog) =>
  createEventStore(log, fixedKeys()).append(stream, NO_STREAM, [accepted()], contextAt(T0));

describe('an append of unknown outcome', () => {
  it('is a success when the stream holds the first event of this append', async () => {
    expect(await append(losing(memoryEventLog(), (store) => store()))).toMatchObject({ ok: true });
  });

  it('is lost when the stream holds the event of another writer there', async () => {
    const log = memoryEventLog();
    expect(await append(losing(log, () => append(log)))).toEqual({ ok: false });
  });

  it('stays unknown while the stream holds no event there', async () => {
    const lost = losing(memoryEventLog(), async () => undefined);
    await expect(append(lost)).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('stays unknown when the stream holds the event at a later revision, because a person hid the events before', async () => {
    const log = losing(memoryEventLog(), (store) => store());
    const hiding: EventLog = {
      ...log,
      read: async (...args) => (await log.read(...args)).map((event) => ({ ...event, revision: 3 })),
    };
    await expect(append(hiding)).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(createEventStore(hiding, fixedKeys()).load(stream)).rejects.toThrow('are hidden');
  });

  it('stays unknown when the stream cannot be read either', async () => {
    const log = losing(memoryEventLog(), (store) => store());
    const unreadable = { ...log, read: () => Promise.reject(new EventLogUnavailable('down')) };
    await expect(append(unreadable)).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('is distinguished from an append that certainly stored nothing', async () => {
    const log = { ...memoryEventLog(), append: () => Promise.reject(new EventLogUnavailable('down')) };
    await expect(append(log)).rejects.toBeInstanceOf(EventLogUnavailable);
  });
});

import { expect, it } from 'vitest';
import type { EventLog, LogPosition } from '../../../src/ports/event-log.js';
import { relayCheck } from '../../../src/runtime/operator/work-checks.js';
import { chained, NONE } from '../../support/harness/event-log.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const clock = { now: () => '2026-11-21T12:05:00.000Z' };

const accepted = async (log: EventLog, stream: string): Promise<void> => {
  const { metadata, ...event } = chained(stream, 0);
  await log.append(stream, NONE, [{ ...event, metadata: { ...metadata, recordedAt: '2026-11-21T12:00:00.000Z' } }]);
};

/** What doctor says of a relay whose stored position this is. */
const checkAt = async (position: LogPosition | null, log: EventLog) =>
  await relayCheck({
    engines: { log, guards: { relay: { read: async () => position } }, pool: undefined },
    clock,
  } as unknown as Parameters<typeof relayCheck>[0]);

it('doctor says how late the relay is, which shows that NATS refuses its work items', async () => {
  const log = memoryEventLog();
  await accepted(log, 'nfseLive-1');
  const place = await log.head();
  const atHead = await checkAt(place, log);
  await accepted(log, 'nfseTest-2');
  const late = await checkAt(place, log);
  expect(atHead).toEqual({ name: 'relay', ok: true, detail: '0 s behind the log', cure: undefined });
  expect(late).toMatchObject({
    ok: false,
    detail: '300 s behind the log',
    cure: expect.stringContaining('put_failed'),
  });
});

it.each([
  ['past the end of the log', true, 9n],
  ['inside a record of a log that has grown again', false, 1n],
] as const)('doctor says that the relay cannot continue from a position %s', async (_name, isPlace, position) => {
  const log = memoryEventLog();
  await accepted(log, 'nfseLive-1');
  await accepted(log, 'nfseLive-2');
  const check = await checkAt(position as LogPosition, { ...log, hasPlace: async () => isPlace });
  expect(check).toMatchObject({ ok: false, detail: 'its position is of events that the log does not have' });
});

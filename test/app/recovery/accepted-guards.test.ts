import { describe, expect, it } from 'vitest';
import { UnknownEventVersion } from '../../../src/app/event-store/codec.js';
import { acceptedGuards } from '../../../src/app/recovery/replay-guards.js';
import { invoicePrefix } from '../../../src/domain/common/ids.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { attempted, imported, T0 } from '../../support/fixture/invoice.js';
import { acceptances } from '../../support/fixture/recorded-guards.js';
import { appendTo } from '../../support/harness/event-store.js';

const WINDOWS = { idempotencySeconds: 86_400, duplicateSeconds: 60 };
const MARGIN = 600;

const guardsAt = async ({ log }: ReturnType<typeof acceptances>, seconds: number) => {
  const events = await log.readAll({ prefixes: Object.values(invoicePrefix), after: null, limit: 100 });
  return acceptedGuards(events, WINDOWS, addSeconds(T0, seconds));
};

const STREAM = 'nfseLive-12345678000195_00000000-0000-4000-8000-000000000001';

describe('the guards that an acceptance had set', () => {
  it('are all in its event, which says nothing personal', async () => {
    const fixture = acceptances();
    await fixture.accept();
    await appendTo(fixture.store, STREAM, [attempted(1, 1)], T0);
    expect(await guardsAt(fixture, 10)).toEqual({
      keys: [
        {
          mode: 'live',
          companyId: '12345678000195',
          keyHash: 'key-1',
          bodyHash: 'body-1',
          commandId: 'command-1',
          invoiceId: '00000000-0000-4000-8000-000000000001',
          acceptedAt: T0,
        },
      ],
      marks: [{ fingerprint: 'f-1', stream: STREAM, at: T0 }],
    });
  });

  it('are a mark alone when it had no key', async () => {
    const fixture = acceptances();
    await fixture.accept({ keyed: false });
    expect(await guardsAt(fixture, 10)).toMatchObject({ keys: [], marks: [{ fingerprint: 'f-1' }] });
  });

  it.each([
    [60 + MARGIN, 1, 1],
    [60 + MARGIN + 1, 1, 0],
    [86_400 + MARGIN, 1, 0],
    [86_400 + MARGIN + 1, 0, 0],
  ])(
    'count as long as their window lasts, with a margin for clocks that differ: after %s s',
    async (seconds, keys, marks) => {
      const fixture = acceptances();
      await fixture.accept();
      const found = await guardsAt(fixture, seconds);
      expect([found.keys.length, found.marks.length]).toEqual([keys, marks]);
    },
  );

  it('are a key of an import that names one, from the instant of its request', async () => {
    const fixture = acceptances();
    const createdAt = addSeconds(T0, -60);
    await appendTo(fixture.store, STREAM, [imported({ keyHash: 'key-1', createdAt })], T0);
    const { keys, marks } = await guardsAt(fixture, 86_400 + MARGIN - 60);
    expect(keys).toMatchObject([{ keyHash: 'key-1', bodyHash: 'hmac:1:imported:', acceptedAt: createdAt }]);
    expect(marks).toEqual([]);
    expect((await guardsAt(fixture, 86_400 + MARGIN)).keys).toEqual([]);
  });

  it('cannot be told of an event that a newer program wrote', async () => {
    const fixture = acceptances();
    await fixture.accept();
    const events = await fixture.log.read(STREAM);
    const newer = events.map((event) => ({ ...event, metadata: { ...event.metadata, schemaVersion: '99' } }));
    expect(() => acceptedGuards(newer, WINDOWS, T0)).toThrow(UnknownEventVersion);
  });
});

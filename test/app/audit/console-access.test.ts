import { expect, it } from 'vitest';
import { appendAudit } from '../../../src/app/audit/audit-trail.js';
import { createEndedSessions } from '../../../src/app/audit/console-sessions.js';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import { T0 } from '../../support/fixture/invoice.js';
import { emptyAuditHarness } from '../../support/harness/audit.js';
import { movableClock } from '../../support/harness/event-store.js';

const LIFE_SECONDS = 43_200;
const at = { session: 'ended', peer: '10.0.0.1' };

it('finds a session that was ended far back in the record, reads on from there, and keeps what it knows without the log', async () => {
  const { store } = emptyAuditHarness();
  const clock = movableClock(T0);
  const deps = { store, clock, actor: 'support:maria' } as const;
  await appendAudit('ConsoleSignedOut', at, deps);
  for (let n = 0; n < 1_001; n += 1)
    await appendAudit('ConsoleSignInRefused', { operator: 'eve', peer: '10.0.0.2' }, deps);
  let loads = 0;
  let isDown = false;
  const counting: EventStore = {
    ...store,
    load: (stream, options) => {
      loads += 1;
      return isDown ? Promise.reject(new Error('the log is down')) : store.load(stream, options);
    },
  };
  const ended = createEndedSessions({ store: counting, clock }, LIFE_SECONDS);
  expect([await ended.isEnded('ended'), await ended.isEnded('other')]).toEqual([true, false]);
  // Three pages back to the end of the record, and one read of what is new.
  expect(loads).toBe(5);
  await appendAudit('ConsoleSignedOut', { ...at, session: 'other' }, deps);
  expect(await ended.isEnded('other')).toBe(true);
  isDown = true;
  expect(await ended.isEnded('other')).toBe(true);
  expect(await ended.isEnded('third')).toBe(false);
  isDown = false;
  clock.pass(LIFE_SECONDS + 1);
  // Expired, and so no longer kept in memory.
  expect(await ended.isEnded('ended')).toBe(false);
});

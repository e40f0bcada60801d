import { expect, it } from 'vitest';
import { appendSupportAct } from '../../../src/app/audit/audit-trail.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { emptyAuditHarness } from '../../support/harness/audit.js';

it('events that no key opens any more are told by generation and are no finding', async () => {
  const world = emptyAuditHarness();
  await world.accept(1);
  await world.issue(2);
  await world.accept(3, 'test');
  expect((await verifyLog(world.log)).givenUp).toEqual([]);
  const deps = { store: world.store, clock: world.clock, actor: 'support:ana' } as const;
  for (const giveUp of ['m7', 'm1']) await appendSupportAct({ giveUp, reason: 'burnt' }, deps);
  const { findings, givenUp } = await verifyLog(world.log);
  expect(findings.kept).toEqual([]);
  // Two acceptances, an attempt and an authorization; the test invoice is under the key of its day.
  expect(givenUp).toEqual([{ generation: 'm1', events: 4 }]);
});

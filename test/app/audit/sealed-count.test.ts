import { expect, it } from 'vitest';
import { appendAudit } from '../../../src/app/audit/audit-trail.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { emptyAuditHarness } from '../../support/harness/audit.js';

it('events that no key opens any more are told by generation and are no finding', async () => {
  const harness = emptyAuditHarness();
  await harness.accept(1);
  await harness.issue(2);
  await harness.accept(3, 'test');
  expect((await verifyLog(harness.log)).givenUp).toEqual([]);
  const deps = { store: harness.store, clock: harness.clock, actor: 'support:ana' } as const;
  for (const giveUp of ['m7', 'm1'])
    await appendAudit('MasterKeyGivenUp', { generation: giveUp, reason: 'burnt' }, deps);
  const { findings, givenUp } = await verifyLog(harness.log);
  expect(findings.kept).toEqual([]);
  // Two acceptances, an attempt and an authorization; the test invoice is under the key of its day.
  expect(givenUp).toEqual([{ generation: 'm1', events: 4 }]);
});

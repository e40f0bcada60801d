import { expect, it } from 'vitest';
import { createAnchorer } from '../../src/workers/anchorer.js';
import { emptyAuditHarness } from '../support/harness/audit.js';

it('reports the day of the anchor, also when midnight passes before it is made', async () => {
  const { log, store, clock, issue } = emptyAuditHarness();
  await issue(1);
  const days = ['2026-11-20T23:59:59.999Z'];
  const anchored: string[] = [];
  const anchor = createAnchorer({
    ...{ log, store, actor: 'timer:anchorer', folder: undefined },
    clock: { now: () => days.shift() ?? clock.now() },
    onAnchored: ({ day }) => anchored.push(day),
  });
  await anchor();
  await anchor();
  expect(anchored).toEqual(['2026-11-21']);
});

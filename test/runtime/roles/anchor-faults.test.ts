import { expect, it } from 'vitest';
import { createAnchorFaults } from '../../../src/runtime/roles/sweeper.js';
import { AnchorNotPublished } from '../../../src/workers/anchorer.js';

it('says once for each state that ANCHOR_DIR takes no file, or that the log was not anchored', () => {
  const told: unknown[] = [];
  const logger = { error: (line: object) => told.push(line), warn: (line: object) => told.push(line) };
  const faults = createAnchorFaults(logger as unknown as Parameters<typeof createAnchorFaults>[0]);
  const refused = new AnchorNotPublished(
    '/srv/anchors/anchor-2026-11-21.json',
    Object.assign(new Error('x'), { code: 'EROFS' }),
  );
  for (const _sweep of [1, 2, 3]) faults.tell(refused);
  for (const _sweep of [1, 2]) faults.tell(new Error('the database is away'));
  faults.areOver();
  faults.tell(refused);
  const ofFile = {
    msg: 'the anchor of the day is in the log and could not be written to ANCHOR_DIR',
    file: '/srv/anchors/anchor-2026-11-21.json',
    code: 'EROFS',
  };
  expect(told).toMatchObject([ofFile, { msg: 'the log was not anchored' }, ofFile]);
});

import { expect, it } from 'vitest';
import { isStuck } from '../../../src/runtime/operator/work-checks.js';
import { at, limits, T0 } from '../../support/fixture/invoice.js';

const GRACE = 120;

it.each([
  ['an invoice without an attempt', 'issue', false, 900],
  ['an invoice with one', 'issue', true, 7_200],
  ['a cancellation without an attempt, which waits a day', 'cancel', false, 86_400],
  ['a cancellation with one, which may have been sent after that day', 'cancel', true, 93_600],
] as const)('open work is stuck after every limit: %s', (_what, work, started, seconds) => {
  const row = { mode: 'live', work, started, count: 1, oldest: T0 } as const;
  expect(isStuck(row, at(seconds + GRACE), limits)).toBe(false);
  expect(isStuck(row, at(seconds + GRACE + 1), limits)).toBe(true);
});

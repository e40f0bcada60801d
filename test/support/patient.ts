import type { SessionLimits } from '../../src/adapters/sql/pool.js';

/** Settings for the pools of tests: the product's time limits are too short for copying a database. */
export const PATIENT = {
  statementTimeoutMs: 240_000,
  lockTimeoutMs: 240_000,
  connectTimeoutMs: 60_000,
} as const satisfies SessionLimits;

/** Of a program for which a test waits without doing anything else: the bound of the test cannot end such a wait. */
export const ENDS_WITHIN_MS = 120_000;

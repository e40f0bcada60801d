import type { SessionLimits } from '../../src/adapters/sql/pool.js';

/** Settings for pools of tests, without the product's bounds, because copying a database may take long. */
export const PATIENT = {
  statementTimeoutMs: 240_000,
  lockTimeoutMs: 240_000,
  connectTimeoutMs: 60_000,
} as const satisfies SessionLimits;

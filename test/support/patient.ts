import type { SessionLimits } from '../../src/adapters/sql/pool.js';

/** For pools of the tests' own: copying a database takes as long as it takes, and the product's bounds are for the product. */
export const PATIENT = {
  statementTimeoutMs: 240_000,
  lockTimeoutMs: 240_000,
  connectTimeoutMs: 60_000,
} as const satisfies SessionLimits;

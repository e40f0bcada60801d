import type { Mode } from '../../src/domain/shared/ids.js';
import type { Instant } from '../../src/domain/shared/time.js';

/** What a stream still owes: an outcome, a cancellation's outcome, or a test invoice's end. No row: nothing. */
export type DeadlineRow = {
  stream: string;
  revision: number;
  mode: Mode;
  company_id: string;
  work: 'issue' | 'cancel' | null;
  /** Last event of this work. */
  work_since: Instant | null;
  /** An attempt exists. */
  started: boolean;
  /** Acceptance while nothing was attempted, then the first attempt; of a cancellation its request. */
  began_at: Instant | null;
  /** `created_at` of a test invoice. */
  retention_since: Instant | null;
};

export const columns = {
  stream: 'text',
  revision: 'integer',
  mode: 'text',
  company_id: 'text',
  work: 'text',
  work_since: 'text',
  started: 'boolean',
  began_at: 'text',
  retention_since: 'text',
} as const;

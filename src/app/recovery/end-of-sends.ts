import { addSeconds, earlierOf, type Instant, isBefore } from '../../domain/common/time.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { mayBeSentUntil } from '../../domain/invoice/next-issue-step.js';
import { CLOCKS_APART_SECONDS } from '../../domain/invoice/send-steps.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { RecoveryDeps } from './ask-series.js';

/** The clock that is behind, of this command's and the database's: issuers judge by their own clocks, and this command's may be ahead of theirs. */
export const slowerNow = async ({
  clock,
  databaseNow,
}: Pick<RecoveryDeps, 'clock' | 'databaseNow'>): Promise<Instant> => earlierOf(await databaseNow(), clock.now());

/** Until when an issuer, whose clock may be behind this one, may send the open invoice; undefined when none will. */
export const sendableUntil = (state: InvoiceState, limits: Limits, now: Instant): Instant | undefined => {
  const end = mayBeSentUntil(state, limits);
  const last = end && addSeconds(end, CLOCKS_APART_SECONDS);
  return last !== undefined && isBefore(now, last) ? last : undefined;
};

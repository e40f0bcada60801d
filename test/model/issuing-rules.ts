import { type Instant, isBefore } from '../../src/domain/common/time.js';
import {
  decideAbsence,
  decideAuthorized,
  decideNumberConflict,
  decideRejection,
  decideVerdict,
  isKnownToExist,
} from '../../src/domain/invoice/decide-issuance.js';
import { nextIssueStep } from '../../src/domain/invoice/next-issue-step.js';
import { decideAnswer, decideAttempt, isRefusedAfterOthers } from '../../src/domain/invoice/send-decisions.js';
import { progressAfter, provesAbsence } from '../../src/domain/invoice/send-steps.js';
import type { Invoice, IssueAttempt } from '../../src/domain/invoice/state.js';
import { limits } from './issuing-world.js';

/** The product's decisions as the model uses them; a test that takes one away must see the model find the harm. */
export const rules = {
  nextIssueStep,
  decideAttempt,
  decideAnswer,
  decideAuthorized,
  decideRejection,
  decideAbsence,
  decideNumberConflict,
  decideVerdict,
  provesAbsence,
  progressAfter,
  /** Whether an "absent" may be one of the two proofs: as `src/app/issuing/note.ts` has it. */
  countsAsAbsence: (seen: Invoice, asked: IssueAttempt, askedAt: Instant): boolean =>
    !isBefore(askedAt, asked.deadlineAt) &&
    !isKnownToExist(seen, asked.dpsId) &&
    !isRefusedAfterOthers(seen.attempts, asked),
  /** The windows that the decisions are given. */
  limits,
  /** An attempt is recorded only behind everything that was read before it. */
  appendsAtExactRevision: true,
  /** A verdict by time is preceded by one last look-up. */
  looksUpBeforeVerdict: true,
  /** A verdict must have been due when that look-up was asked for, not only when its answer is acted upon. */
  judgesAsOfLastLookup: true,
  /** A send that could not begin in time is given up. */
  givesUpLateSends: true,
};

export type Rules = typeof rules;

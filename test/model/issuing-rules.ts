import { nextIssueStep } from '../../src/domain/invoice/next-issue-step.js';
import {
  conclude,
  recordAbsence,
  recordAttempt,
  recordAuthorized,
  recordConflict,
  recordNotSent,
  recordRejection,
  recordUnknown,
} from '../../src/domain/invoice/record-issuance.js';

/** The product's decisions as the model uses them; a test that takes one away must see the model find the harm. */
export const rules = {
  nextIssueStep,
  recordAttempt,
  recordAuthorized,
  recordNotSent,
  recordRejection,
  recordUnknown,
  recordAbsence,
  recordConflict,
  conclude,
  /** An attempt is recorded only behind everything that was read before it. */
  appendsAtExactRevision: true,
  /** A verdict by time is preceded by one last look-up. */
  looksUpBeforeVerdict: true,
  /** A send that could not begin in time is given up. */
  givesUpLateSends: true,
};

export type Rules = typeof rules;

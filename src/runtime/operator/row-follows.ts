import { errorCode } from '../../lib/error-code.js';
import { LiveRowsOfOtherVersion } from '../../projector/apply-now.js';

/** The message about a recorded change whose row could not be applied. Quotes no message, because a library may quote its input there. */
export const rowFollowsLine = (fault: unknown): string => {
  if (fault instanceof LiveRowsOfOtherVersion) return fault.message;
  const code = errorCode(fault);
  return `recorded, but not in force yet: its row could not be written${code === undefined ? '' : ` (${code})`}; the projector writes the row, and nfse projections status shows how far that is`;
};

/** Tells it on stderr, once: a file may have thousands of entries. */
export const rowFollowsTeller = (): ((fault: unknown) => void) => {
  let isTold = false;
  return (fault) => {
    if (!isTold) process.stderr.write(`warning: ${rowFollowsLine(fault)}\n`);
    isTold = true;
  };
};

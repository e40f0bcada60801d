import type { LogPosition, Revision } from '../../ports/event-log.js';
import { isEndOfTestInvoice } from './chain.js';
import type { ExaminedEvent } from './examine.js';
import type { Finding } from './finding.js';

/** How many gaps the finding names; further gaps are only counted. */
const NAMED = 5;

type Place = { position: LogPosition; revision: Revision };
type Kind = Pick<ExaminedEvent, 'stream' | 'type'>;

/**
 * For an engine that numbers its positions without gaps. There only the end of a test invoice empties positions, and its revision shows how many.
 * Other empty positions held events that no other check would miss: a look of an operator at personal data, the last event of a company.
 */
export const createPositionAccount = () => {
  let last = 0n;
  let empty = 0n;
  let cut = 0n;
  let gaps = 0;
  const gapTexts: string[] = [];

  const noteGap = (position: LogPosition): void => {
    if (position <= last + 1n) return;
    empty += position - last - 1n;
    gaps += 1;
    if (gapTexts.length < NAMED)
      gapTexts.push(position === last + 2n ? `${last + 1n}` : `${last + 1n} to ${position - 1n}`);
  };

  return {
    /** Adds every event of the log, in the order of the log. `before`: the last revision of its stream that the walk has met, -1 for none. */
    add: ({ position, revision }: Place, event: Kind | undefined, before: Revision): void => {
      noteGap(position);
      if (position > last) last = position;
      if (event !== undefined && isEndOfTestInvoice(event)) cut += BigInt(Math.max(0, revision - before - 1));
    },
    /** Whether the ends of test invoices that were added account for every empty position so far. */
    isBalanced: (): boolean => empty === cut,
    finish: (): readonly Finding[] => {
      if (empty === cut) return [];
      const where = gapTexts.length === 0 ? '' : ` (${gapTexts.join(', ')}${gaps > NAMED ? ', …' : ''})`;
      const detail = `empty positions of the log: ${empty}${where}; the ends of test invoices account for ${cut}`;
      return [{ kind: 'missing_position', detail }];
    },
  };
};

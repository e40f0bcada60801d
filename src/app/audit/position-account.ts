import type { InspectedEvent, LogPosition, Revision } from '../../ports/event-log.js';
import { isEndOfTestInvoice } from './chain.js';
import type { Finding } from './finding.js';

export type PositionAccount = {
  /** Every event of the log, in its order; `before` is the last revision of its stream that the walk has met, -1 for none. */
  take(inspected: InspectedEvent, before: Revision): void;
  end(): readonly Finding[];
};

/** So many empty places are named; more are only counted. */
const NAMED = 5;

/**
 * In an engine that counts its positions without a gap only the end of a test invoice empties places, and it says by its revision how
 * many. Other empty places held events of streams that nothing else would miss: what an operator looked at, the last event of a company.
 */
export const createPositionAccount = (): PositionAccount => {
  let last = 0n;
  let empty = 0n;
  let cut = 0n;
  let gaps = 0;
  const places: string[] = [];

  const noteGap = (position: LogPosition): void => {
    if (position <= last + 1n) return;
    empty += position - last - 1n;
    gaps += 1;
    if (places.length < NAMED)
      places.push(position === last + 2n ? `${last + 1n}` : `${last + 1n} to ${position - 1n}`);
  };

  return {
    take: ({ position, revision, event }, before) => {
      noteGap(position);
      if (position > last) last = position;
      if (event !== undefined && isEndOfTestInvoice(event)) cut += BigInt(Math.max(0, revision - before - 1));
    },
    end: () => {
      if (empty === cut) return [];
      const where = places.length === 0 ? '' : ` (${places.join(', ')}${gaps > NAMED ? ', …' : ''})`;
      const detail = `empty places of the log: ${empty}${where}; the ends of test invoices account for ${cut}`;
      return [{ kind: 'missing_position', detail }];
    },
  };
};

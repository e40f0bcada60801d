import type { Session } from './session.js';
import type { Terminal } from './terminal.js';

/** Projections whose rows the lists of invoices are made of. */
const READS = ['invoices', 'companies'];

/** Those of them whose rows do not hold what the log says. */
export const rowsBehind = async ({ projectionsBehind }: Session): Promise<readonly string[]> =>
  (await projectionsBehind()).filter((name) => READS.includes(name));

/** What a list of invoices says when such rows are behind. */
export const moreUnknown = (behind: readonly string[]): readonly string[] =>
  behind.length === 0 ? [] : [`more is unknown until the projections have caught up (${behind.join(', ')})`];

/** On stderr, because the list itself is a report. */
export const tellRowsBehind = async (opened: Session, terminal: Pick<Terminal, 'err'>): Promise<void> => {
  for (const line of moreUnknown(await rowsBehind(opened))) terminal.err(line);
};

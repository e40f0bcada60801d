import type { LogPosition } from '../ports/event-log.js';
import { type Outcome, refused } from './command.js';
import type { Session } from './session.js';
import type { Terminal } from './terminal.js';

/** Projections whose rows the lists of invoices are made of. */
const READS = ['invoices', 'companies'];

/** Those of these projections whose rows do not hold what the log says. */
export const rowsBehind = async (
  { projectionsBehind }: Pick<Session, 'projectionsBehind'>,
  reads: readonly string[] = READS,
): Promise<readonly string[]> => (await projectionsBehind()).filter((name) => reads.includes(name));

/** What a command says when rows that it reads are behind. */
export const moreUnknown = (behind: readonly string[]): readonly string[] =>
  behind.length === 0 ? [] : [`more is unknown until the projections have caught up (${behind.join(', ')})`];

/** The position of the log up to which the rows of invoices go; null for its beginning. */
export const invoiceRowsUpTo = async ({ projections }: Pick<Session, 'projections'>): Promise<LogPosition | null> =>
  (await projections.status()).find(({ name }) => name === 'invoices')?.position ?? null;

/** The refusal of an unknown id. An id names no company, so an invoice of a company whose row is missing is not found, although the log has it. */
export const refusedUnknown = async (
  reason: string,
  opened: Pick<Session, 'projectionsBehind'>,
  terminal: Pick<Terminal, 'err'>,
): Promise<Outcome> => {
  await tellRowsBehind(opened, terminal, ['companies']);
  return refused(reason);
};

/** On stderr, because the list itself is a report. `reads` are the projections that the command reads, those of a list of invoices by default. */
export const tellRowsBehind = async (
  opened: Pick<Session, 'projectionsBehind'>,
  terminal: Pick<Terminal, 'err'>,
  reads?: readonly string[],
): Promise<void> => {
  for (const line of moreUnknown(await rowsBehind(opened, reads))) terminal.err(line);
};

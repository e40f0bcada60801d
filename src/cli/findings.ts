import { chainFindings } from '../app/audit/chain.js';
import type { Finding } from '../app/audit/finding.js';
import { printableLine } from '../lib/printable.js';
import type { RecordedEvent } from '../ports/event-log.js';
import type { Outcome } from './command.js';
import type { Terminal } from './terminal.js';

/** A finding as all commands print it. */
export const findingLine = ({ kind, stream, revision, detail }: Finding): string => {
  const where = stream === undefined ? '' : `  ${stream}${revision === undefined ? '' : `@${revision}`}`;
  return printableLine(`${kind}${where}  ${detail}`);
};

/** The outcome of a command that shows these events: broken ones are named on stderr, with exit 1. `beginsLater`: the first ones were not read. */
export const unlessBroken = (
  outcome: Outcome,
  events: readonly RecordedEvent[],
  terminal: Pick<Terminal, 'err'>,
  beginsLater = false,
): Outcome => {
  const findings = chainFindings(events, beginsLater);
  for (const finding of findings) terminal.err(`the log was changed: ${findingLine(finding)}`);
  return findings.length === 0 ? outcome : { ...outcome, exit: 1, isReport: true };
};

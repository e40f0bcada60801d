import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import type { EventLog } from '../../ports/event-log.js';
import type { AnchorCount } from './anchor-walk.js';
import { createFindings, type Findings } from './finding.js';
import { createLogChecker } from './log-checker.js';
import type { GivenUpCount } from './sealed-count.js';
import { shareOf, type WalkProgress, walkLog } from './walk.js';

export type LogReport = {
  streams: number;
  events: number;
  findings: Findings;
  anchors: AnchorCount;
  givenUp: readonly GivenUpCount[];
};

/** Walks the whole log (see `createLogChecker`); needs no key, because hashes and shapes are those of sealed text. */
export const verifyLog = async (
  log: Pick<EventLog, 'readAll' | 'head'>,
  onProgress?: (progress: WalkProgress) => void,
): Promise<LogReport> => {
  const findings = createFindings();
  const checker = createLogChecker('whole', findings);
  // Asked before the walk, which then sees that event and perhaps later ones.
  const head = await log.head();
  for await (const page of walkLog(log, ALL_STREAMS)) {
    for (const event of page) checker.take(event);
    onProgress?.({ events: checker.events, share: shareOf(checker.lastPosition, head) });
  }
  if (head !== null && (checker.lastPosition === null || checker.lastPosition < head)) {
    const detail = `the log says that it ends at ${head}, but its last event is at ${checker.lastPosition ?? 'no place'}`;
    findings.add({ kind: 'log_end', detail });
  }
  const anchors = checker.end();
  return { streams: checker.table.size, events: checker.events, findings, anchors, givenUp: checker.givenUp() };
};

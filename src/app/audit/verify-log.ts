import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import { type EventLog, type InspectedEvent, isEarlier, type LogPosition } from '../../ports/event-log.js';
import type { AnchorCount } from './anchor-walk.js';
import { createFindings, type Findings, findingOf } from './finding.js';
import { createLogChecker, type LogChecker } from './log-checker.js';
import { createPositionAccount } from './position-account.js';
import type { GivenUpCount } from './sealed-count.js';
import { inspectLog, shareOf, type WalkProgress, walkLog } from './walk.js';

export type LogReport = {
  streams: number;
  events: number;
  findings: Findings;
  anchors: AnchorCount;
  givenUp: readonly GivenUpCount[];
  /** False when some event cannot be read, by nobody: what folds the log comes to no end. */
  readable: boolean;
};

/** `last`: place of the last event, readable or not. */
type Walk = { readable: boolean; last: LogPosition | null };

type Walked = Pick<EventLog, 'readAll' | 'head' | 'inspect'>;

/** Walks the whole log (see `createLogChecker`); needs no key, because hashes and shapes are those of sealed text. */
export const verifyLog = async (log: Walked, onProgress?: (progress: WalkProgress) => void): Promise<LogReport> => {
  const findings = createFindings();
  const checker = createLogChecker('whole', findings);
  // Asked before the walk, which then sees that event and perhaps later ones.
  const head = await log.head();
  const tell = (): void => onProgress?.({ events: checker.events, share: shareOf(checker.lastPosition, head) });
  const { readable, last } =
    log.inspect === undefined
      ? await walkRead(log, checker, tell)
      : await walkInspected({ ...log, inspect: log.inspect }, checker, findings, tell);
  if (isEarlier(last, head)) {
    const detail = `the log says that it ends at ${head}, but its last event is at ${last ?? 'no place'}`;
    findings.add({ kind: 'log_end', detail });
  }
  const anchors = checker.end();
  return {
    streams: checker.table.size,
    events: checker.events,
    findings,
    anchors,
    readable,
    givenUp: checker.givenUp(),
  };
};

const walkRead = async (log: Walked, checker: LogChecker, tell: () => void): Promise<Walk> => {
  for await (const page of walkLog(log, ALL_STREAMS)) {
    for (const event of page) checker.take(event);
    tell();
  }
  return { readable: true, last: checker.lastPosition };
};

const walkInspected = async (
  log: Required<Pick<EventLog, 'inspect' | 'head'>>,
  checker: LogChecker,
  findings: Findings,
  tell: () => void,
): Promise<Walk> => {
  const account = createPositionAccount();
  let readable = true;
  let last: LogPosition | null = null;
  const take = (inspected: InspectedEvent): void => {
    const { position, stream, event, contentHash, fault } = inspected;
    const known = checker.table.find(stream);
    account.take(inspected, known === undefined ? -1 : checker.table.revisionOf(known));
    last = position;
    if (fault !== undefined) {
      findings.add(findingOf(inspected, event === undefined ? 'unreadable_event' : 'stored_otherwise', fault));
    }
    if (event === undefined) readable = false;
    else checker.take(event, contentHash);
  };
  for await (const page of inspectLog(log.inspect)) {
    for (const inspected of page) take(inspected);
    tell();
  }
  for (const finding of account.end()) findings.add(finding);
  // Asked after the walk: the head of a log that is written meanwhile is at least as far.
  const end = await log.head();
  if (isEarlier(end, last)) {
    const detail = `the log says that it ends at ${end ?? 'no place'}, so nobody reads the events behind it, up to ${last}`;
    findings.add({ kind: 'log_end', detail });
  }
  return { readable, last };
};

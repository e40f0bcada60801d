import type { StreamName } from '../../domain/common/ids.js';
import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import { type EventLog, isEarlier, type LogPosition, type Revision } from '../../ports/event-log.js';
import { shareOf, type WalkProgress, walkLog, walkStored } from '../event-store/walk-log.js';
import { type Examiner, examined, ownExaminer } from './examiner.js';
import { createFindings, type Finding, type Findings, findingOf, logEndFinding } from './finding.js';
import { type CheckReport, createLogChecker, type LogChecker } from './log-checker.js';
import { createPositionAccount } from './position-account.js';

/** `readable`: false when an event cannot be read at all, so that nothing can fold the log to its end. */
type LogReport = CheckReport & { readable: boolean };

/** `last`: position of the last event, readable or not. */
type WalkResult = { readable: boolean; last: LogPosition | null };

type LogReader = Pick<EventLog, 'readAll' | 'head' | 'readStored' | 'readHidden'>;

type VerifyOptions = { examiner?: Examiner; keySeconds?: number; onProgress?(progress: WalkProgress): void };

/** Checks the whole log (see `createLogChecker`). Needs no key, because hashes and shapes cover the sealed text. */
export const verifyLog = async (
  log: LogReader,
  { examiner = ownExaminer, keySeconds, onProgress }: VerifyOptions = {},
): Promise<LogReport> => {
  const findings = createFindings();
  const checker = createLogChecker('whole', findings, keySeconds);
  // Read before the walk, so that the walk must reach at least this event.
  const head = await log.head();
  const walk: Walk = {
    checker,
    findings,
    examiner,
    reportProgress: () => onProgress?.({ events: checker.events, share: shareOf(checker.lastPosition, head) }),
  };
  const { readable, last } =
    log.readStored === undefined
      ? await checkRead(log, walk)
      : await checkStored({ ...log, readStored: log.readStored }, walk);
  for (const finding of logEndFinding(last, head)) findings.add(finding);
  return { ...checker.finish(), readable };
};

type Walk = { checker: LogChecker; findings: Findings; examiner: Examiner; reportProgress(): void };

const checkRead = async (
  log: LogReader,
  { checker, findings, examiner, reportProgress }: Walk,
): Promise<WalkResult> => {
  let readable = true;
  let last: LogPosition | null = null;
  // Read before the walk, so that the walk meets the end of every test invoice that retention had cut by then.
  const hidden = await log.readHidden?.(ALL_STREAMS);
  const pages = walkLog(log, ALL_STREAMS);
  for await (const { items, examinations } of examined(pages, (read) => ({ form: 'events', items: read }), examiner)) {
    for (const [index, item] of items.entries()) {
      const { event, fault } = examinations[index] ?? { event: undefined, fault: undefined };
      if (isEarlier(last, item.position)) last = item.position;
      if (event !== undefined) checker.check(event);
      else {
        readable = false;
        findings.add(findingOf(item, 'unreadable_event', fault ?? 'the event cannot be read'));
      }
    }
    reportProgress();
  }
  for (const [stream, first] of hidden ?? []) {
    const finding = hiddenFinding(stream, first, checker);
    if (finding !== undefined) findings.add(finding);
  }
  return { readable, last };
};

/** Events that the walk meets and no reader of their stream finds: requests are answered as if the events did not exist. */
const hiddenFinding = (stream: StreamName, first: Revision | null, { streams }: LogChecker): Finding | undefined => {
  const known = streams.get(stream);
  const end = known?.head.revision ?? -1;
  if (first !== null && first <= end) {
    if (known?.isEnded === true) return undefined;
    const detail = `a read of the stream begins with revision ${first}, because its metadata hide what is before`;
    return { kind: 'missing_revision', stream, revision: 0, detail };
  }
  const how = first === null ? 'the stream was deleted for good' : 'its metadata hide every event';
  return { kind: 'missing_revision', stream, revision: 0, detail: `a read of the stream finds nothing: ${how}` };
};

const checkStored = async (
  log: Required<Pick<EventLog, 'readStored' | 'head'>>,
  { checker, findings, examiner, reportProgress }: Walk,
): Promise<WalkResult> => {
  const account = createPositionAccount();
  let readable = true;
  let last: LogPosition | null = null;
  const pages = walkStored(log.readStored);
  for await (const { items, examinations } of examined(pages, (rows) => ({ form: 'rows', items: rows }), examiner)) {
    for (const [index, row] of items.entries()) {
      const { event, fault } = examinations[index] ?? { event: undefined, fault: undefined };
      account.add(row, event, checker.streams.get(row.stream)?.head.revision ?? -1);
      last = row.position;
      if (fault !== undefined) {
        findings.add(findingOf(row, event === undefined ? 'unreadable_event' : 'stored_otherwise', fault));
      }
      if (event === undefined) readable = false;
      else checker.check(event);
    }
    reportProgress();
  }
  for (const finding of account.finish()) findings.add(finding);
  // Read after the walk, so that the head cannot lie before the last event that the walk has seen.
  const end = await log.head();
  if (isEarlier(end, last)) {
    const detail = `the log says that it ends at ${end ?? 'no position'}, so readers miss the events after it, up to ${last}`;
    findings.add({ kind: 'log_end', detail });
  }
  return { readable, last };
};

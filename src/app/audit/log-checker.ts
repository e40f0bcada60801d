import { markOf } from '../../domain/log/life.js';
import { invoicePrefix } from '../../domain/shared/ids.js';
import type { LogPosition, RecordedEvent } from '../../ports/event-log.js';
import { type AnchorCount, type AnchorWalk, createAnchorWalk } from './anchor-walk.js';
import { type ChainHead, checkLink } from './chain.js';
import { checkShape, isIdOfCommand, sealingFault } from './event-schema.js';
import { type FindingKind, type Findings, findingOf } from './finding.js';
import { createLogInvariants } from './log-invariants.js';
import { createSealedCount, type GivenUpCount } from './sealed-count.js';
import { COMMAND, EVENTS, IN_COMMAND, NUMBERS_PER_STREAM } from './stream-numbers.js';
import { createStreamTable, type StreamTable } from './stream-table.js';

/** Which part of a log the events are: all of it, some streams as a whole, or a stretch of time in which streams have no beginning. */
export type Extent = 'whole' | 'streams' | 'stretch';

export type LogChecker = {
  /** Every event, in the order of the log; the hash of its hash text, where it is known already. */
  take(event: RecordedEvent, contentHash?: string): void;
  /** Says what only the end can tell. */
  end(): AnchorCount;
  /** Of the events so far: what no key opens any more is no finding, but is told. */
  givenUp(): readonly GivenUpCount[];
  readonly table: StreamTable;
  readonly events: number;
  readonly lastPosition: LogPosition | null;
};

/**
 * Everything that events can show by themselves: the hash chain of each stream, the shape of each event, how its personal fields
 * are sealed, the invariants of design section 11, and in a whole log its anchors. Memory grows by about 260 bytes a stream and
 * 60 a DPS number, DPS id, allocation and access key; what lies between two anchors is kept until the second.
 */
export const createLogChecker = (extent: Extent, findings: Findings): LogChecker => {
  const table = createStreamTable(NUMBERS_PER_STREAM);
  const invariants = createLogInvariants(table, extent === 'whole');
  const anchors: AnchorWalk | undefined = extent === 'whole' ? createAnchorWalk() : undefined;
  const sealed = createSealedCount();
  let events = 0;
  let lastPosition: LogPosition | null = null;

  const inspect = (event: RecordedEvent, index: number): void => {
    if (!isIdOfCommand(event, placeInCommand(event, table.numbersOf(index)))) {
      report(event, index, 'schema', 'the event id does not derive from its command');
    }
    const shape = checkShape(event);
    if ('fault' in shape) {
      report(event, index, 'schema', shape.fault);
      return;
    }
    const sealing = sealingFault(event, event.stream.startsWith(invoicePrefix.test));
    if (sealing !== undefined) report(event, index, 'sealing', sealing);
    for (const finding of invariants.take(shape.event, index)) findings.add(finding);
  };
  const report = (event: RecordedEvent, index: number, kind: FindingKind, detail: string): void => {
    findings.add(findingOf(event, kind, detail));
    invariants.giveUp(index);
  };

  return {
    table,
    givenUp: () => sealed.givenUp(),
    get events() {
      return events;
    },
    get lastPosition() {
      return lastPosition;
    },
    take: (event, contentHash) => {
      const { stream, revision, position, metadata } = event;
      events += 1;
      sealed.take(event);
      if (lastPosition !== null && position <= lastPosition) {
        findings.add(findingOf(event, 'position_order', 'it stands before the event that it follows'));
      } else lastPosition = position;
      const known = table.find(stream);
      const head: ChainHead | undefined =
        known === undefined ? undefined : { revision: table.revisionOf(known), hash: table.hashOf(known) };
      const { finding, outOfPlace } = checkLink(event, head, { beginsLater: extent === 'stretch', contentHash });
      if (finding !== undefined) findings.add(finding);
      if (outOfPlace === true) return;
      const index = known ?? table.add(stream);
      table.setHead(index, revision, metadata.hash ?? '');
      const numbers = table.numbersOf(index);
      numbers[EVENTS] = (numbers[EVENTS] ?? 0) + 1;
      const midway = head === undefined && revision > 0 && event.type !== 'TestInvoiceDeleted';
      if (finding !== undefined || midway) invariants.giveUp(index);
      if (finding?.kind !== 'hash_mismatch') inspect(event, index);
      for (const one of anchors?.take(event) ?? []) findings.add(one);
    },
    end: () => {
      const { findings: late, count } = anchors?.end() ?? { findings: [], count: { anchors: 0, testPartsGone: 0 } };
      for (const finding of late) findings.add(finding);
      return count;
    },
  };
};

/** How many events of the same command stand directly before this one in its stream. */
const placeInCommand = ({ metadata }: RecordedEvent, numbers: Float64Array): number => {
  // Never 0, which is what a new stream has.
  const mark = markOf(metadata.commandId ?? '') + 1;
  const place = numbers[COMMAND] === mark ? (numbers[IN_COMMAND] ?? 0) + 1 : 0;
  numbers[COMMAND] = mark;
  numbers[IN_COMMAND] = place;
  return place;
};

import type { StreamName } from '../../domain/common/ids.js';
import { DAY_SECONDS } from '../../domain/common/time.js';
import type { LogPosition } from '../../ports/event-log.js';
import { eventIdOf } from '../event-store/codec.js';
import { type AnchorCount, createAnchorWalk } from './anchor-walk.js';
import { type ChainHead, checkLink, isEndOfTestInvoice } from './chain.js';
import type { ExaminedEvent } from './examine.js';
import { type FindingKind, type Findings, findingOf } from './finding.js';
import { createLogInvariants, emptyFold, giveUp, type JudgedEvent, type StreamFold } from './log-invariants.js';

/** Which part of a log is checked: all of it, streams from their beginning on, or a period in which a stream may begin in its middle. */
export type LogScope = 'whole' | 'streams' | 'period';

/** What a walk keeps of a stream. */
type CheckedStream = {
  head: ChainHead;
  /** Whether the head is the end of a test invoice, before which retention cuts everything. */
  isEnded: boolean;
  /** Events that the walk has met in the right order. */
  events: number;
  /** The command of the last event, and how many events of that command directly precede the event. Event ids derive from both. */
  command: { id: string; index: number } | undefined;
  fold: StreamFold;
};

/** `givenUp`: events that are sealed under a given-up key. They are reported, but they are no findings. */
export type CheckReport = {
  streams: number;
  events: number;
  findings: Findings;
  anchors: AnchorCount;
  givenUp: readonly GivenUpCount[];
};

export type LogChecker = {
  /** Checks every event, in the order of the log. */
  check(event: ExaminedEvent): void;
  /** Adds the findings that only the end of the log can show. */
  finish(): CheckReport;
  readonly streams: ReadonlyMap<StreamName, CheckedStream>;
  readonly events: number;
  readonly lastPosition: LogPosition | null;
};

/**
 * Checks everything that events show by themselves: the hash chain of each stream, the shape of each event, how its personal fields are sealed,
 * the invariants of the service (docs/architecture.md#invariants), and in a whole log its anchors. Memory grows with the streams and with the DPS
 * numbers, DPS ids, allocations and access keys (docs/operations/audit.md); events between two anchors are kept until the second anchor.
 * `keySeconds`: how long an Idempotency-Key is good for one invoice (docs/contract.md IDEM-1). Only a rehearsal has less than a day.
 */
export const createLogChecker = (scope: LogScope, findings: Findings, keySeconds = DAY_SECONDS): LogChecker => {
  const streams = new Map<StreamName, CheckedStream>();
  const checkInvariants = createLogInvariants(
    { has: (stream) => streams.has(stream), fromBeginning: scope !== 'period' },
    keySeconds,
  );
  const anchors = scope === 'whole' ? createAnchorWalk() : undefined;
  const sealed = createSealedCount();
  let events = 0;
  let lastPosition: LogPosition | null = null;

  const judge = (event: ExaminedEvent, { command, fold }: CheckedStream): void => {
    const report = (kind: FindingKind, detail: string): void => {
      findings.add(findingOf(event, kind, detail));
      giveUp(fold);
    };
    if (event.id !== eventIdOf(event.metadata.commandId ?? '', command?.index ?? 0))
      report('schema', 'the event id does not derive from its command');
    if (event.shapeFault !== undefined) {
      report('schema', event.shapeFault);
      return;
    }
    if (event.sealingFault !== undefined) report('sealing', event.sealingFault);
    // Sound, because its shape is right.
    for (const finding of checkInvariants(event as unknown as JudgedEvent, fold)) findings.add(finding);
  };

  return {
    streams,
    get events() {
      return events;
    },
    get lastPosition() {
      return lastPosition;
    },
    check: (event) => {
      const { stream, revision, position, metadata } = event;
      events += 1;
      sealed.add(event);
      if (lastPosition !== null && position <= lastPosition) {
        findings.add(findingOf(event, 'position_order', 'its position is not after that of the event before it'));
      } else lastPosition = position;
      const known = streams.get(stream);
      const { finding, notAfterHead } = checkLink(event, known?.head, scope === 'period');
      if (finding !== undefined) findings.add(finding);
      if (notAfterHead === true) return;
      const head = { revision, hash: metadata.hash ?? '' };
      const checked = known ?? { head, isEnded: false, events: 0, command: undefined, fold: emptyFold(stream) };
      if (known === undefined) streams.set(stream, checked);
      checked.head = head;
      checked.isEnded = isEndOfTestInvoice(event);
      checked.events += 1;
      const midway = known === undefined && revision > 0 && event.type !== 'TestInvoiceDeleted';
      if (finding !== undefined || midway) giveUp(checked.fold);
      if (finding?.kind !== 'hash_mismatch') {
        checked.command = commandOf(event, checked.command);
        judge(event, checked);
      }
      for (const one of anchors?.check(event) ?? []) findings.add(one);
    },
    finish: () => {
      const { findings: late, count } = anchors?.finish() ?? { findings: [], count: { anchors: 0, testPartsGone: 0 } };
      for (const finding of late) findings.add(finding);
      return { streams: streams.size, events, findings, anchors: count, givenUp: sealed.givenUp() };
    },
  };
};

const commandOf = (
  { metadata: { commandId = '' } }: ExaminedEvent,
  before: CheckedStream['command'],
): CheckedStream['command'] => ({ id: commandId, index: before?.id === commandId ? before.index + 1 : 0 });

/** Events with a field sealed under a generation of the master key that was given up. They can never be opened, which is no fault of the log. */
type GivenUpCount = { generation: string; events: number };

/** Memory grows with the generations and test days of a log. */
const createSealedCount = () => {
  const sealed = new Map<string, number>();
  const lost = new Set<string>();
  return {
    add: ({ type, data, sealedUnder }: ExaminedEvent): void => {
      if (type === 'MasterKeyGivenUp' && typeof data.generation === 'string') lost.add(data.generation);
      if (sealedUnder !== undefined) sealed.set(sealedUnder, (sealed.get(sealedUnder) ?? 0) + 1);
    },
    /** In the order in which the log says that they were given up, without generations that sealed nothing here. */
    givenUp: (): readonly GivenUpCount[] =>
      [...lost]
        .map((generation) => ({ generation, events: sealed.get(generation) ?? 0 }))
        .filter(({ events }) => events > 0),
  };
};

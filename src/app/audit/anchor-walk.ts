import { createHash } from 'node:crypto';
import * as v from 'valibot';
import type { AnchoredPart, LogAnchor } from '../../domain/audit/events.js';
import type { Mode, StreamName } from '../../domain/common/ids.js';
import { sortedJson } from '../../domain/log/hash-text.js';
import { anchoredPart } from '../../domain/log/stream-prefixes.js';
import { isEarlier, type LogPosition, type Revision } from '../../ports/event-log.js';
import { isEndOfTestInvoice } from './chain.js';
import type { ExaminedEvent } from './examine.js';
import type { Finding } from './finding.js';
import { byStream, merkleRoot } from './merkle.js';
import { anchorFields, strictObject } from './schema-parts.js';

/** What the walk found of the anchors. `testPartsGone`: test parts that cannot be checked, because test invoices in them were deleted since. */
export type AnchorCount = { anchors: number; testPartsGone: number };

/**
 * An anchor is appended a moment after the events that it covers, so other writers may append between. This many events are kept back until the
 * next anchor shows whether it covers them. The writer of an anchor reads on until it is closer than that.
 */
export const ANCHOR_LAG_EVENTS = 50_000;

type Moved = { revision: Revision; hash: string; events: number };

/** Computes the roots of an anchor from the heads of the streams that moved, and the order of its events. */
export const createMovedHeads = () => {
  const parts: Record<Mode, Map<StreamName, Moved>> = { live: new Map(), test: new Map() };
  const order = createHash('sha256');
  return {
    /** Adds every event, in the order of the log. */
    add: ({ stream, revision, hash }: { stream: StreamName; revision: Revision; hash: string }): void => {
      const mode = anchoredPart(stream);
      parts[mode].set(stream, { revision, hash, events: (parts[mode].get(stream)?.events ?? 0) + 1 });
      if (mode === 'live') order.update(`${sortedJson([stream, revision, hash])}\n`);
    },
    /** Of the live part alone, because events of test invoices vanish later. */
    order: (): string => order.copy().digest('hex'),
    part: (mode: Mode): AnchoredPart => {
      const heads = [...parts[mode]].map(([stream, { revision, hash }]) => ({ stream, revision, hash })).sort(byStream);
      const events = [...parts[mode].values()].reduce((sum, moved) => sum + moved.events, 0);
      return { root: merkleRoot(heads), streams: heads.length, events };
    },
  };
};

type Waiting = { position: LogPosition; stream: StreamName; revision: Revision; hash: string };

/**
 * Recomputes each anchor from the events before it. Memory grows with the streams, and with the events between two anchors.
 *
 * Each anchor begins where some anchor before it ended, so every event up to the last anchor lies in a recomputed stretch. Stretches may overlap:
 * earlier versions looked for the anchor before by its day, and a clock may have been wrong for a while (ADR 21). After a finding the walk continues
 * from the end that the anchor names, so that it judges the later anchors too.
 */
export const createAnchorWalk = () => {
  const waiting: Waiting[] = [];
  /** What moved after the furthest end. */
  let moved = createMovedHeads();
  /** What moved in the whole log, for stretches that overlap. */
  const heads = new Map<StreamName, { position: LogPosition; revision: Revision; hash: string }>();
  const events: Record<Mode, number> = { live: 0, test: 0 };
  /** Where anchors ended, each with the events of both parts up to there. */
  const ends = new Map<string, Readonly<Record<Mode, number>>>([['', { ...events }]]);
  let furthest = '';
  /** Position of the last event that is counted for the next anchor although that anchor has not been seen. */
  let counted: LogPosition | null = null;
  let anchors = 0;
  let lastEndOfTest: LogPosition | null = null;
  const doubtful: { finding: Finding; upTo: LogPosition }[] = [];

  const countUpTo = (position: LogPosition): void => {
    const following = waiting.findIndex((one) => one.position > position);
    const covered = waiting.splice(0, following < 0 ? waiting.length : following);
    for (const one of covered) {
      moved.add(one);
      heads.set(one.stream, { position: one.position, revision: one.revision, hash: one.hash });
      events[anchoredPart(one.stream)] += 1;
    }
    counted = covered.at(-1)?.position ?? counted;
  };

  /**
   * The parts of the stretch from an earlier end to the last counted event; undefined when no anchor ended there. The order of a stretch that begins
   * before the furthest end is not known any more: anchors of earlier versions, which have no order, begin there.
   */
  const movedSince = (after: string): (Record<Mode, AnchoredPart> & { order?: string }) | undefined => {
    if (after === furthest) return { live: moved.part('live'), test: moved.part('test'), order: moved.order() };
    const before = ends.get(after);
    if (before === undefined) return undefined;
    const since = createMovedHeads();
    const start = positionOf(after);
    for (const [stream, head] of heads) if (isEarlier(start, head.position)) since.add({ stream, ...head });
    const part = (mode: Mode): AnchoredPart => ({ ...since.part(mode), events: events[mode] - before[mode] });
    return { live: part('live'), test: part('test') };
  };

  const judge = ({ stream, revision, position, data }: ExaminedEvent): readonly Finding[] => {
    const found = (detail: string): Finding => ({ kind: 'anchor_mismatch', stream, revision, detail });
    anchors += 1;
    if (!isAnchor(data)) return [found('it is no anchor that can be read')];
    const anchor: LogAnchor = data;
    const upTo = BigInt(anchor.upTo) as LogPosition;
    if (upTo >= position) return [found('it says that it covers events after itself')];
    if (isEarlier(upTo, positionOf(furthest))) return [found('it ends before an earlier anchor ended')];
    if (isEarlier(upTo, counted)) return [found('it was written long after the events that it covers')];
    countUpTo(upTo);
    const now = movedSince(anchor.after);
    moved = createMovedHeads();
    ends.set(anchor.upTo, { ...events });
    furthest = anchor.upTo;
    counted = null;
    if (now === undefined) return [found('it does not begin where an anchor before it ended')];
    const { live, test } = now;
    if (!sameHeads(test, anchor.test)) doubtful.push({ upTo, finding: found(mismatch('test', test, anchor.test)) });
    const same = sameHeads(live, anchor.live) && live.events === anchor.live.events;
    if (!same) return [found(mismatch('live', live, anchor.live))];
    const isInOrder = anchor.order === undefined || now.order === undefined || anchor.order === now.order;
    return isInOrder ? [] : [found('the events of the live part were anchored in another order')];
  };

  return {
    /** Checks every event of the log, in the order of the log. */
    check: (event: ExaminedEvent): readonly Finding[] => {
      const { stream, revision, position, metadata } = event;
      if (isEndOfTestInvoice(event)) lastEndOfTest = position;
      const findings = event.type === 'LogAnchored' ? judge(event) : [];
      waiting.push({ position, stream, revision, hash: metadata.hash ?? '' });
      const half = waiting[ANCHOR_LAG_EVENTS];
      if (waiting.length >= 2 * ANCHOR_LAG_EVENTS && half !== undefined) countUpTo(half.position);
      return findings;
    },
    finish: (): { findings: readonly Finding[]; count: AnchorCount } => {
      // A test invoice that was deleted later had events among them, which were cut. The root of that part cannot be computed again.
      const gone = doubtful.filter(({ upTo }) => lastEndOfTest !== null && lastEndOfTest > upTo);
      const findings = doubtful.filter((one) => !gone.includes(one)).map(({ finding }) => finding);
      return { findings, count: { anchors, testPartsGone: gone.length } };
    },
  };
};

/** The position that an anchor names; empty is the beginning of the log. */
export const positionOf = (named: string): LogPosition | null => (named === '' ? null : (BigInt(named) as LogPosition));

const anchorSchema = strictObject(anchorFields);

/** An anchor whose hash is wrong may hold anything. */
const isAnchor = (data: unknown): data is LogAnchor => v.is(anchorSchema, data);

/** Event counts are not compared: of a test invoice that ended before the anchor only its last event is left, which is its head. */
const sameHeads = (a: AnchoredPart, b: AnchoredPart): boolean => a.root === b.root && a.streams === b.streams;

const mismatch = (part: Mode, now: AnchoredPart, then: AnchoredPart): string => {
  const counts = (of: AnchoredPart): string => `${of.events} events in ${of.streams} streams`;
  return `the ${part} part was anchored with ${counts(then)}, the log has ${counts(now)}${
    counts(now) === counts(then) ? ' of another content' : ''
  }`;
};

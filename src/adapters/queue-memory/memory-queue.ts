import type { StreamName } from '../../domain/common/ids.js';
import { createLaneTurns, type Lane, testPlacesOf } from '../../lib/lanes.js';
import { settlesWithin } from '../../lib/pause.js';
import { createTurnQueue } from '../../lib/turn-queue.js';
import type { Clock } from '../../ports/clock.js';
import {
  type Delivery,
  type HandlingResult,
  isFromSweep,
  laneOf,
  ownerOf,
  type ParkedWork,
  type WorkItem,
  type WorkQueue,
} from '../../ports/work-queue.js';

/** `dueMs` is on the monotonic clock, so that setting the wall clock makes no pause longer or shorter. */
type Entry = { item: WorkItem; deliveries: number; dueMs: number };

const keyOf = ({ kind, stream }: Pick<WorkItem, 'kind' | 'stream'>): string => `${kind} ${stream}`;

/** Pause before a work item is handled again after its handler threw; a running handler is never cut off. */
const RETRY_AFTER_FAULT_MS = 1_000;

/** Work that takes longer waits for an answer, and leaves its place to the next item. */
const HOLDS_A_PLACE_MS = 1_000;

/**
 * Items that wait for an answer without a place, as a multiple of the places. More would let an outage in which answers hang meet more sends, and take
 * more connections (`OTHER_DESCRIPTORS` counts them). With so many, late items of ten companies leave places for others.
 */
const LATE_PER_PLACE = 3;

/** Companies with items of a lane in hand share its places, as this many companies at most: beside more of them each may have a quarter. */
const SHARING_COMPANIES = 4;

/** Node limits the length of a timer, so a longer wait ends early and is set again. */
const LONGEST_TIMER_MS = 60_000;

/**
 * The queue inside one process. Work items for one stream and kind merge, because each only says that the stream needs a look. What is lost with the
 * process is put back from the open rows of `deadlines`. A key waits, is handled or is parked, never two of them. Live and test work wait in separate
 * lanes, in which companies take turns, and work that waits for an answer frees its place after a second (ADR 29).
 */
export const createMemoryQueue = (clock: Clock): WorkQueue => {
  const waiting = new Map<string, Entry>();
  const paused = createDueHeap<Entry>();
  const ready: Record<Lane, ReturnType<typeof createTurnQueue<Entry>>> = {
    live: createTurnQueue<Entry>(),
    test: createTurnQueue<Entry>(),
  };
  const laneTurns = createLaneTurns();
  /** Of all loops, and those that handle test work. */
  let places = 0;
  let testHandled = 0;
  const late: Record<Lane, number> = { live: 0, test: 0 };
  const handling = new Map<string, { again: WorkItem | undefined }>();
  const inHand: Record<Lane, Map<string, number>> = { live: new Map(), test: new Map() };
  const parked = new Map<string, ParkedWork>();
  /** Each function wakes one idle loop. */
  const idle = new Set<() => void>();

  /** An entry that was replaced by an earlier one stays in the heap until it reaches the top. */
  const firstPaused = (): Entry | undefined => {
    for (;;) {
      const entry = paused.first();
      if (entry === undefined || waiting.get(keyOf(entry.item)) === entry) return entry;
      paused.pop();
    }
  };

  const makeReady = (entry: Entry): void => ready[laneOf(entry.item.stream)].push(ownerOf(entry.item), entry);

  const endPauses = (): void => {
    const nowMs = performance.now();
    for (let entry = firstPaused(); entry !== undefined && entry.dueMs <= nowMs; entry = firstPaused()) {
      paused.pop();
      makeReady(entry);
    }
  };

  const mayBegin = (lane: Lane): boolean =>
    !ready[lane].isEmpty() && (lane === 'live' || testHandled < testPlacesOf(places));

  let timer: NodeJS.Timeout | undefined;
  /** While a loop is idle, an entry that may begin has woken a loop, or else the timer is set for the end of the first pause. */
  const watch = (): void => {
    clearTimeout(timer);
    const [wake] = idle;
    if (wake === undefined) return;
    endPauses();
    const entry = firstPaused();
    if (mayBegin('live') || mayBegin('test')) wake();
    else if (entry !== undefined) {
      timer = setTimeout(watch, Math.min(LONGEST_TIMER_MS, Math.ceil(entry.dueMs - performance.now())));
    }
  };

  const wakeAll = (): void => {
    clearTimeout(timer);
    for (const wake of idle) wake();
  };

  /** Resolves when something may begin or when work ends: an abort wakes all loops. */
  const sleep = (): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        idle.delete(wake);
        resolve();
      };
      idle.add(wake);
      watch();
    });

  const enqueue = (entry: Entry): void => {
    waiting.set(keyOf(entry.item), entry);
    // What was due before goes first.
    endPauses();
    if (entry.dueMs <= performance.now()) makeReady(entry);
    else paused.push(entry);
    watch();
  };

  const put = (item: WorkItem): void => {
    const key = keyOf(item);
    // A parked work item stays parked unless new work came for its stream.
    if (parked.has(key) && isFromSweep(item)) return;
    parked.delete(key);
    const busy = handling.get(key);
    if (busy !== undefined) {
      // The stream is being handled already; only new work may have come too late for that.
      if (!isFromSweep(item)) busy.again = item;
      return;
    }
    const nowMs = performance.now();
    const known = waiting.get(key);
    if (known === undefined) enqueue({ item, deliveries: 0, dueMs: nowMs });
    else if (known.dueMs > nowMs && !isFromSweep(item)) enqueue({ ...known, dueMs: nowMs });
  };

  /** Counts late items too, so that a company which is alone in a lane has at most as many items of the lane in hand as there are places. */
  const count = (item: WorkItem, change: 1 | -1): void => {
    const [lane, owner] = [laneOf(item.stream), ownerOf(item)];
    const companies = inHand[lane];
    const now = (companies.get(owner) ?? 0) + change;
    if (now === 0) companies.delete(owner);
    else companies.set(owner, now);
    const share = Math.ceil(places / Math.max(1, Math.min(SHARING_COMPANIES, companies.size)));
    const weigh = (company: string): void => {
      if ((companies.get(company) ?? 0) >= share) ready[lane].hold(company);
      else ready[lane].release(company);
    };
    weigh(owner);
    // The share of the others changes as well while they are few.
    if (companies.size < SHARING_COMPANIES) for (const company of companies.keys()) weigh(company);
  };

  /** Live work finds room among the late items too. */
  const mayBeLate = (lane: Lane): boolean => {
    const most = places * LATE_PER_PLACE;
    return late.live + late.test < most && (lane === 'live' || late.test < testPlacesOf(most));
  };

  const takeNext = (): Entry | undefined => {
    endPauses();
    const entry = laneTurns((lane) => (mayBegin(lane) ? ready[lane].next() : undefined));
    if (entry === undefined) return undefined;
    const { item } = entry;
    waiting.delete(keyOf(item));
    handling.set(keyOf(item), { again: undefined });
    count(item, 1);
    if (laneOf(item.stream) === 'test') testHandled += 1;
    watch();
    return entry;
  };

  const finish = async (entry: Entry, handle: (delivery: Delivery) => Promise<HandlingResult>): Promise<void> => {
    const { item } = entry;
    const key = keyOf(item);
    const deliveries = entry.deliveries + 1;
    const result = await handle({ ...item, deliveries }).catch(() => ({
      kind: 'retry' as const,
      afterMs: RETRY_AFTER_FAULT_MS,
    }));
    const again = handling.get(key)?.again;
    handling.delete(key);
    count(item, -1);
    // New work wakes what is parked, also when it came while the item was handled.
    if (again !== undefined) put(again);
    else if (result.kind === 'park') parked.set(key, { ...item, reason: result.reason, parkedAt: clock.now() });
    else if (result.kind === 'retry') enqueue({ item, deliveries, dueMs: performance.now() + result.afterMs });
  };

  return {
    put: async (item) => put(item),
    work: async ({ concurrency, signal, handle }) => {
      signal.addEventListener('abort', wakeAll, { once: true });
      const unfinished = new Set<Promise<void>>();
      /** Resolves when the item has left its place, which is within a second unless too many items are late. */
      const occupy = async (entry: Entry): Promise<void> => {
        const lane = laneOf(entry.item.stream);
        const finished = finish(entry, handle);
        if (await settlesWithin(HOLDS_A_PLACE_MS, finished)) return;
        if (!mayBeLate(lane)) return await finished;
        late[lane] += 1;
        const ended = finished.then(() => {
          late[lane] -= 1;
          unfinished.delete(ended);
          // The company may have been held, and no loop comes from this item.
          watch();
        });
        unfinished.add(ended);
      };
      const loop = async (): Promise<void> => {
        while (!signal.aborted) {
          const entry = takeNext();
          if (entry === undefined) await sleep();
          else {
            await occupy(entry);
            if (laneOf(entry.item.stream) === 'test') testHandled -= 1;
          }
        }
      };
      places += concurrency;
      await Promise.all(Array.from({ length: concurrency }, loop));
      await Promise.all(unfinished);
      places -= concurrency;
    },
    depth: async () => waiting.size + handling.size,
    parked: async () => ({ work: [...parked.values()], count: parked.size }),
    isParked: async (stream) => [...parked.values()].some((item) => item.stream === stream),
    retryParked: async (stream: StreamName) => {
      const found = [...parked].filter(([, item]) => item.stream === stream);
      for (const [key, { kind, messageId }] of found) {
        parked.delete(key);
        put({ kind, stream, messageId });
      }
      return found.length > 0;
    },
  };
};

type Node<T> = { item: T; order: number };

/** A binary heap: items in order of `dueMs`; items that are due at the same time come in the order they were pushed. */
export const createDueHeap = <T extends { dueMs: number }>() => {
  const nodes: Node<T>[] = [];
  let pushed = 0;

  const isBefore = (a: Node<T>, b: Node<T>): boolean =>
    a.item.dueMs < b.item.dueMs || (a.item.dueMs === b.item.dueMs && a.order < b.order);

  const earlierChild = (at: number): number => {
    const left = nodes[2 * at + 1];
    const right = nodes[2 * at + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
  };

  const rise = (node: Node<T>, from: number): void => {
    let at = from;
    while (at > 0) {
      const above = Math.floor((at - 1) / 2);
      const parent = nodes[above];
      if (parent === undefined || !isBefore(node, parent)) break;
      nodes[at] = parent;
      at = above;
    }
    nodes[at] = node;
  };

  const sink = (node: Node<T>): void => {
    let at = 0;
    for (;;) {
      const below = earlierChild(at);
      const child = nodes[below];
      if (child === undefined || !isBefore(child, node)) break;
      nodes[at] = child;
      at = below;
    }
    nodes[at] = node;
  };

  return {
    push: (item: T): void => {
      pushed += 1;
      rise({ item, order: pushed }, nodes.length);
    },
    first: (): T | undefined => nodes[0]?.item,
    /** Removes the first item. */
    pop: (): void => {
      const last = nodes.pop();
      if (last !== undefined && nodes.length > 0) sink(last);
    },
  };
};

import type { StreamName } from '../../domain/common/ids.js';
import type { Clock } from '../../ports/clock.js';
import {
  type Delivery,
  type HandlingResult,
  isFromSweep,
  type ParkedWork,
  type WorkItem,
  type WorkQueue,
} from '../../ports/work-queue.js';

/** `dueMs` is on the monotonic clock, so that setting the wall clock makes no pause longer or shorter. */
type Entry = { item: WorkItem; deliveries: number; dueMs: number };

const keyOf = ({ kind, stream }: Pick<WorkItem, 'kind' | 'stream'>): string => `${kind} ${stream}`;

/** Pause before a work item is handled again after its handler threw; a running handler is never cut off. */
const RETRY_AFTER_FAULT_MS = 1_000;

/** Node limits the length of a timer, so a longer wait ends early and is set again. */
const LONGEST_TIMER_MS = 60_000;

/**
 * The queue inside one process. Work items for one stream and kind merge, because each only says that the stream needs a look. What is lost with the
 * process is put back from the open rows of `deadlines`. A key waits, is handled or is parked, never two of them.
 */
export const createMemoryQueue = (clock: Clock): WorkQueue => {
  const waiting = new Map<string, Entry>();
  const byDue = createDueHeap<Entry>();
  const handling = new Map<string, { again: WorkItem | undefined }>();
  const parked = new Map<string, ParkedWork>();
  /** Each function wakes one idle loop. */
  const idle = new Set<() => void>();

  /** An entry that was replaced by an earlier one stays in the heap until it reaches the top. */
  const first = (): Entry | undefined => {
    for (;;) {
      const entry = byDue.first();
      if (entry === undefined || waiting.get(keyOf(entry.item)) === entry) return entry;
      byDue.pop();
    }
  };

  let timer: NodeJS.Timeout | undefined;
  /** While a loop is idle, the first entry has woken a loop if it is due, or else the timer is set for it. */
  const watch = (): void => {
    clearTimeout(timer);
    const entry = first();
    const [wake] = idle;
    if (entry === undefined || wake === undefined) return;
    const ms = Math.ceil(entry.dueMs - performance.now());
    if (ms <= 0) wake();
    else timer = setTimeout(watch, Math.min(LONGEST_TIMER_MS, ms));
  };

  const wakeAll = (): void => {
    clearTimeout(timer);
    for (const wake of idle) wake();
  };

  /** Resolves when something is due or when work ends: an abort wakes all loops. */
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
    byDue.push(entry);
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

  const takeDue = (): Entry | undefined => {
    const entry = first();
    if (entry === undefined || entry.dueMs > performance.now()) return undefined;
    byDue.pop();
    waiting.delete(keyOf(entry.item));
    handling.set(keyOf(entry.item), { again: undefined });
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
    // New work wakes what is parked, also when it came while the item was handled.
    if (again !== undefined) put(again);
    else if (result.kind === 'park') parked.set(key, { ...item, reason: result.reason, parkedAt: clock.now() });
    else if (result.kind === 'retry') enqueue({ item, deliveries, dueMs: performance.now() + result.afterMs });
  };

  return {
    put: async (item) => put(item),
    work: async ({ concurrency, signal, handle }) => {
      signal.addEventListener('abort', wakeAll, { once: true });
      const loop = async (): Promise<void> => {
        while (!signal.aborted) {
          const entry = takeDue();
          if (entry === undefined) await sleep();
          else await finish(entry, handle);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, loop));
    },
    depth: async () => waiting.size + handling.size,
    parked: async () => [...parked.values()],
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

import type { StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import {
  type Delivery,
  type HandlingResult,
  isFromSweep,
  type ParkedWork,
  type WorkItem,
  type WorkQueue,
} from '../../ports/work-queue.js';

type Kind = WorkItem['kind'];

/** `dueMs` is on the monotonic clock, so that setting the wall clock makes no pause longer or shorter. */
type Entry = { item: WorkItem; deliveries: number; dueMs: number };

const kindsOfWork = ['issue', 'cancel'] as const satisfies readonly Kind[];

type IdleLane = { kinds: readonly Kind[]; wake(): void };

const keyOf = ({ kind, stream }: Pick<WorkItem, 'kind' | 'stream'>): string => `${kind} ${stream}`;

/** Pause before a work item is handled again after its handler threw; a running handler is never cut off. */
const RETRY_AFTER_FAULT_MS = 1_000;

/**
 * The queue inside one process. Work items for one stream and kind merge, because each only says that the stream needs a look. What is lost with the
 * process is put back from the open rows of `deadlines`. A key waits, is handled or is parked, never two of them.
 */
export const createMemoryQueue = (clock: Clock): WorkQueue => {
  const waiting = new Map<string, Entry>();
  const byDue = { issue: createDueHeap<Entry>(), cancel: createDueHeap<Entry>() };
  const handling = new Map<string, { again: WorkItem | undefined }>();
  const parked = new Map<string, ParkedWork>();
  const idle = new Set<IdleLane>();

  /** An entry that was replaced by an earlier one stays in its heap until it reaches the top. */
  const firstOf = (kind: Kind): Entry | undefined => {
    for (;;) {
      const entry = byDue[kind].first();
      if (entry === undefined || waiting.get(keyOf(entry.item)) === entry) return entry;
      byDue[kind].pop();
    }
  };

  const wakeOne = (kind: Kind): void => {
    for (const lane of idle) {
      if (!lane.kinds.includes(kind)) continue;
      lane.wake();
      return;
    }
  };

  /** While a lane is idle, the first entry of each kind has woken a lane if it is due, or else the alarm is set for it. */
  const watch = (kinds: readonly Kind[]): void => {
    for (const kind of kinds) {
      const entry = firstOf(kind);
      if (entry === undefined || idle.size === 0) continue;
      if (entry.dueMs <= performance.now()) wakeOne(kind);
      else alarm.setFor(entry.dueMs);
    }
  };
  const alarm = createAlarm(() => watch(kindsOfWork));

  const wakeAll = (): void => {
    alarm.clear();
    for (const lane of idle) lane.wake();
  };

  /** Resolves when something is due or when work ends: an abort wakes all lanes. */
  const sleep = (kinds: readonly Kind[]): Promise<void> =>
    new Promise((resolve) => {
      const lane: IdleLane = {
        kinds,
        wake: () => {
          idle.delete(lane);
          resolve();
        },
      };
      idle.add(lane);
      watch(kinds);
    });

  const enqueue = (entry: Entry): void => {
    const { kind } = entry.item;
    waiting.set(keyOf(entry.item), entry);
    byDue[kind].push(entry);
    watch([kind]);
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

  const takeDue = (kinds: readonly Kind[]): Entry | undefined => {
    const [entry] = kinds
      .flatMap((kind) => firstOf(kind) ?? [])
      .filter(({ dueMs }) => dueMs <= performance.now())
      .sort((a, b) => a.dueMs - b.dueMs);
    if (entry === undefined) return undefined;
    byDue[entry.item.kind].pop();
    waiting.delete(keyOf(entry.item));
    handling.set(keyOf(entry.item), { again: undefined });
    watch(kinds);
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
    work: async ({ kinds, concurrency, signal, handle }) => {
      signal.addEventListener('abort', wakeAll, { once: true });
      const lane = async (): Promise<void> => {
        while (!signal.aborted) {
          const entry = takeDue(kinds);
          if (entry === undefined) await sleep(kinds);
          else await finish(entry, handle);
        }
      };
      await Promise.all(Array.from({ length: concurrency }, lane));
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

/** Node limits the length of a timer, so a longer wait rings early and its caller sets it again. */
const LONGEST_MS = 60_000;

/** One timer for the earliest instant that was set, in milliseconds of the monotonic clock. */
const createAlarm = (ring: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  let setForMs = Number.POSITIVE_INFINITY;

  const clear = (): void => {
    clearTimeout(timer);
    setForMs = Number.POSITIVE_INFINITY;
  };

  return {
    setFor: (dueMs: number): void => {
      if (setForMs <= dueMs) return;
      clear();
      setForMs = dueMs;
      const ms = Math.max(1, Math.ceil(dueMs - performance.now()));
      timer = setTimeout(
        () => {
          setForMs = Number.POSITIVE_INFINITY;
          ring();
        },
        Math.min(LONGEST_MS, ms),
      );
    },
    clear,
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

import type { StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import {
  type Delivery,
  isReput,
  type ParkedTap,
  type Tap,
  type Verdict,
  type WorkQueue,
} from '../../ports/work-queue.js';
import { createAlarm } from './alarm.js';
import { createDueHeap } from './due-heap.js';

type Kind = Tap['kind'];

/** `dueMs` is on the monotonic clock: setting the wall clock makes no pause longer or shorter. */
type Entry = { tap: Tap; deliveries: number; dueMs: number };

const kindsOfWork = ['issue', 'cancel'] as const satisfies readonly Kind[];

type IdleLane = { kinds: readonly Kind[]; wake(): void };

const keyOf = ({ kind, stream }: Pick<Tap, 'kind' | 'stream'>): string => `${kind} ${stream}`;

/** A worker that holds its tap longer than this after a failure tries again; work itself is never cut off. */
const RETRY_AFTER_FAULT_MS = 1_000;

/**
 * The queue inside one process. Taps for one stream and kind merge: a tap only says "look". What is lost with the
 * process is refilled from the open rows of `deadlines`. A key waits, is handled or is parked: never two of them.
 */
export const createMemoryQueue = (clock: Clock): WorkQueue => {
  const waiting = new Map<string, Entry>();
  const byDue = { issue: createDueHeap<Entry>(), cancel: createDueHeap<Entry>() };
  const handling = new Map<string, { again: Tap | undefined }>();
  const parked = new Map<string, ParkedTap>();
  const idle = new Set<IdleLane>();

  /** An entry that was replaced by an earlier one stays in its heap until it comes to the top. */
  const firstOf = (kind: Kind): Entry | undefined => {
    for (;;) {
      const entry = byDue[kind].first();
      if (entry === undefined || waiting.get(keyOf(entry.tap)) === entry) return entry;
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

  /** While a lane is idle, what is due first of each kind has woken one, or the alarm is set for it. */
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

  /** Until something is due, or work is to end: whoever aborts wakes everybody. */
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
    const { kind } = entry.tap;
    waiting.set(keyOf(entry.tap), entry);
    byDue[kind].push(entry);
    watch([kind]);
  };

  const put = (tap: Tap): void => {
    const key = keyOf(tap);
    // What was parked is left alone, unless something new happened to its stream.
    if (parked.has(key) && isReput(tap)) return;
    parked.delete(key);
    const busy = handling.get(key);
    if (busy !== undefined) {
      // Who handles it is looking already; only new work may have come too late for that look.
      if (!isReput(tap)) busy.again = tap;
      return;
    }
    const nowMs = performance.now();
    const known = waiting.get(key);
    if (known === undefined) enqueue({ tap, deliveries: 0, dueMs: nowMs });
    else if (known.dueMs > nowMs && !isReput(tap)) enqueue({ ...known, dueMs: nowMs });
  };

  const takeDue = (kinds: readonly Kind[]): Entry | undefined => {
    const [entry] = kinds
      .flatMap((kind) => firstOf(kind) ?? [])
      .filter(({ dueMs }) => dueMs <= performance.now())
      .sort((a, b) => a.dueMs - b.dueMs);
    if (entry === undefined) return undefined;
    byDue[entry.tap.kind].pop();
    waiting.delete(keyOf(entry.tap));
    handling.set(keyOf(entry.tap), { again: undefined });
    watch(kinds);
    return entry;
  };

  const finish = async (entry: Entry, handle: (delivery: Delivery) => Promise<Verdict>): Promise<void> => {
    const { tap } = entry;
    const key = keyOf(tap);
    const deliveries = entry.deliveries + 1;
    const verdict = await handle({ ...tap, deliveries }).catch(() => ({
      kind: 'retry' as const,
      afterMs: RETRY_AFTER_FAULT_MS,
    }));
    const again = handling.get(key)?.again;
    handling.delete(key);
    if (verdict.kind === 'park') parked.set(key, { ...tap, reason: verdict.reason, parkedAt: clock.now() });
    else if (again !== undefined) put(again);
    else if (verdict.kind === 'retry') enqueue({ tap, deliveries, dueMs: performance.now() + verdict.afterMs });
  };

  return {
    put: async (tap) => put(tap),
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
      const found = [...parked].filter(([, tap]) => tap.stream === stream);
      for (const [key, { kind, messageId }] of found) {
        parked.delete(key);
        put({ kind, stream, messageId });
      }
      return found.length > 0;
    },
  };
};

import type { StreamName } from '../../../src/domain/shared/ids.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Delivery, ParkedTap, Tap, WorkQueue } from '../../../src/ports/work-queue.js';

type Entry = { tap: Tap; deliveries: number; dueMs: number };

const keyOf = ({ kind, stream }: Pick<Tap, 'kind' | 'stream'>): string => `${kind} ${stream}`;

/** A worker that holds its tap longer than this after a failure tries again; work itself is never cut off. */
const RETRY_AFTER_FAULT_MS = 1_000;

/**
 * The queue inside one process. Taps for one stream and kind merge: a tap only says "look". What is lost with the
 * process is refilled from the open rows of `deadlines`.
 */
export const createMemoryQueue = (clock: Clock): WorkQueue => {
  const waiting = new Map<string, Entry>();
  const handling = new Map<string, { again: Tap | undefined }>();
  const parked = new Map<string, ParkedTap>();
  const idle = new Set<() => void>();

  const wake = (): void => {
    for (const resolve of idle) resolve();
    idle.clear();
  };

  const add = (tap: Tap, deliveries: number, delayMs: number): void => {
    const key = keyOf(tap);
    const busy = handling.get(key);
    if (busy !== undefined) {
      busy.again = tap;
      return;
    }
    const dueMs = Date.now() + delayMs;
    const known = waiting.get(key);
    waiting.set(
      key,
      known === undefined ? { tap, deliveries, dueMs } : { ...known, dueMs: Math.min(known.dueMs, dueMs) },
    );
    wake();
  };

  const takeDue = (kinds: readonly Tap['kind'][]): Entry | undefined => {
    const nowMs = Date.now();
    for (const [key, entry] of waiting) {
      if (entry.dueMs > nowMs || !kinds.includes(entry.tap.kind)) continue;
      waiting.delete(key);
      handling.set(key, { again: undefined });
      return entry;
    }
    return undefined;
  };

  const msToNext = (kinds: readonly Tap['kind'][]): number => {
    const due = [...waiting.values()].filter(({ tap }) => kinds.includes(tap.kind)).map(({ dueMs }) => dueMs);
    return due.length === 0 ? 60_000 : Math.max(1, Math.min(60_000, Math.min(...due) - Date.now()));
  };

  const finish = async (
    entry: Entry,
    handle: (delivery: Delivery) => ReturnType<Parameters<WorkQueue['work']>[0]['handle']>,
  ) => {
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
    else if (again !== undefined) add(again, 0, 0);
    else if (verdict.kind === 'retry') add(tap, deliveries, verdict.afterMs);
  };

  return {
    put: async (tap) => add(tap, 0, 0),
    work: async ({ kinds, concurrency, signal, handle }) => {
      signal.addEventListener('abort', wake, { once: true });
      const lane = async (): Promise<void> => {
        while (!signal.aborted) {
          const entry = takeDue(kinds);
          if (entry !== undefined) await finish(entry, handle);
          else await waitForWork(msToNext(kinds), idle);
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
        add({ kind, stream, messageId }, 0, 0);
      }
      return found.length > 0;
    },
  };
};

/** Until something is put, something is due, or the work is to end: whoever aborts wakes everybody. */
const waitForWork = (ms: number, idle: Set<() => void>): Promise<void> =>
  new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      idle.delete(finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    idle.add(finish);
  });

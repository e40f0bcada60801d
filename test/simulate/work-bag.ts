import { addSeconds, type Instant, isBefore } from '../../src/domain/common/time.js';
import type { Delivery, HandlingResult, WorkItem, WorkQueue } from '../../src/ports/work-queue.js';
import type { Process, Scheduler } from './scheduler.js';

type Entry = { item: WorkItem; deliveries: number; due: Instant };
type Lane = { of: Process; handle(delivery: Delivery): Promise<HandlingResult> };

/** The queue of all processes: it keeps no order, may deliver twice, and loses the work of a process that dies when it lives inside. */
export type WorkBag = {
  /** As one process reaches it. */
  queueOf(process: Process): WorkQueue;
  /** Delivers some work a second time, also to another process while the first still works on it. */
  deliverAgain(place: number): void;
  /** Puts the work of a process that died back, or forgets it. */
  leave(process: Process, isKept: boolean): void;
  parked: WorkItem[];
};

/** A silent worker loses its work to others after this. */
const BACK_AFTER_SECONDS = 30;

export const createWorkBag = (scheduler: Scheduler): WorkBag => {
  const { clock } = scheduler;
  const entries: Entry[] = [];
  const known: WorkItem[] = [];
  const idle: Lane[] = [];
  const inHand = new Map<Process, Set<Entry>>();
  const parked: WorkItem[] = [];

  const add = (entry: Entry): void => {
    entries.push(entry);
    if (isBefore(clock.now(), entry.due)) scheduler.at(entry.due, dispatch);
    else dispatch();
  };

  const dispatch = (): void => {
    for (;;) {
      const place = entries.findIndex(({ due }) => !isBefore(clock.now(), due));
      if (place < 0 || idle.length === 0) return;
      const [entry] = entries.splice(place, 1);
      const lane = idle.shift();
      if (entry !== undefined && lane !== undefined) void deliver(lane, entry);
    }
  };

  const deliver = async (lane: Lane, entry: Entry): Promise<void> => {
    const { of, handle } = lane;
    const own = inHand.get(of) ?? new Set();
    inHand.set(of, own.add(entry));
    await of.turn(`takes ${entry.item.kind} ${entry.item.stream.slice(-4)}`);
    const deliveries = entry.deliveries + 1;
    const result = await handle({ ...entry.item, deliveries });
    own.delete(entry);
    if (result.kind === 'retry')
      add({ ...entry, deliveries, due: addSeconds(clock.now(), Math.ceil(result.afterMs / 1_000)) });
    if (result.kind === 'park') parked.push(entry.item);
    idle.push(lane);
    dispatch();
  };

  const isWaiting = ({ kind, stream }: WorkItem): boolean =>
    entries.some(({ item }) => item.kind === kind && item.stream === stream);

  return {
    parked,
    queueOf: (process) => ({
      put: async (item) => {
        await process.turn(`puts ${item.kind} ${item.stream.slice(-4)}`);
        known.push(item);
        if (!isWaiting(item)) add({ item, deliveries: 0, due: clock.now() });
      },
      work: async ({ concurrency, handle }) => {
        idle.push(...Array.from({ length: concurrency }, () => ({ of: process, handle })));
        dispatch();
        await process.crashed;
      },
      depth: async () => entries.length,
      parked: async () => ({ work: [], count: 0 }),
      isParked: async () => false,
      retryParked: async () => false,
    }),
    deliverAgain: (place) => {
      const item = known[place % Math.max(1, known.length)];
      if (item !== undefined) add({ item, deliveries: 0, due: clock.now() });
    },
    leave: (process, isKept) => {
      for (let place = idle.length - 1; place >= 0; place -= 1) if (idle[place]?.of === process) idle.splice(place, 1);
      const own = inHand.get(process) ?? new Set();
      inHand.delete(process);
      if (isKept) for (const entry of own) add({ ...entry, due: addSeconds(clock.now(), BACK_AFTER_SECONDS) });
    },
  };
};

import { createLaneTurns, type Lane, testPlacesOf } from '../../lib/lanes.js';
import { laneOf, type WorkItem } from '../../ports/work-queue.js';
import type { WorkMessage } from './message.js';

export type Held = { item: WorkItem; message: WorkMessage };

const keyOf = ({ kind, stream }: WorkItem): string => `${kind} ${stream}`;

const isSame = (a: WorkMessage, b: WorkMessage): boolean => a.sequence === b.sequence && a.storedAt === b.storedAt;

/** The messages that this process holds: ready, being handled, or come for a stream that is being handled. */
export const createIntake = (places: number) => {
  const ready: Record<Lane, Held[]> = { live: [], test: [] };
  const handling = new Map<string, { held: Held; again: Held | undefined }>();
  const testPlaces = testPlacesOf(places);
  const laneTurns = createLaneTurns();

  const testHandled = (): number =>
    [...handling.values()].filter(({ held }) => laneOf(held.item.stream) === 'test').length;

  const add = (held: Held): void => {
    const key = keyOf(held.item);
    const busy = handling.get(key);
    if (busy !== undefined) {
      // The server sends a message again when it takes its holder for dead. Another message has replaced the first one on the server.
      if (isSame(busy.held.message, held.message)) busy.held = held;
      else busy.again = held;
      return;
    }
    const lane = ready[laneOf(held.item.stream)];
    const known = lane.findIndex(({ item }) => keyOf(item) === key);
    if (known === -1) lane.push(held);
    else lane[known] = held;
  };

  const takeFrom = (lane: Lane): Held | undefined =>
    lane === 'test' && testHandled() >= testPlaces ? undefined : ready[lane].shift();

  return {
    add,
    /** The next message to handle; undefined when none is ready or all workers are busy. */
    take: (): Held | undefined => {
      if (handling.size >= places) return undefined;
      const held = laneTurns(takeFrom);
      if (held === undefined) return undefined;
      handling.set(keyOf(held.item), { held, again: undefined });
      return held;
    },
    /** Ends the handling of this stream and kind. A message that came for it meanwhile becomes ready if it is kept. */
    finish: (item: WorkItem, what: 'keep' | 'drop'): void => {
      const again = handling.get(keyOf(item))?.again;
      handling.delete(keyOf(item));
      if (again !== undefined && what === 'keep') add(again);
    },
    /** The newest delivery of the message that is being handled; only its answer counts. */
    messageOf: (item: WorkItem): WorkMessage | undefined => handling.get(keyOf(item))?.held.message,
    /** How many messages to request now; 0 or less means none. */
    room: (lane: Lane): number => {
      const free = places - handling.size - ready.live.length;
      return lane === 'live' ? free : Math.min(free, testPlaces - testHandled()) - ready.test.length;
    },
    held: (): readonly WorkMessage[] => {
      const waiting = [...ready.live, ...ready.test].map(({ message }) => message);
      const busy = [...handling.values()].flatMap(({ held, again }) =>
        again === undefined ? [held.message] : [held.message, again.message],
      );
      return [...waiting, ...busy];
    },
    /** Removes and returns everything that is not being handled. */
    release: (): readonly WorkMessage[] => {
      const waiting = [...ready.live.splice(0), ...ready.test.splice(0)];
      for (const busy of handling.values()) {
        if (busy.again !== undefined) waiting.push(busy.again);
        busy.again = undefined;
      }
      return waiting.map(({ message }) => message);
    },
  };
};

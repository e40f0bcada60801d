import type { Tap } from '../../ports/work-queue.js';
import type { WorkMessage } from './message.js';
import { type Lane, laneOf } from './names.js';

export type Held = { tap: Tap; message: WorkMessage };

/** What this process holds of the queue: ready, being handled, or come for a stream that is being handled. */
export type Intake = {
  add(held: Held): void;
  /** The next to handle; undefined when there is none, or no place for it. */
  take(): Held | undefined;
  /** Ends the handling of this tap's stream; `again` is what came for it meanwhile, and is ready if it is kept. */
  finish(tap: Tap, again: 'keep' | 'drop'): void;
  /** The newest delivery of what is handled: the one whose answer counts. */
  messageOf(tap: Tap): WorkMessage | undefined;
  /** How many messages to ask for now; not above 0 means none. */
  room(lane: Lane): number;
  held(): readonly WorkMessage[];
  /** Takes out everything that is not being handled. */
  release(): readonly WorkMessage[];
};

/** Live work goes first, but every so many-th place goes to test work, so that neither can starve the other. */
const TEST_TURN = 4;
/** Part of the places that test work never takes, so that live work finds one free. */
const LIVE_SHARE = 4;

const keyOf = ({ kind, stream }: Tap): string => `${kind} ${stream}`;

const isSame = (a: WorkMessage, b: WorkMessage): boolean => a.sequence === b.sequence && a.storedAt === b.storedAt;

export const createIntake = (places: number): Intake => {
  const ready: Record<Lane, Held[]> = { live: [], test: [] };
  const handling = new Map<string, { held: Held; again: Held | undefined }>();
  const testPlaces = places === 1 ? 1 : places - Math.ceil(places / LIVE_SHARE);
  let taken = 0;

  const testHandled = (): number =>
    [...handling.values()].filter(({ held }) => laneOf(held.tap.stream) === 'test').length;

  const add = (held: Held): void => {
    const key = keyOf(held.tap);
    const busy = handling.get(key);
    if (busy !== undefined) {
      // The same message once more: its holder was thought dead. Another one took its place on the server.
      if (isSame(busy.held.message, held.message)) busy.held = held;
      else busy.again = held;
      return;
    }
    const lane = ready[laneOf(held.tap.stream)];
    const known = lane.findIndex(({ tap }) => keyOf(tap) === key);
    if (known === -1) lane.push(held);
    else lane[known] = held;
  };

  const takeFrom = (lane: Lane): Held | undefined =>
    lane === 'test' && testHandled() >= testPlaces ? undefined : ready[lane].shift();

  return {
    add,
    take: () => {
      if (handling.size >= places) return undefined;
      const held =
        (taken + 1) % TEST_TURN === 0 ? (takeFrom('test') ?? takeFrom('live')) : (takeFrom('live') ?? takeFrom('test'));
      if (held === undefined) return undefined;
      taken += 1;
      handling.set(keyOf(held.tap), { held, again: undefined });
      return held;
    },
    finish: (tap, what) => {
      const again = handling.get(keyOf(tap))?.again;
      handling.delete(keyOf(tap));
      if (again !== undefined && what === 'keep') add(again);
    },
    messageOf: (tap) => handling.get(keyOf(tap))?.held.message,
    room: (lane) => {
      const free = places - handling.size - ready.live.length;
      return lane === 'live' ? free : Math.min(free, testPlaces - testHandled()) - ready.test.length;
    },
    held: () => [
      ...[...ready.live, ...ready.test].map(({ message }) => message),
      ...[...handling.values()].flatMap(({ held, again }) => [
        held.message,
        ...(again === undefined ? [] : [again.message]),
      ]),
    ],
    release: () => {
      const waiting = [...ready.live.splice(0), ...ready.test.splice(0)];
      for (const busy of handling.values()) {
        if (busy.again !== undefined) waiting.push(busy.again);
        busy.again = undefined;
      }
      return waiting.map(({ message }) => message);
    },
  };
};

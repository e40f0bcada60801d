import type { EventOf } from '../common/event-of.js';
import type { Instant } from '../common/time.js';

/** The kill switch of the whole API. Storage format: types and optional fields may be added, never renamed. */
type SystemEvents = {
  ApiSwitchedOff: { reason?: string; at: Instant };
  ApiSwitchedOn: { at: Instant };
};

export type SystemEvent = EventOf<SystemEvents>;

export const systemPersonalFields = {
  ApiSwitchedOff: [],
  ApiSwitchedOn: [],
} as const satisfies Record<keyof SystemEvents, readonly string[]>;

export const systemEventTypes = Object.keys(systemPersonalFields) as SystemEvent['type'][];

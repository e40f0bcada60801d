import type { Instant } from '../shared/time.js';

/** The kill switch of the whole API. Storage format, with the promise of the invoice's events. */
export type SystemEvent =
  | { type: 'ApiSwitchedOff'; data: { reason?: string; at: Instant } }
  | { type: 'ApiSwitchedOn'; data: { at: Instant } };

export const systemPersonalFields = {
  ApiSwitchedOff: [],
  ApiSwitchedOn: [],
} as const satisfies Record<SystemEvent['type'], readonly string[]>;

export const systemEventTypes = Object.keys(systemPersonalFields) as SystemEvent['type'][];

import type { Instant } from '../shared/time.js';

/** The kill switch of the whole API (interface.md "api off|on"): the storage format, as the invoice's events. */
export type SystemEvent =
  | { type: 'ApiSwitchedOff'; data: { reason?: string; at: Instant } }
  | { type: 'ApiSwitchedOn'; data: { at: Instant } };

export const systemPersonalFields = {
  ApiSwitchedOff: [],
  ApiSwitchedOn: [],
} as const satisfies Record<SystemEvent['type'], readonly string[]>;

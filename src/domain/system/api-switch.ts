import { type Decided, type Fold, noChange } from '../shared/decision.js';
import type { Instant } from '../shared/time.js';
import { unreachable } from '../shared/unreachable.js';

/** The kill switch of the whole API. Storage format, with the promise of the invoice's events. */
export type SystemEvent =
  | { type: 'ApiSwitchedOff'; data: { reason?: string; at: Instant } }
  | { type: 'ApiSwitchedOn'; data: { at: Instant } };

export const systemPersonalFields = {
  ApiSwitchedOff: [],
  ApiSwitchedOn: [],
} as const satisfies Record<SystemEvent['type'], readonly string[]>;

export const systemEventTypes = Object.keys(systemPersonalFields) as SystemEvent['type'][];

/** The kill switch of the whole API; on unless an operator switched it off. */
export type ApiSwitch = 'on' | 'off';

export const evolveApiSwitch = (_state: ApiSwitch, event: SystemEvent): ApiSwitch => {
  switch (event.type) {
    case 'ApiSwitchedOff':
      return 'off';
    case 'ApiSwitchedOn':
      return 'on';
    default:
      return unreachable(event);
  }
};

export const apiSwitchFold: Fold<ApiSwitch, SystemEvent> = { initial: 'on', evolve: evolveApiSwitch };

/** No event when the switch has that position already, whatever the reason. */
export const switchApi = (
  state: ApiSwitch,
  to: ApiSwitch,
  reason: string | undefined,
  at: Instant,
): Decided<SystemEvent> => {
  if (state === to) return noChange;
  if (to === 'on') return { events: [{ type: 'ApiSwitchedOn', data: { at } }] };
  return { events: [{ type: 'ApiSwitchedOff', data: { ...(reason === undefined ? {} : { reason }), at } }] };
};

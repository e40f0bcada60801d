import type { Instant } from '../shared/time.js';
import { unreachable } from '../shared/unreachable.js';
import type { SystemEvent } from './events.js';

/** The kill switch of the whole API; it is on until an operator says otherwise. */
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

/** Switching to where it stands is no event, whatever the reason given. */
export const switchApi = (
  state: ApiSwitch,
  to: ApiSwitch,
  reason: string | undefined,
  at: Instant,
): { events: readonly SystemEvent[] } => {
  if (state === to) return { events: [] };
  if (to === 'on') return { events: [{ type: 'ApiSwitchedOn', data: { at } }] };
  return { events: [{ type: 'ApiSwitchedOff', data: { ...(reason === undefined ? {} : { reason }), at } }] };
};

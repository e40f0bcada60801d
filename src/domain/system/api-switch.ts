import { type Decided, type Fold, noChange } from '../common/decision.js';
import { present } from '../common/present.js';
import type { Instant } from '../common/time.js';
import type { SystemEvent } from './events.js';

/** The kill switch of the whole API; on unless an operator switched it off. */
export type ApiSwitch = 'on' | 'off';

const POSITION = { ApiSwitchedOff: 'off', ApiSwitchedOn: 'on' } as const satisfies Record<
  SystemEvent['type'],
  ApiSwitch
>;

export const apiSwitchFold: Fold<ApiSwitch, SystemEvent> = {
  initial: 'on',
  evolve: (_state, { type }) => POSITION[type],
};

/** No event when the switch has that position already, whatever the reason. */
export const switchApi = (
  state: ApiSwitch,
  to: ApiSwitch,
  reason: string | undefined,
  at: Instant,
): Decided<SystemEvent> => {
  if (state === to) return noChange;
  if (to === 'on') return { events: [{ type: 'ApiSwitchedOn', data: { at } }] };
  return { events: [{ type: 'ApiSwitchedOff', data: present({ reason, at }) }] };
};

import type { SystemEvent } from '../../src/domain/system/events.js';
import type { Handlers } from '../types.js';
import type { SystemRow } from './schema.js';

export const KILL_SWITCH = 'api';

export const handlers = {
  ApiSwitchedOff: (_row, { revision }) => ({ key: KILL_SWITCH, revision, switched_off: true }),
  ApiSwitchedOn: (_row, { revision }) => ({ key: KILL_SWITCH, revision, switched_off: false }),
} satisfies Handlers<SystemRow, SystemEvent>;

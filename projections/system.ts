import { systemApiStream } from '../src/domain/common/ids.js';
import { type SystemEvent, systemEventTypes } from '../src/domain/system/events.js';
import type { Revision } from '../src/ports/event-log.js';
import { boolean, defineProjection, type Handlers, integer, type RowOf, text } from './types.js';

const columns = { key: text(), revision: integer<Revision>(), switched_off: boolean() };

/** The kill switch of the whole API: one row, `api`. */
export type SystemRow = RowOf<typeof columns>;

const KILL_SWITCH = 'api';

const handlers = {
  ApiSwitchedOff: (_row, { revision }) => ({ key: KILL_SWITCH, revision, switched_off: true }),
  ApiSwitchedOn: (_row, { revision }) => ({ key: KILL_SWITCH, revision, switched_off: false }),
} satisfies Handlers<SystemRow, SystemEvent>;

/** Whether the API is switched off; every request reads this first. */
export const system = defineProjection<SystemRow, SystemEvent>({
  name: 'system',
  version: 1,
  prefixes: [systemApiStream],
  eventTypes: systemEventTypes,
  keyColumn: 'key',
  columns,
  indexes: [],
  keyOf: () => KILL_SWITCH,
  handlers,
});

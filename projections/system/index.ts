import { systemApiStream } from '../../src/domain/shared/ids.js';
import { type SystemEvent, systemPersonalFields } from '../../src/domain/system/events.js';
import { defineProjection } from '../types.js';
import { handlers, KILL_SWITCH } from './apply.js';
import { columns, type SystemRow } from './schema.js';

/** What every request asks first: is the API switched off? */
export const system = defineProjection<SystemRow, SystemEvent>({
  name: 'system',
  version: 1,
  prefixes: [systemApiStream],
  eventTypes: Object.keys(systemPersonalFields) as SystemEvent['type'][],
  keyColumn: 'key',
  columns,
  indexes: [],
  keyOf: () => KILL_SWITCH,
  handlers,
});

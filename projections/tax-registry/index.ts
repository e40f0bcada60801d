import { type RegistryEvent, registryEventTypes, registryPrefix } from '../../src/domain/registry/entry.js';
import { defineProjection } from '../types.js';
import { handlers } from './apply.js';
import { columns, type RegistryRow } from './schema.js';

/** Legal names that operators entered, asked before any other registry. */
export const taxRegistry = defineProjection<RegistryRow, RegistryEvent>({
  name: 'registry',
  version: 1,
  prefixes: [registryPrefix],
  eventTypes: registryEventTypes,
  keyColumn: 'cnpj',
  columns,
  indexes: [],
  keyOf: ({ data }) => data.cnpj,
  handlers,
});

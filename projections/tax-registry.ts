import { registryFold } from '../src/domain/registry/entry.js';
import { type RegistryEvent, registryEventTypes, registryPrefix } from '../src/domain/registry/events.js';
import type { Revision } from '../src/ports/event-log.js';
import { defineProjection, type Handlers, integer, type RowOf, text } from './types.js';

const columns = {
  cnpj: text(),
  revision: integer<Revision>(),
  /** JSON of name and address, each sealed as in the log. */
  entry: text(),
};

/** One CNPJ of the local tax registry. */
export type RegistryRow = RowOf<typeof columns>;

const handlers = {
  RegistryEntryPut: (_row, event) => ({
    cnpj: event.data.cnpj,
    revision: event.revision,
    entry: JSON.stringify(registryFold.evolve(undefined, event)),
  }),
} satisfies Handlers<RegistryRow, RegistryEvent>;

/** Legal names that operators entered; they are looked up before any other registry. */
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

import { type CatalogEvent, catalogEventTypes, catalogPrefix } from '../src/domain/catalog/events.js';
import type { Revision } from '../src/ports/event-log.js';
import { defineProjection, type Handlers, integer, type RowOf, text } from './types.js';

const columns = {
  cnae: text(),
  revision: integer<Revision>(),
  /** JSON of the lines, in the order of the file. */
  lines: text(),
};

/** One CNAE of the operators' catalogue. */
export type CatalogLinesRow = RowOf<typeof columns>;

const handlers = {
  CatalogLinesReplaced: (_row, { data, revision }) => ({
    cnae: data.cnae,
    revision,
    lines: JSON.stringify(data.lines),
  }),
} satisfies Handlers<CatalogLinesRow, CatalogEvent>;

/** What operators imported into the activity catalogue. The lines that ship with the service are not in it. */
export const catalogLines = defineProjection<CatalogLinesRow, CatalogEvent>({
  name: 'catalog_lines',
  version: 1,
  prefixes: [catalogPrefix],
  eventTypes: catalogEventTypes,
  keyColumn: 'cnae',
  columns,
  indexes: [],
  keyOf: ({ data }) => data.cnae,
  handlers,
});

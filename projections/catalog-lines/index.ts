import { type CatalogEvent, catalogEventTypes, catalogPrefix } from '../../src/domain/catalog/events.js';
import { defineProjection } from '../types.js';
import { handlers } from './apply.js';
import { type CatalogLinesRow, columns } from './schema.js';

/** What operators imported of the activity catalogue; the shipped lines are not in it. */
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

import type { CatalogEvent } from '../../src/domain/catalog/events.js';
import type { Handlers } from '../types.js';
import type { CatalogLinesRow } from './schema.js';

export const handlers = {
  CatalogLinesReplaced: (_row, { data, revision }) => ({
    cnae: data.cnae,
    revision,
    lines: JSON.stringify(data.lines),
  }),
} satisfies Handlers<CatalogLinesRow, CatalogEvent>;

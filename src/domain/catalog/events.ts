import type { CatalogueLine } from '../company/line-selection.js';
import type { StreamName } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';

/** A line as an operator entered it; `incidence` says where the tax is due, in the operator's words, and decides nothing here. */
export type OperatorLine = CatalogueLine & { incidence?: string };

/** What operators say of one CNAE: all its lines at once, in the order of their file. The storage format, as the invoice's events. */
export type CatalogEvent = {
  type: 'CatalogLinesReplaced';
  data: { cnae: string; lines: readonly OperatorLine[]; at: Instant };
};

export const catalogPersonalFields = {
  CatalogLinesReplaced: [],
} as const satisfies Record<CatalogEvent['type'], readonly string[]>;

export const catalogEventTypes = Object.keys(catalogPersonalFields) as CatalogEvent['type'][];

export const catalogPrefix = 'catalog-';

export const catalogStream = (cnae: string): StreamName => `${catalogPrefix}${cnae}`;

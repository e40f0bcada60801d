import type { StreamName } from '../common/ids.js';
import type { Instant } from '../common/time.js';

/** One row of the activity catalogue: it leads from a CNAE to a national service code. */
export type CatalogueLine = {
  cnae: string;
  serviceCode: string;
  nbs?: string;
  description: string;
  isDefault: boolean;
  isBlocked: boolean;
  /** `cIndOp` of IBS and CBS; absent while it is a choice. */
  indOp?: string;
  /** `cClassTrib`; absent while it is a choice. */
  classTrib?: string;
  /** `cClassTribReg`, for a classification that asks for it. */
  classTribRegular?: string;
};

/**
 * A line as an operator entered it. `incidence` is the operator's note on where the tax is due; it decides nothing here. Lines of older versions may
 * hold a `municipalCode`, which is not read: such a code belongs to the municipality of one company (docs/national-system.md#service).
 */
export type OperatorLine = CatalogueLine & { incidence?: string; municipalCode?: string };

/** All lines of one CNAE, in the order of the operator's file. Storage format: types and optional fields may be added, never renamed. */
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

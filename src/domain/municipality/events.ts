import type { StreamName } from '../common/ids.js';
import type { Instant } from '../common/time.js';

/** What an operator entered about a municipality (7-digit IBGE code). An absent field was never entered and demands nothing. */
export type MunicipalityDemands = { requiresCustomer?: boolean; requiresRegistration?: boolean };

/**
 * Each event holds everything entered so far, so the last one holds the state. Storage format: types and optional fields may be added, never renamed.
 */
export type MunicipalityEvent = {
  type: 'MunicipalityDemandsSet';
  data: { ibge: string; at: Instant } & MunicipalityDemands;
};

export const municipalityPersonalFields = {
  MunicipalityDemandsSet: [],
} as const satisfies Record<MunicipalityEvent['type'], readonly string[]>;

export const municipalityEventTypes = Object.keys(municipalityPersonalFields) as MunicipalityEvent['type'][];

export const municipalityPrefix = 'municipality-';

export const municipalityStream = (ibge: string): StreamName => `${municipalityPrefix}${ibge}`;

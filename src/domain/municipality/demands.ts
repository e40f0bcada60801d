import type { StreamName } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';

/** What an operator has said of a municipality (7-digit IBGE code); absent: nobody has said, which demands nothing. */
export type MunicipalityDemands = { requiresCustomer?: boolean; requiresRegistration?: boolean };

/** Each event holds everything said so far, so that the last one alone is the state. The storage format. */
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

export const evolveMunicipality = (_state: MunicipalityDemands, event: MunicipalityEvent): MunicipalityDemands => {
  const { ibge: _ibge, at: _at, ...demands } = event.data;
  return demands;
};

/** What is not named stays as it was. */
export const setDemands = (
  state: MunicipalityDemands,
  ibge: string,
  change: MunicipalityDemands,
  at: Instant,
): { events: readonly MunicipalityEvent[] } => {
  const next = { ...state, ...change };
  const same =
    next.requiresCustomer === state.requiresCustomer && next.requiresRegistration === state.requiresRegistration;
  return { events: same ? [] : [{ type: 'MunicipalityDemandsSet', data: { ...next, ibge, at } }] };
};

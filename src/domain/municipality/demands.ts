import type { TaxRegime } from '../company/events.js';
import { type Decided, type Fold, noChange } from '../shared/decision.js';
import type { StreamName } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';
import { type CachedParameters, usableConvenio } from './parameters.js';

/** What an operator entered about a municipality (7-digit IBGE code). An absent field was never entered and demands nothing. */
export type MunicipalityDemands = { requiresCustomer?: boolean; requiresRegistration?: boolean };

/** Each event holds everything entered so far, so the last one holds the state. Storage format, with the promise of the invoice's events. */
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

export const municipalityFold: Fold<MunicipalityDemands, MunicipalityEvent> = {
  initial: {},
  evolve: evolveMunicipality,
};

/** Changes the named fields; the others stay as they were. */
export const setDemands = (
  state: MunicipalityDemands,
  ibge: string,
  change: MunicipalityDemands,
  at: Instant,
): Decided<MunicipalityEvent> => {
  const next = { ...state, ...change };
  const same =
    next.requiresCustomer === state.requiresCustomer && next.requiresRegistration === state.requiresRegistration;
  return same ? noChange : { events: [{ type: 'MunicipalityDemandsSet', data: { ...next, ibge, at } }] };
};

type Demanded = { requiresCustomer: boolean; requiresRegistration: boolean };

/**
 * The demands that hold now: the operator's entries first, then the parameters API's answer while it is young enough. A convênio that admits
 * only companies with an entry in CNC demands the registration (E0084, E0116), except of a MEI, which is exempt. No parameter says whether a
 * customer is demanded. What is unknown is not demanded.
 */
export const demandsNow = (
  operator: MunicipalityDemands | undefined,
  kept: readonly CachedParameters[],
  taxRegime: TaxRegime,
  now: Instant,
): Demanded => {
  const convenio = usableConvenio(kept, now);
  const onlyRegistered = convenio?.isActive === true && convenio.rfbContributors === false;
  return {
    requiresCustomer: operator?.requiresCustomer ?? false,
    requiresRegistration: operator?.requiresRegistration ?? (onlyRegistered && taxRegime !== 'mei'),
  };
};

import type { StreamName } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';
import { type KeptParameters, usableConvenio } from './parameters.js';

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

export type Demanded = { requiresCustomer: boolean; requiresRegistration: boolean };

/**
 * What holds at this moment: an operator's word first, then the parameters API's as far as its answer is young enough. A
 * convênio that admits only who has an entry in CNC demands the registration (E0084, E0116), not of a MEI, who is exempt. No
 * parameter tells whether a customer is demanded. What nobody has told is not demanded.
 */
export const demandsNow = (
  operator: MunicipalityDemands | undefined,
  kept: readonly KeptParameters[],
  taxRegime: 'mei' | 'simples' | 'normal',
  now: Instant,
): Demanded => {
  const convenio = usableConvenio(kept, now);
  const onlyRegistered = convenio?.isActive === true && convenio.rfbContributors === false;
  return {
    requiresCustomer: operator?.requiresCustomer ?? false,
    requiresRegistration: operator?.requiresRegistration ?? (onlyRegistered && taxRegime !== 'mei'),
  };
};

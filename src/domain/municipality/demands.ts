import { type Decided, type Fold, noChange } from '../common/decision.js';
import type { Instant } from '../common/time.js';
import type { TaxRegime } from '../company/events.js';
import type { MunicipalityDemands, MunicipalityEvent } from './events.js';
import { type CachedParameters, usableConvenio } from './parameters.js';

export const municipalityFold: Fold<MunicipalityDemands, MunicipalityEvent> = {
  initial: {},
  evolve: (_state, { data: { ibge: _ibge, at: _at, ...demands } }) => demands,
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
 * The demands that hold now: the operator's entries first, then the parameters API's answer while it is young enough. A convênio that admits only
 * companies with an entry in CNC demands the registration (E0084, E0116). A MEI is exempt and never sends one, so an operator's entry does not hold
 * for a MEI either. No parameter says whether a customer is demanded. What is unknown is not demanded.
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
    requiresRegistration: taxRegime !== 'mei' && (operator?.requiresRegistration ?? onlyRegistered),
  };
};

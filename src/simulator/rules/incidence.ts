import type { Dps } from './dps.js';
import { DUE_AT_CUSTOMER, DUE_WHERE_PERFORMED } from './service-lists.js';

/** Where the ISSQN of a service is due: at the provider, where the service is performed, or at the customer (LC 116, article 3). */
type Incidence = 'provider' | 'performance' | 'customer';

export const incidenceOf = (serviceCode: string): Incidence => {
  if (DUE_WHERE_PERFORMED.has(serviceCode)) return 'performance';
  return DUE_AT_CUSTOMER.has(serviceCode) ? 'customer' : 'provider';
};

/** IBGE code of the municipality where the ISSQN is due; undefined when the DPS does not lead to one. */
export const placeOfIncidence = (dps: Dps): string | undefined => {
  switch (incidenceOf(dps.serviceCode)) {
    case 'performance': {
      const place = dps.text('serv/locPrest/cLocPrestacao');
      // The sea belongs to no municipality: the ISSQN is due at the establishment (LC 116, article 3, paragraph 3).
      return place === '0000000' ? dps.municipality : place;
    }
    case 'customer':
      return dps.text('toma/end/endNac/cMun');
    default:
      return dps.municipality;
  }
};

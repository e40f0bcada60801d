import type { Tables } from '../../simulator/options.js';
import { classification, isCustomerCountry, nbsDescription, serviceCodeDescription } from '../../tables/catalogue.js';
import { municipalityByCode } from '../../tables/municipalities.js';

const described = (description: string | undefined) => (description === undefined ? undefined : { description });

/** The shipped tables of the national system, as the simulator asks for them. */
export const simulatorTables: Tables = {
  serviceCode: (code) => described(serviceCodeDescription(code)),
  nbs: (code) => described(nbsDescription(code)),
  municipality: municipalityByCode,
  isForeignCountry: isCustomerCountry,
  classification,
};

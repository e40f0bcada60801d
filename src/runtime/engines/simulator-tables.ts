import type { Tables } from '../../simulator/start.js';
import { isCustomerCountry, serviceCodeDescription, shippedCatalogue } from '../../tables/catalogue.js';
import { municipalityByCode } from '../../tables/municipalities.js';

/** The shipped tables of the national system, as the simulator asks for them. */
export const simulatorTables: Tables = {
  serviceCode: (code) => {
    const description = serviceCodeDescription(code);
    return description === undefined ? undefined : { description };
  },
  isNbs: shippedCatalogue.isNbs,
  municipality: municipalityByCode,
  isForeignCountry: isCustomerCountry,
};

import { transliterate } from '../dps/transliterate.js';
import type { DomesticAddress } from '../invoice/facts.js';
import type { EntryAddress } from '../registry/entry.js';

/** IBGE code of a municipality by name and state; undefined for a name that the official table does not have. */
export type MunicipalityCode = (city: string, state: string) => string | undefined;

/**
 * A tax registry's address as `endNac` takes it. Undefined where the layout could not carry it whole: an unknown
 * municipality, a postal code that is not eight digits, a text too long or without Latin form. Nothing is cut (reading 4).
 */
export const domesticAddress = (address: EntryAddress, codeOf: MunicipalityCode): DomesticAddress | undefined => {
  const { city, state, postalCode, complement, ...place } = address;
  const municipality = codeOf(city, state);
  if (municipality === undefined || !/^\d{8}$/.test(postalCode)) return undefined;
  const { street, number, district } = place;
  const isCarried =
    fits(street, 255) && fits(number, 60) && fits(district, 60) && (complement === undefined || fits(complement, 156));
  if (!isCarried) return undefined;
  return { street, number, ...(complement === undefined ? {} : { complement }), district, municipality, postalCode };
};

const fits = (text: string, max: number): boolean => {
  const latin = transliterate(text);
  return latin !== undefined && latin !== '' && latin.length <= max;
};

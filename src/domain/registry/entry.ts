import { type Decided, type Fold, noChange } from '../common/decision.js';
import { present } from '../common/present.js';
import type { Instant } from '../common/time.js';
import { transliterate } from '../dps/transliterate.js';
import type { DomesticAddress } from '../invoice/events.js';
import { sortedJson } from '../log/hash-text.js';
import type { EntryAddress, LocalEntry, RegistryEvent } from './events.js';

export const registryFold: Fold<LocalEntry | undefined, RegistryEvent> = {
  initial: undefined,
  /** Name and address are carried unread, because they may still be sealed. */
  evolve: (_state, { data: { legalName, address } }) => present({ legalName, address }),
};

export const putEntry = (
  state: LocalEntry | undefined,
  cnpj: string,
  entry: LocalEntry,
  at: Instant,
): Decided<RegistryEvent> =>
  // A name whose key is gone cannot be compared.
  state?.legalName !== undefined && sortedJson(state) === sortedJson(entry)
    ? noChange
    : { events: [{ type: 'RegistryEntryPut', data: { ...entry, cnpj, at } }] };

/** IBGE code of a municipality by name and state; undefined for a name that the official table does not have. */
export type MunicipalityCode = (city: string, state: string) => string | undefined;

/**
 * An address of a tax registry as `endNac` takes it. Undefined where the layout could not carry all of it: an unknown municipality, a
 * postal code that cannot exist, a text that is too long or has no Latin form. Nothing is cut (TEXT-4).
 */
export const domesticAddress = (address: EntryAddress, codeOf: MunicipalityCode): DomesticAddress | undefined => {
  const { street, number, complement, district, city, state, postalCode } = address;
  const municipality = codeOf(city, state);
  if (municipality === undefined || !POSTAL_CODE.test(postalCode)) return undefined;
  const isCarried =
    fits(street, 255) && fits(number, 60) && fits(district, 60) && (complement === undefined || fits(complement, 156));
  return isCarried ? present({ street, number, complement, district, municipality, postalCode }) : undefined;
};

/**
 * Eight digits. The lowest postal code is 01000000: registers fill a field that they do not know with zeros, and each note of that customer would be
 * refused (E0240).
 */
const POSTAL_CODE = /^(?!00)\d{8}$/;

const fits = (text: string, max: number): boolean => {
  const latin = transliterate(text);
  return latin !== undefined && latin !== '' && latin.length <= max;
};

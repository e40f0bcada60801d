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
 * An address of a tax registry as `endNac` takes it. Undefined where the layout could not carry all of it (`uncarriedMembers`). Nothing is cut (TEXT-4).
 */
export const domesticAddress = (address: EntryAddress, codeOf: MunicipalityCode): DomesticAddress | undefined => {
  const { street, number, complement, district, city, state, postalCode } = address;
  const municipality = codeOf(city, state);
  if (municipality === undefined || uncarriedMembers(address, codeOf).length > 0) return undefined;
  return present({ street, number, complement, district, municipality, postalCode });
};

/**
 * The members of an address for which the layout could not carry it: the city of an unknown municipality, a postal code that cannot exist, a text that
 * is too long or has no Latin form.
 */
export const uncarriedMembers = (
  { city, state, postalCode, ...address }: EntryAddress,
  codeOf: MunicipalityCode,
): readonly (keyof EntryAddress)[] => {
  const texts = (['street', 'number', 'complement', 'district'] as const).filter((member) => {
    const text = address[member];
    return text !== undefined && !fits(text, MOST[member]);
  });
  return [
    ...texts,
    ...(codeOf(city, state) === undefined ? (['city'] as const) : []),
    ...(POSTAL_CODE.test(postalCode) ? [] : (['postalCode'] as const)),
  ];
};

/** Characters of each text in the layout. */
const MOST = { street: 255, number: 60, complement: 156, district: 60 };

/**
 * Eight digits. The lowest postal code is 01000000: registers fill a field that they do not know with zeros, and each note of that customer would be
 * refused (E0240).
 */
const POSTAL_CODE = /^(?!00)\d{8}$/;

const fits = (text: string, max: number): boolean => {
  const latin = transliterate(text);
  return latin !== undefined && latin !== '' && latin.length <= max;
};

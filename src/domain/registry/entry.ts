import { transliterate } from '../dps/transliterate.js';
import type { DomesticAddress } from '../invoice/events.js';
import { sortedJson } from '../log/hash-text.js';
import { type Decided, type Fold, noChange } from '../shared/decision.js';
import type { StreamName } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';

/** An address as an operator enters it: city and state as names, the postal code as 8 digits. */
export type EntryAddress = {
  street: string;
  number: string;
  complement?: string;
  district: string;
  city: string;
  state: string;
  postalCode: string;
};

/** What the local tax registry knows of one CNPJ. */
export type LocalEntry = { legalName: string; address?: EntryAddress };

/** Storage format, with the promise of the invoice's events. */
export type RegistryEvent = {
  type: 'RegistryEntryPut';
  data: { cnpj: string; at: Instant } & LocalEntry;
};

/** The legal name of a MEI is a person's name, often with the CPF in it, so it is sealed. */
export const registryPersonalFields = {
  RegistryEntryPut: ['legalName', 'address'],
} as const satisfies Record<RegistryEvent['type'], readonly string[]>;

export const registryEventTypes = Object.keys(registryPersonalFields) as RegistryEvent['type'][];

export const registryPrefix = 'registry-';

export const registryStream = (cnpj: string): StreamName => `${registryPrefix}${cnpj}`;

/** Name and address are carried unread, because they may still be sealed. */
export const evolveEntry = (_state: LocalEntry | undefined, event: RegistryEvent): LocalEntry => {
  const { legalName, address } = event.data;
  return { legalName, ...(address === undefined ? {} : { address }) };
};

export const registryFold: Fold<LocalEntry | undefined, RegistryEvent> = { initial: undefined, evolve: evolveEntry };

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
 * postal code that is not eight digits, a text that is too long or has no Latin form. Nothing is cut (TEXT-4).
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

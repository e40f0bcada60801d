import { sortedJson } from '../log/hash-text.js';
import type { StreamName } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';

/** As an operator enters it: city and state as names, the postal code as 8 digits. */
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

/** The storage format, as the invoice's events. */
export type RegistryEvent = {
  type: 'RegistryEntryPut';
  data: { cnpj: string; at: Instant } & LocalEntry;
};

/** The legal name of a MEI is a person's name, often with the CPF in it. */
export const registryPersonalFields = {
  RegistryEntryPut: ['legalName', 'address'],
} as const satisfies Record<RegistryEvent['type'], readonly string[]>;

export const registryEventTypes = Object.keys(registryPersonalFields) as RegistryEvent['type'][];

export const registryPrefix = 'registry-';

export const registryStream = (cnpj: string): StreamName => `${registryPrefix}${cnpj}`;

/** It never looks inside name and address, which may still be sealed. */
export const evolveEntry = (_state: LocalEntry | undefined, event: RegistryEvent): LocalEntry => {
  const { legalName, address } = event.data;
  return { legalName, ...(address === undefined ? {} : { address }) };
};

export const putEntry = (
  state: LocalEntry | undefined,
  cnpj: string,
  entry: LocalEntry,
  at: Instant,
): { events: readonly RegistryEvent[] } =>
  // Of a name whose key is gone nothing is left to compare with.
  state?.legalName !== undefined && sortedJson(state) === sortedJson(entry)
    ? { events: [] }
    : { events: [{ type: 'RegistryEntryPut', data: { ...entry, cnpj, at } }] };

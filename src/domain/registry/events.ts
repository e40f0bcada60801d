import type { StreamName } from '../common/ids.js';
import type { Instant } from '../common/time.js';

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

/** Storage format: types and optional fields may be added, never renamed. */
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

import type { EntryAddress } from '../domain/registry/events.js';

export type RegistryEntry = { cnpj: string; legalName: string; address?: EntryAddress };

/** CNPJ to legal name (ADR 10). Undefined when the registry does not know the CNPJ or did not answer in time. */
export type TaxRegistry = { lookup(cnpj: string): Promise<RegistryEntry | undefined> };

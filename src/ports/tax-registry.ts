import type { IssuerAddress } from '../domain/company/events.js';

export type RegistryEntry = { cnpj: string; legalName: string; address?: IssuerAddress };

/** CNPJ to legal name (reading 51). Undefined: the registry does not know it, or did not answer in time. */
export type TaxRegistry = { lookup(cnpj: string): Promise<RegistryEntry | undefined> };

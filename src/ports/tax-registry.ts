/** As an operator enters it; the layout's `endNac` needs the IBGE code that city and state resolve to. */
export type RegistryAddress = {
  street: string;
  number: string;
  complement?: string;
  district: string;
  city: string;
  state: string;
  postalCode: string;
};

export type RegistryEntry = { cnpj: string; legalName: string; address?: RegistryAddress };

/** CNPJ to legal name (reading 51). Undefined: the registry does not know it, or did not answer in time. */
export type TaxRegistry = { lookup(cnpj: string): Promise<RegistryEntry | undefined> };

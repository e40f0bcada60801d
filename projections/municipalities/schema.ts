/** One municipality that an operator has said something of; null: not said. */
export type MunicipalityRow = {
  ibge: string;
  revision: number;
  requires_customer: boolean | null;
  requires_registration: boolean | null;
};

export const columns = {
  ibge: 'text',
  revision: 'integer',
  requires_customer: 'boolean',
  requires_registration: 'boolean',
} as const;

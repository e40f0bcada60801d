/** One CNPJ of the local tax registry. `entry` is the JSON of name and address, each sealed as in the log. */
export type RegistryRow = { cnpj: string; revision: number; entry: string };

export const columns = { cnpj: 'text', revision: 'integer', entry: 'text' } as const;

/** One company. `state` is the JSON of the domain's folded state. */
export type CompanyRow = { company_id: string; revision: number; enabled: boolean; state: string };

export const columns = { company_id: 'text', revision: 'integer', enabled: 'boolean', state: 'text' } as const;

/** The kill switch of the whole API: one row, `api`. */
export type SystemRow = { key: string; revision: number; switched_off: boolean };

export const columns = { key: 'text', revision: 'integer', switched_off: 'boolean' } as const;

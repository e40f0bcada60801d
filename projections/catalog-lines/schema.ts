/** One CNAE of the operators' catalogue. `lines` is the JSON of its lines, in the order of the file. */
export type CatalogLinesRow = { cnae: string; revision: number; lines: string };

export const columns = { cnae: 'text', revision: 'integer', lines: 'text' } as const;

import type { CompanyId, Mode } from '../domain/common/ids.js';

/** Where a series of DPS numbers ends in the log. */
type SeriesEnd = { mode: Mode; companyId: CompanyId; series: string; nextNumber: number };

/** DPS numbers from `number` to `last` that invoices of the read model were sent under. `municipality` is the 7-digit IBGE code of the DPS ids. */
export type HeldNumbers = {
  mode: Mode;
  companyId: CompanyId;
  municipality: string;
  series: string;
  number: number;
  last: number;
};

/**
 * The numbers in the read model that are not before the end of their series, and all of a series without an end. Numbers that are more than `gap` apart
 * are in different entries. Rejects as the database does.
 */
export type HeldNumbersRead = (ends: readonly SeriesEnd[], gap: number) => Promise<readonly HeldNumbers[]>;

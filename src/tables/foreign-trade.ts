import { once, readTable } from './tsv.js';

const countries = once(
  () => new Map(readTable('countries.tsv', ['code', 'name']).map(({ code, name }) => [code, name])),
);

const currencies = once(
  () =>
    new Map(readTable('currencies.tsv', ['code', 'central_bank_code']).map((row) => [row.code, row.central_bank_code])),
);

/** ISO 3166-1 alpha-2 of the national table; `BR` and `XK` are not in it. */
export const isCustomerCountry = (code: string): boolean => countries().has(code);

export const isCurrency = (code: string): boolean => currencies().has(code);

export const currencyCodes = once((): readonly string[] => [...currencies().keys()].sort());

/** `tpMoeda`: the central bank's three digits, not the ISO number (domain.md section 10). */
export const centralBankCode = (currency: string): string | undefined => currencies().get(currency);

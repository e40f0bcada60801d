import type { CompanyId, Mode } from '../../../src/domain/common/ids.js';
import type { Registration } from '../../../src/domain/company/events.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';

const COMPANIES = 20;

/** Invoices of one owner that are made together: one append allocates their numbers. */
export const PART = 100;

const WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

const withDigit = (digits: string): string => {
  const weights = WEIGHTS.slice(WEIGHTS.length - digits.length);
  const sum = weights.reduce((total, weight, place) => total + weight * Number(digits[place]), 0);
  const rest = sum % 11;
  return `${digits}${rest < 2 ? 0 : 11 - rest}`;
};

const cnpjOf = (n: number): CompanyId => withDigit(withDigit(`${10_000_000 + n}0001`));

/** The demo company, which holds half of all invoices, and the others. */
export const benchCompanies = (): readonly [Registration, ...Registration[]] => {
  const demo = demoCompany();
  return [demo, ...Array.from({ length: COMPANIES - 1 }, (_, n) => ({ ...demo, cnpj: cnpjOf(n + 1) }))];
};

export type Owner = { mode: Mode; companyId: CompanyId };

/** The owner of a part of the history: the demo company has every second one, and a tenth of all are test invoices. */
export const ownerOfPart = (part: number, companies: readonly Registration[]): Owner => {
  const [demo, ...others] = companies;
  const half = Math.floor(part / 2);
  const company = part % 2 === 0 ? demo : others[half % others.length];
  if (company === undefined) throw new Error('the history needs companies');
  return { mode: half % 10 === 9 ? 'test' : 'live', companyId: company.cnpj };
};

/** Live invoices of the demo company in a history of so many; their numbers begin at 1. */
export const demoInvoices = (invoices: number): number => {
  const companies = benchCompanies();
  const [demo] = companies;
  const parts = Array.from({ length: invoices / PART }, (_, part) => ownerOfPart(part, companies));
  return PART * parts.filter(({ mode, companyId }) => mode === 'live' && companyId === demo.cnpj).length;
};

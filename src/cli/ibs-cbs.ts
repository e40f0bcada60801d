import { type ImportedLines, overlaidCatalogue } from '../domain/catalog/catalog.js';
import { type OpenPoint, openPointsAt } from '../domain/common/ibs-cbs-calendar.js';
import { brasiliaDate, type FiscalDate } from '../domain/common/time.js';
import type { Company } from '../domain/company/company.js';
import {
  CONFIRM_REDUCTION,
  type IbsCbsReport,
  ibsCbsReport,
  ibsCbsText,
  reductionsText,
} from '../domain/company/ibs-cbs-report.js';
import { ibsCbsTables, shippedCatalogue } from '../tables/catalogue.js';
import { firstChecks } from './company-warnings.js';
import type { Check, Session } from './session.js';

/** What a company's lines declare of IBS and CBS, as the catalogue is now. */
export const companyIbsCbs = async (
  { registration }: Pick<Company, 'registration'>,
  session: Pick<Session, 'readModel' | 'clock'>,
): Promise<IbsCbsReport> => {
  const imported = await session.readModel.catalogLines(registration.activities.map(({ cnae }) => cnae));
  return reportOf(registration, imported, brasiliaDate(session.clock.now()));
};

const reportOf = (registration: Company['registration'], imported: ImportedLines, today: FiscalDate): IbsCbsReport =>
  ibsCbsReport(registration, overlaidCatalogue(shippedCatalogue, imported), ibsCbsTables, today);

/** That lines of a company go out without the group though they owe it today, and reductions that its notes declare and its file does not name. */
export const ibsCbsWarnings = async (
  company: Pick<Company, 'registration'>,
  session: Pick<Session, 'readModel' | 'clock'>,
): Promise<readonly string[]> => {
  const report = await companyIbsCbs(company, session);
  const reductions = reductionsText(report);
  return [
    ...(report.owing === 0 ? [] : [`IBS and CBS: ${ibsCbsText(report)} -> ${settleWith(company.registration.cnpj)}`]),
    ...(reductions === undefined ? [] : [`${reductions}; ${CONFIRM_REDUCTION}`]),
  ];
};

const settleWith = (cnpj: string): string =>
  `nfse catalog export --company ${cnpj}, then nfse catalog import FILE.tsv or ibs_cbs in the company file`;

/** Checks of lines that lack something, a fault once Sefin is not known to take notes without it, of reductions to confirm and of open points. */
export const ibsCbsChecks = async ({ readModel, clock }: Session): Promise<readonly Check[]> => {
  const today = brasiliaDate(clock.now());
  const companies = (await readModel.companies()).filter(({ enabled }) => enabled);
  const imported = await readModel.catalogLines(
    companies.flatMap(({ registration }) => registration.activities.map(({ cnae }) => cnae)),
  );
  const reports = companies.map(({ registration }) => ({
    cnpj: registration.cnpj,
    report: reportOf(registration, imported, today),
  }));
  const lacking = reports
    .filter(({ report }) => report.without > 0)
    .map(({ cnpj, report }) => ({
      name: `IBS and CBS ${cnpj}`,
      ok: report.overdue === 0,
      detail: ibsCbsText(report),
      cure: settleWith(cnpj),
    }));
  const reductions = reports.flatMap(({ cnpj, report }) => {
    const detail = reductionsText(report);
    return detail === undefined ? [] : [{ name: `reduction ${cnpj}`, ok: true, detail, cure: CONFIRM_REDUCTION }];
  });
  const regimes = new Set(companies.map(({ registration }) => registration.taxRegime));
  return [
    ...firstChecks('IBS and CBS', lacking),
    ...firstChecks('reduction', reductions),
    ...openPointsAt(today, regimes).map(openCheck),
  ];
};

const openCheck = ({ from, what, meanwhile }: OpenPoint): Check => ({
  name: 'IBS and CBS open',
  ok: true,
  detail: `not published: ${what}, from ${from} on; meanwhile ${meanwhile}`,
  cure: 'look for a newer version (docs/national-system.md#ibs-and-cbs-by-date)',
});

import { type Duty, dutyOf } from '../common/ibs-cbs-calendar.js';
import type { FiscalDate } from '../common/time.js';
import type { Registration } from './events.js';
import { type IbsCbsTables, reductionToConfirm, resolveDeclaration } from './ibs-cbs.js';
import type { Catalogue } from './line-selection.js';

/**
 * How many of a company's issuable lines go out with the group of IBS and CBS. `lines` = `declared` + `withAddress` + `without`. `withAddress`
 * lines declare only for customers whose address a registry knows. `missing` counts the lines without the group by what they lack.
 */
export type IbsCbsReport = {
  lines: number;
  declared: number;
  withAddress: number;
  without: number;
  missing: Readonly<Record<string, number>>;
  /** Lines without the group that owe it on that day. */
  owing: number;
  /** Those of them whose notes the authorizer is no longer known to take. */
  overdue: number;
  /** Services whose notes claim a reduction that annex VIII alone gives. */
  toConfirm: readonly ReductionOfService[];
  /** Of the line that owes it first; undefined without a line. */
  duty: Duty | undefined;
};

/** A service with a classification that reduces the rates of IBS or CBS by `percent`, of the two the larger one. */
type ReductionOfService = { serviceCode: string; classification: string; percent: number };

/** `declare` false in the company file makes every line one without the group. */
export const ibsCbsReport = (
  { activities, taxRegime, ibsCbs }: Pick<Registration, 'activities' | 'taxRegime' | 'ibsCbs'>,
  catalogue: Catalogue,
  tables: IbsCbsTables,
  today: FiscalDate,
): IbsCbsReport => {
  const lines = activities
    .flatMap(({ cnae }) => catalogue.linesOf(cnae))
    .filter(({ isBlocked, serviceCode }) => !isBlocked && serviceCode !== '')
    .map((line) => {
      const resolved = resolveDeclaration(line, ibsCbs, tables);
      const data = resolved.kind === 'missing' ? resolved.data : [];
      return {
        duty: dutyOf(taxRegime, line.serviceCode),
        data: ibsCbs?.declare === false ? ['declare is false'] : data,
        needsAddress: resolved.kind === 'resolved' && resolved.place === 'customer',
        toConfirm: resolved.kind === 'resolved' ? reductionToConfirm(line, ibsCbs, tables) : undefined,
      };
    });
  const without = lines.filter(({ data }) => data.length > 0);
  const withAddress = lines.filter(({ data, needsAddress }) => data.length === 0 && needsAddress);
  const owing = without.filter(({ duty }) => duty.owedFrom <= today);
  const toConfirm = new Map(
    lines.flatMap(({ data, toConfirm: one }) =>
      data.length > 0 || one === undefined ? [] : [[`${one.serviceCode} ${one.classification}`, one]],
    ),
  );
  const missing: Record<string, number> = {};
  for (const datum of without.flatMap(({ data }) => data)) missing[datum] = (missing[datum] ?? 0) + 1;
  return {
    lines: lines.length,
    declared: lines.length - without.length - withAddress.length,
    withAddress: withAddress.length,
    without: without.length,
    missing,
    owing: owing.length,
    overdue: owing.filter(({ duty }) => duty.toleratedUntil < today).length,
    toConfirm: [...toConfirm.values()],
    duty: lines.map(({ duty }) => duty).sort((a, b) => (a.owedFrom < b.owedFrom ? -1 : 1))[0],
  };
};

/** One line for an operator. */
export const ibsCbsText = (report: IbsCbsReport): string => {
  const { lines, declared, withAddress, without, missing, owing, overdue, duty } = report;
  if (duty === undefined) return 'no line can be issued';
  const lacking = Object.entries(missing).map(([datum, count]) => `${datum} in ${count}`);
  return [
    `owed from ${duty.owedFrom}, notes without ${overdue > 0 ? 'were' : 'are'} taken until ${duty.toleratedUntil}`,
    `${declared} of ${lines} lines declare IBS and CBS`,
    ...(withAddress === 0 ? [] : [`${withAddress} where the customer's address is known`]),
    ...(without === 0 ? [] : [`${without} go out without (${owing} owe it now), missing: ${lacking.join(', ')}`]),
  ].join('; ');
};

/** What a person has to confirm before notes claim the reductions; undefined where the company file has chosen for each service. */
export const reductionsText = ({ toConfirm }: Pick<IbsCbsReport, 'toConfirm'>): string | undefined => {
  if (toConfirm.length === 0) return undefined;
  const named = toConfirm.map((one) => `service ${one.serviceCode} ${reductionText(one)}`);
  return `notes declare a reduction of IBS and CBS that only annex VIII gives, and that may have conditions of the company: ${named.join(', ')}`;
};

/** `200052 (-30 %)` */
export const reductionText = ({ classification, percent }: Omit<ReductionOfService, 'serviceCode'>): string =>
  `${classification} (-${percent} %)`;

/** How a person confirms a reduction, or gives it up. */
export const CONFIRM_REDUCTION =
  'ask the accountant, and put class_trib of each service into ibs_cbs of the company file: the same, or 000001 without the reduction';

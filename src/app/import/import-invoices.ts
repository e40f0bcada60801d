import { invoicePrefix, type Mode } from '../../domain/shared/ids.js';
import type { ReadModel } from '../../ports/read-model.js';
import { loadCompany } from '../company/company-commands.js';
import { inGroups } from '../reference-data/in-groups.js';
import { parseImportLine } from './import-line.js';
import { type NoteFiles, type Plan, planLine } from './plan-line.js';
import { type ImportDeps, recordImport, standingOf } from './record-import.js';

export type ImportInvoicesDeps = ImportDeps & NoteFiles & { readModel: Pick<ReadModel, 'byAccessKeys'> };

/** `problems`: nothing was imported. `already`: lines that an earlier import, or an earlier line, brought. */
export type ImportResult = { imported: number; already: number } | { problems: readonly string[] };

const AT_ONCE = 16;
const KEYS_AT_ONCE = 500;

type Numbered = { number: number; plan: Plan };

/**
 * Takes over invoices made elsewhere, one JSON object a line: every line is checked, against the log too, before the
 * first is written. A process that dies meanwhile leaves some lines imported; the same file again brings the rest.
 */
export const importInvoices = async (text: string, deps: ImportInvoicesDeps): Promise<ImportResult> => {
  const problems = new Map<number, string[]>();
  const report = (number: number, found: readonly string[]): void => {
    if (found.length > 0) problems.set(number, [...(problems.get(number) ?? []), ...found]);
  };
  const plans = await planLines(text, deps, report);
  const fresh = withoutRepetitions(plans, report);
  await checkCompanies(fresh, deps, report);
  await checkAccessKeys(fresh, deps, report);
  const standings = await inGroups(AT_ONCE, fresh, async (entry) => {
    const standing = await standingOf(entry.plan, deps);
    if ('refused' in standing) report(entry.number, [standing.refused]);
    return { ...entry, already: 'already' in standing };
  });
  if (problems.size > 0) return { problems: inOrder(problems) };
  if (plans.length === 0) return { problems: ['the file has no line'] };

  const open = standings.filter(({ already }) => !already);
  await inGroups(AT_ONCE, open, async ({ number, plan }) => {
    const recorded = await recordImport(plan, deps);
    if ('refused' in recorded) report(number, [`${recorded.refused}, meanwhile; the lines before it were imported`]);
  });
  return problems.size > 0
    ? { problems: inOrder(problems) }
    : { imported: open.length, already: plans.length - open.length };
};

type Report = (number: number, problems: readonly string[]) => void;

const planLines = async (text: string, deps: ImportInvoicesDeps, report: Report): Promise<readonly Numbered[]> => {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const numbered = lines.flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]));
  const planned = await inGroups(AT_ONCE, numbered, async ({ line, number }) => {
    const parsed = parseImportLine(line);
    const result = 'problems' in parsed ? parsed : await planLine(parsed.line, deps);
    if ('problems' in result) report(number, result.problems);
    return 'plan' in result ? [{ number, plan: result.plan }] : [];
  });
  return planned.flat();
};

/** A line that says the same again is no problem; one that claims the same id, reference or access key for other content is. */
const withoutRepetitions = (plans: readonly Numbered[], report: Report): readonly Numbered[] => {
  const owners = new Map<string, Numbered>();
  return plans.filter((entry) => {
    const { stream, data, reservation } = entry.plan;
    const claims = [stream, reservation, data.accessKey && `${data.mode} ${data.accessKey}`].filter(isText);
    const holders = claims.flatMap((claim) => owners.get(claim) ?? []);
    const other = holders.find((holder) => JSON.stringify(holder.plan) !== JSON.stringify(entry.plan));
    if (other !== undefined) report(entry.number, [`its id, reference or access_key is that of line ${other.number}`]);
    for (const claim of claims) if (!owners.has(claim)) owners.set(claim, entry);
    return holders.length === 0;
  });
};

const checkCompanies = async (plans: readonly Numbered[], deps: ImportInvoicesDeps, report: Report): Promise<void> => {
  const named = [...new Set(plans.map(({ plan }) => plan.data.companyId))];
  const unknown = await inGroups(AT_ONCE, named, async (companyId) => {
    const { state } = await loadCompany(companyId, deps.store);
    return state.kind === 'none' ? [companyId] : [];
  });
  const missing = new Set(unknown.flat());
  for (const { number, plan } of plans) {
    if (missing.has(plan.data.companyId)) report(number, ['cnpj is no registered company']);
  }
};

/** One note is one invoice: a key that another invoice of the mode holds is refused. */
const checkAccessKeys = async (plans: readonly Numbered[], deps: ImportInvoicesDeps, report: Report): Promise<void> => {
  const keyed = plans.flatMap(({ number, plan }) =>
    plan.data.accessKey === undefined ? [] : [{ number, plan, accessKey: plan.data.accessKey }],
  );
  for (let start = 0; start < keyed.length; start += KEYS_AT_ONCE) {
    const some = keyed.slice(start, start + KEYS_AT_ONCE);
    const held = await deps.readModel.byAccessKeys(some.map(({ accessKey }) => accessKey));
    for (const { number, plan, accessKey } of some) {
      const other = held.find(
        (holder) =>
          holder.accessKey === accessKey && holder.stream !== plan.stream && isOfMode(holder.stream, plan.data.mode),
      );
      if (other !== undefined) report(number, ['access_key is that of an invoice on record']);
    }
  }
};

const isOfMode = (stream: string, mode: Mode): boolean => stream.startsWith(invoicePrefix[mode]);

const isText = (value: string | undefined): value is string => value !== undefined;

const inOrder = (problems: ReadonlyMap<number, readonly string[]>): readonly string[] =>
  [...problems]
    .sort(([a], [b]) => a - b)
    .flatMap(([number, found]) => found.map((problem) => `line ${number}: ${problem}`));

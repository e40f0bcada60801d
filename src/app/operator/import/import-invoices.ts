import { inGroups } from '../../../lib/in-groups.js';
import type { EventLog } from '../../../ports/event-log.js';
import { type AppendDeps, appendAll } from './append-lines.js';
import { checkImport, type ImportCheck, isCompletion, type Refusal } from './check-line.js';
import { checkAccessKeys, checkCompanies, checkUnsettled } from './check-lines.js';
import type { NoteFiles, PlannedImport } from './import-line.js';
import {
  createImportProblems,
  type ImportProblems,
  LINES_AT_ONCE,
  type Numbered,
  type OnLines,
  type Told,
  told,
} from './import-problems.js';
import { importWarnings } from './import-warnings.js';
import { metLines } from './notes-met.js';
import type { KeyHoldersDeps, UnsettledDeps } from './notes-on-record.js';
import { planLines, shapeProblem, withoutRepetitions } from './read-lines.js';

type ImportDeps = AppendDeps &
  NoteFiles &
  KeyHoldersDeps &
  UnsettledDeps & {
    log: Pick<EventLog, 'read' | 'lastEvent'>;
    /** Access keys of notes that the operator has compared, and says to be of other sales than the invoices that met them. */
    otherSales: readonly string[];
    /** All is checked, and nothing appended. */
    isCheck: boolean;
    onLines: OnLines;
  };

type ImportResult =
  | {
      /** With the notes that were recorded on accepted invoices. Of a check: that would be. */
      imported: number;
      /** Lines that an earlier import or line brought. */
      already: number;
      /** Of lines that were taken, each with its number. */
      warnings: Told;
      /** Lines that a request or another import forestalled. All others were imported. */
      refused: Told;
    }
  /** Nothing was imported. */
  | { problems: Told };

/**
 * Takes over invoices made elsewhere, one JSON object a line. Every line is checked, also against the log, before the first is appended. A
 * process that dies meanwhile leaves some lines imported; importing the same file again adds the rest.
 */
export const importInvoices = async (text: string, deps: ImportDeps): Promise<ImportResult> => {
  const misshapen = shapeProblem(text);
  if (misshapen !== undefined) return { problems: told(misshapen) };
  const problems = createImportProblems();
  const plans = await planLines(text, deps, problems);
  const fresh = withoutRepetitions(plans, problems);
  await checkCompanies(fresh, deps, problems);
  await checkAccessKeys(fresh, deps, problems);
  const check = async (entry: Numbered): Promise<Numbered & { check: ImportCheck }> => {
    const checked = await checkImport(entry.plan, deps);
    if (checked.kind === 'refused') reportRefused(entry.number, checked, problems);
    if (checked.kind !== 'already_so') problems.report(entry.number, entry.plan.objections);
    return { ...entry, check: checked };
  };
  const checks = await inGroups(LINES_AT_ONCE, fresh, check, (done) => deps.onLines('check', done, fresh.length));
  const open = checks.filter(({ check }) => check.kind !== 'already_so');
  await checkUnsettled(open, deps, problems);
  const met = await metLines(plans, deps);
  const toAppend = new Set(open.map(({ number }) => number));
  for (const { number, refusal } of met)
    if (refusal !== undefined && toAppend.has(number)) problems.report(number, [refusal]);
  if (problems.lineCount() > 0) return { problems: problems.textsOfRefusedFile(plans.length) };
  if (plans.length === 0) return { problems: told('the file has no line') };
  const added = new Set(open.filter(({ check }) => !isCompletion(check)).map(({ plan }) => plan.stream));
  const isKnown = ({ stream }: PlannedImport): boolean => !added.has(stream);
  const warnings = importWarnings(plans, met, { ...deps, now: deps.clock.now(), isOnRecord: isKnown });
  const imported = deps.isCheck ? open.length : await appendAll(open, problems, deps);
  const already = plans.length - imported - problems.lineCount();
  return { imported, already, warnings, refused: problems.texts() };
};

const reportRefused = (number: number, { problem, isOtherContent }: Refusal, problems: ImportProblems): void => {
  if (isOtherContent === true) problems.reportOnRecord(number, problem);
  else problems.report(number, [problem]);
};

import { inGroups } from '../../../lib/in-groups.js';
import type { Clock } from '../../../ports/clock.js';
import type { EventLog } from '../../../ports/event-log.js';
import { type AppendDeps, appendAll } from './append-lines.js';
import { checkImport, type ImportCheck, isCompletion, type Refusal } from './check-line.js';
import { checkAccessKeys, checkCompanies, checkUnsettled } from './check-lines.js';
import { type NoteFiles, type PlannedImport, parseImportLine, planLine } from './import-line.js';
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

/** What a file that is no JSON object a line is, where one sentence says more than a problem for each line. */
const shapeProblem = (text: string): string | undefined => {
  const start = text.trimStart();
  if (start.startsWith('['))
    return "the file is a JSON array, and an import reads one JSON object a line: jq -c '.[]' FILE > NEW-FILE";
  if (isOverSeveralLines(start))
    return 'the file has a JSON object over several lines, and an import reads one a line: jq -c . FILE > NEW-FILE';
  if (!text.includes('\n') && text.includes('}\r{'))
    return "the lines of the file end with CR alone, and an import reads lines that end with LF: tr '\\r' '\\n' < FILE > NEW-FILE";
  return undefined;
};

/** Whether the next line that is not blank continues the object of the first line. Behind a line that was cut begins another object. */
const isOverSeveralLines = (text: string): boolean => {
  const end = text.indexOf('\n');
  const first = text.slice(0, end).trimEnd();
  return end !== -1 && first.startsWith('{') && /[{[:,]$/.test(first) && /^\s*[^\s{]/.test(text.slice(end));
};

/** The lines of the file, but for blank ones and those with a problem of their own. */
const planLines = async (
  text: string,
  deps: NoteFiles & { clock: Clock; onLines: OnLines },
  problems: ImportProblems,
): Promise<readonly Numbered[]> => {
  // A CR alone ends no line for `sed` and editors either, so an operator finds the line by its number.
  const lines = text.split(/\r?\n/);
  const numbered = lines.flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]));
  const plan = async ({ line, number }: { line: string; number: number }): Promise<readonly Numbered[]> => {
    problems.company(number, line);
    // Of files that were joined, each may begin with a byte order mark.
    const parsed = parseImportLine(line.replace(/^\ufeff/, ''));
    const result = 'problems' in parsed ? parsed : await planLine(parsed.line, deps, deps.clock.now());
    if ('problems' in result) problems.report(number, result.problems);
    return 'plan' in result ? [{ number, plan: result.plan }] : [];
  };
  const planned = await inGroups(LINES_AT_ONCE, numbered, plan, (done) => deps.onLines('read', done, numbered.length));
  return planned.flat();
};

/** A line that repeats another line is no problem. A line that names the same id, reference or access key for other content is one. */
const withoutRepetitions = (plans: readonly Numbered[], problems: ImportProblems): readonly Numbered[] => {
  const owners = new Map<string, Numbered>();
  return plans.filter((entry) => {
    const { stream, data, reservation } = entry.plan;
    const names = [stream, reservation, data.accessKey && `${data.mode} ${data.accessKey}`].filter(isText);
    const holders = names.flatMap((name) => owners.get(name) ?? []);
    const other = holders.find((holder) => JSON.stringify(holder.plan.data) !== JSON.stringify(data));
    const [first] = holders;
    if (other !== undefined)
      problems.report(entry.number, [`its id, reference or access_key is that of line ${other.number}`]);
    // A line that names its invoice by the id is judged otherwise than one that only leads to it.
    else if (first !== undefined && first.plan.namesId === entry.plan.namesId)
      problems.repeats(entry.number, first.number);
    for (const name of names) if (!owners.has(name)) owners.set(name, entry);
    return holders.length === 0;
  });
};

const isText = (value: string | undefined): value is string => value !== undefined;

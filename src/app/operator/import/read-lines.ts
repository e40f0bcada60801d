import { inGroups } from '../../../lib/in-groups.js';
import type { Clock } from '../../../ports/clock.js';
import { type NoteFiles, parseImportLine, planLine } from './import-line.js';
import { type ImportProblems, LINES_AT_ONCE, type Numbered, type OnLines } from './import-problems.js';

/** What a file that is no JSON object a line is, where one sentence says more than a problem for each line. */
export const shapeProblem = (text: string): string | undefined => {
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
export const planLines = async (
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
export const withoutRepetitions = (plans: readonly Numbered[], problems: ImportProblems): readonly Numbered[] => {
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

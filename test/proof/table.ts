import type { Judged } from './judge/documents.js';
import type { FaultName } from './judge/finding.js';
import type { Verdict } from './judge/judge.js';
import type { Mishap } from './judge/raw.js';

/** One line of the table: what was promised, how often it was looked at, and how often it was broken. */
export type Line = { promise: string; figure: string; broken: number | undefined };

const number = (value: number): string => value.toLocaleString('en');

/** The table of a run. `broken` is undefined for a figure that promises nothing, and for a judgement that was not made. */
export const tableOf = (
  { counts, findings, outcomes, by }: Verdict,
  mishaps: readonly Mishap[],
  faults: number,
): readonly Line[] => {
  const broken = (...names: readonly FaultName[]): number => findings.filter(({ name }) => names.includes(name)).length;
  const judged = (program: string, result: Judged): Line =>
    'notMade' in result
      ? { promise: `documents judged by ${program}`, figure: `not made: ${result.notMade}`, broken: undefined }
      : {
          promise: `documents judged by ${program}`,
          figure: `${number(result.passed)} of ${number(result.of)} passed`,
          broken: result.of - result.passed,
        };
  const kinds = new Map<string, number>();
  for (const { kind } of mishaps) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const made = [...kinds].sort().map(([kind, count]) => `${kind} ${count}`);
  const ends = Object.entries(outcomes).map(([status, count]) => `${status} ${number(count)}`);
  return [
    {
      promise: 'requests',
      figure: `${number(counts.requests)}, ${number(counts.lostAnswers)} without an answer`,
      broken: undefined,
    },
    { promise: 'invoices', figure: `${number(counts.invoices)}: ${ends.sort().join(', ')}`, broken: undefined },
    { promise: 'not judged: waiting for the hour', figure: number(counts.inTheirHour), broken: undefined },
    { promise: 'mishaps', figure: made.join(', '), broken: undefined },
    { promise: 'faults of the authorizer ordered', figure: number(faults), broken: undefined },
    {
      promise: 'notes in the ledger',
      figure: `${number(counts.notes)}, ${number(counts.canceled)} canceled`,
      broken: undefined,
    },
    {
      promise: 'duplicates',
      figure: `of ${number(counts.sends)} sends`,
      broken: broken(
        'second_note',
        'note_without_request',
        'double_send',
        'send_before_record',
        'note_without_attempt',
        'reused_number',
      ),
    },
    {
      promise: 'lost',
      figure: `of ${number(counts.invoices)} invoices`,
      broken: broken('lost_invoice', 'lost_event', 'key_forgotten', 'reference_taken_twice', 'nothing_accepted'),
    },
    {
      promise: 'wrong outcomes',
      figure: `by ${number(counts.lookUps)} look-ups and the ledger`,
      broken: broken('wrong_outcome', 'cancel_without_event', 'verdict_without_look_up', 'nothing_issued'),
    },
    {
      promise: 'answers that went backwards, changed, or were of another request',
      figure: `of ${number(counts.requests)}`,
      broken: broken('status_backwards', 'answer_changed', 'other_request_answered'),
    },
    {
      promise: 'shown to a stranger, or stored in clear',
      figure: `of ${number(counts.events)} events and the service's log`,
      broken: broken('foreign_invoice_shown', 'sealed_field_in_clear'),
    },
    judged('xmllint', by.xmllint),
    judged('xmlsec1', by.xmlsec1),
    judged('xml-crypto', by['xml-crypto']),
    {
      promise: "documents equal to the authorizer's",
      figure: `of ${number(counts.documents)}`,
      broken: broken('altered_document'),
    },
    { promise: 'events verified', figure: number(counts.events), broken: broken('lost_event') },
    { promise: 'replays equal to what was polled', figure: number(counts.replays), broken: broken('replay_differs') },
    {
      promise: 'read models rebuilt byte for byte',
      figure: `${number(counts.rows)} rows`,
      broken: broken('projection_drift'),
    },
    {
      promise: 'everything else',
      figure: "commands, starts and stops, the service's own audit",
      broken: broken('trouble'),
    },
  ];
};

/** The last line of a run, which a person and a job read alone. */
export const verdictLine = ({ findings, by }: Verdict, isWhole: boolean): string => {
  if (findings.length > 0 || !isWhole) return 'NOT AS PROMISED';
  const notMade = Object.entries(by).flatMap(([program, result]) => ('notMade' in result ? program : []));
  return notMade.length === 0
    ? 'everything was as promised'
    : `everything that was judged was as promised; not made: ${notMade.join(', ')}`;
};

/** Aligned, for a terminal. */
export const renderTable = (lines: readonly Line[]): string => {
  const cells = lines.map(({ promise, figure, broken }) => [
    promise,
    broken === undefined ? '' : number(broken),
    figure,
  ]);
  const widths = [0, 1].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map(
      ([promise = '', broken = '', figure = '']) =>
        `${promise.padEnd(widths[0] ?? 0)}  ${broken.padStart(widths[1] ?? 0)}  ${figure}`,
    )
    .join('\n');
};

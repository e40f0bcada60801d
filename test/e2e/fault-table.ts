import type { Judged } from './fault-judge.js';

/** Outcomes and the highest numbers of calls by kind of fault; an invoice with two kinds counts in both rows. */
export const tableOf = (all: readonly Judged[]): string => {
  const kinds = [...new Set(all.flatMap(kindsOf))].sort();
  const ends = [...new Set(all.map((one) => one.ends))].sort();
  const rows = kinds.map((kind) => {
    const own = all.filter((one) => kindsOf(one).includes(kind));
    const counts = ends.map((end) => own.filter((one) => one.ends === end).length);
    const most = (count: (one: Judged) => number) => Math.max(...own.map(count));
    const sends = most(({ calls }) => Math.max(calls.sends, calls.eventSends));
    const lookUps = most(({ calls }) => Math.max(calls.lookUps, calls.eventLookUps));
    return [kind, own.length, ...counts, sends, lookUps];
  });
  const deaths = all.reduce((sum, { deaths }) => sum + deaths, 0);
  const head = ['fault', 'invoices', ...ends, 'most sends', 'most look-ups'];
  return [...aligned([head, ...rows]), `${all.length} invoices, ${deaths} issuers died`].join('\n');
};

const kindsOf = ({ plan }: Judged): readonly string[] => [...new Set(plan.faults.map(({ kind }) => kind))];

export const aligned = (rows: readonly (readonly (string | number)[])[]): readonly string[] => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  return rows.map((row) => row.map((cell, column) => String(cell).padStart(widths[column] ?? 0)).join('  '));
};

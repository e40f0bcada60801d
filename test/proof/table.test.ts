import { describe, expect, it } from 'vitest';
import { proofRun } from '../support/fixture/proof-run.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { judge } from './judge/judge.js';
import { renderTable, tableOf, verdictLine } from './table.js';

const raw = proofRun(temporaryFolder());
const passed = { passed: 3, of: 3 };
const verdict = judge(raw, {
  findings: [],
  by: { xmllint: { notMade: 'xmllint is not installed' }, xmlsec1: passed, 'xml-crypto': passed },
});

describe('the table of a run', () => {
  it('counts a judgement that was not made as not made, never as passed', () => {
    const line = tableOf(verdict, raw.mishaps, 5).find(({ promise }) => promise === 'documents judged by xmllint');
    expect(line).toEqual({
      promise: 'documents judged by xmllint',
      figure: 'not made: xmllint is not installed',
      broken: undefined,
    });
  });

  it('ends with what was not judged, and never with more than was judged', () => {
    expect(verdictLine(verdict, true)).toBe('everything that was judged was as promised; not made: xmllint');
    const whole = { ...verdict, by: { xmllint: passed, xmlsec1: passed, 'xml-crypto': passed } };
    expect(verdictLine(whole, true)).toBe('everything was as promised');
    expect(verdictLine(whole, false)).toBe('NOT AS PROMISED');
    const finding = { name: 'second_note', detail: 'w1 became 2 notes', evidence: 'keys' } as const;
    expect(verdictLine({ ...verdict, findings: [finding] }, true)).toBe('NOT AS PROMISED');
  });

  it('shows every promise that was broken', () => {
    const finding = { name: 'second_note', detail: 'w1 became 2 notes', evidence: 'keys' } as const;
    const lines = tableOf({ ...verdict, findings: [finding] }, raw.mishaps, 5);
    expect(lines.filter(({ broken = 0 }) => broken > 0).map(({ promise }) => promise)).toEqual(['duplicates']);
    expect(renderTable(lines)).toMatch(/duplicates +1 +of \d+ sends/);
  });

  it('counts every name that the judge can give', async () => {
    const { FAULT_NAMES } = await import('./judge/finding.js');
    for (const name of FAULT_NAMES.filter((one) => one !== 'invalid_document')) {
      const findings = [{ name, detail: '', evidence: '' }];
      const broken = tableOf({ ...verdict, findings }, [], 0).reduce((sum, line) => sum + (line.broken ?? 0), 0);
      expect([name, broken > 0]).toEqual([name, true]);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { createImportProblems, type ImportProblems } from '../../../../src/app/operator/import/import-problems.js';

const refusing = (numbers: readonly number[]): ImportProblems => {
  const problems = createImportProblems();
  for (const number of numbers) problems.reportOnRecord(number, `nfse_${number} is on record with other content`);
  return problems;
};

/** Every second line, so that each is a range of its own. */
const scattered = (ranges: number): readonly number[] => Array.from({ length: ranges }, (_, n) => 2 * n + 2);

describe('a file that is refused only because of lines on record', () => {
  it.each([60, 2_000])('gets the sed order for %i scattered lines, as shown and with --json', (ranges) => {
    const lines = scattered(ranges);
    const { all, shown } = refusing(lines).textsOfRefusedFile(5_000);
    const order = `all lines are imported or none: the rest is taken from a file without such lines: sed '${lines.map((n) => `${n}d`).join(';')}' FILE > NEW-FILE`;
    expect([all.at(-1), shown.at(-1)]).toEqual([order, order]);
    expect(all).toHaveLength(ranges + 1);
  });

  it('is told where the numbers are when there are too many for one order', () => {
    const { all, shown } = refusing(scattered(2_001)).textsOfRefusedFile(5_000);
    const text =
      'all lines are imported or none: the rest is taken from a file without these 2001 lines, which are too many for one sed order: --json has all';
    expect([all.at(-1), shown.at(-1)]).toEqual([text, text]);
    expect(all).toHaveLength(2_002);
    expect(shown).toHaveLength(12);
  });
});

import { expect, it } from 'vitest';
import { askedFor, askSeries, furthestOf, type SeriesToCompare } from '../../../src/app/recovery/ask-series.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { recoveryHarness } from '../../support/harness/recovery.js';

const wanted: SeriesToCompare = {
  mode: 'live',
  companyId: DEMO_CNPJ,
  municipality: '3304557',
  series: '1',
  nextNumber: 4,
  starts: [1],
  taken: [],
  attempted: new Set(),
};

it('keeps no document of a note that the log has', async () => {
  const { deps, register } = await recoveryHarness();
  const known = register(1, 1);
  const lost = register(2, 2);
  const isInLog = ({ accessKey }: { accessKey: string }): boolean => accessKey === known.accessKey;
  expect(await askSeries(wanted, { ...deps, isInLog })).toMatchObject({
    found: [{ number: 2, note: lost }],
    held: [1],
    walks: [{ from: 1, to: 7 }],
  });
});

it('finds the furthest of more numbers than a call takes arguments', () => {
  expect(furthestOf(Array.from({ length: 200_000 }, (_, number) => number))).toBe(199_999);
  expect(furthestOf([])).toBe(0);
});

it('says which numbers were asked for, those of the log too, and joins ranges that touch', () => {
  expect(
    askedFor(
      [9, 3, 4, 17],
      [
        { from: 10, to: 14 },
        { from: 12, to: 16 },
        { from: 40, to: 44 },
      ],
    ),
  ).toEqual([
    { from: 3, to: 4 },
    { from: 9, to: 17 },
    { from: 40, to: 44 },
  ]);
});

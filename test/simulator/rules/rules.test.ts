import { describe, expect, it } from 'vitest';
import { RULES } from '../../../src/simulator/rules/engine.js';
import { codesFor, mei, normal, outside, type Row, special } from './row.js';
import { ibscbsRows, reimbursementRows, validIbscbs } from './rows/ibscbs.js';
import { headerRows, prestRows, substRows, validHeaders, validSubstitutions } from './rows/infDPS.js';
import { partyRows, validParties } from './rows/parties.js';
import { comExtRows, obraEventoRows, servRows, validServices } from './rows/serv.js';
import { benefitRows, federalRows, pAliqRows, totalRows, tribMunRows, validTaxes } from './rows/trib.js';
import { documentRows, validValues, valoresRows } from './rows/valores.js';

const GROUPS: readonly [string, readonly Row[]][] = [
  ['infDPS', headerRows],
  ['subst', substRows],
  ['prest', prestRows],
  ['toma and interm', partyRows],
  ['serv', servRows],
  ['comExt', comExtRows],
  ['obra and atvEvento', obraEventoRows],
  ['valores', valoresRows],
  ['docDedRed', documentRows],
  ['tribMun', tribMunRows],
  ['BM', benefitRows],
  ['pAliq', pAliqRows],
  ['tribFed', federalRows],
  ['totTrib', totalRows],
  ['IBSCBS', ibscbsRows],
  ['gReeRepRes', reimbursementRows],
];

describe.each(GROUPS)('the rules of %s', (_name, rows) => {
  it.each(rows.map(([codes, changes, setup]) => ({ codes, changes, setup })))(
    'refuse one change with exactly $codes',
    ({ codes, changes, setup }) => {
      expect(codesFor(changes, setup)).toEqual(codes);
    },
  );
});

describe('a DPS that breaks no rule', () => {
  const regimes: readonly Row[] = [{}, mei, normal, special, outside].map((changes): Row => [[], changes]);
  const valid = [
    regimes,
    validHeaders,
    validSubstitutions,
    validParties,
    validServices,
    validValues,
    validTaxes,
    validIbscbs,
  ].flat();

  it.each(valid.map(([, changes, setup]) => ({ changes, setup })))('passes: $changes $setup', ({ changes, setup }) => {
    expect(codesFor(changes, setup)).toEqual([]);
  });
});

describe('the rule engine', () => {
  it('has a row here for every one of its codes, and no code twice', () => {
    const codes = RULES.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    const shown = new Set(GROUPS.flatMap(([, rows]) => rows.flatMap(([broken]) => broken)));
    expect(codes.filter((code) => !shown.has(code))).toEqual([]);
    expect(codes.length).toBeGreaterThanOrEqual(120);
  });
});

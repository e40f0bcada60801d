import { percent, slashed, sumOf } from '../format.js';
import type { IbsCbs, Note } from '../note.js';
import { placeOf } from '../places.js';
import { amount, type Block, type Cell, field, titleCell } from './grid.js';

/** The taxes of the reform. A note without them has dashes: NT 008, 2.3, lets nobody leave this block out. */
export const ibsCbs = (note: Note): Block => {
  const taxes = note.ibsCbs ?? {};
  return {
    top: 18.32,
    end: 20.9,
    rows: [
      { top: 18.32, height: HEIGHT, cells: operation(taxes) },
      { top: 18.96, height: HEIGHT, cells: base(taxes, note) },
      { top: 19.61, height: HEIGHT, cells: ibs(taxes) },
      { top: 20.26, height: HEIGHT, cells: sums(taxes) },
    ],
  };
};

const HEIGHT = 0.63;

type Taxes = Partial<IbsCbs>;

const operation = (taxes: Taxes): readonly Cell[] => [
  titleCell('TRIBUTAÇÃO IBS / CBS'),
  field(2, 'CST / cClassTrib', slashed(taxes.CST, taxes.cClassTrib), 12),
  field(
    3,
    'Indicador de Operação / Código IBGE Incidência / Município Incidência / Sigla UF',
    slashed(taxes.cIndOp, taxes.cLocalidadeIncid, taxes.xLocalidadeIncid, placeOf(taxes.cLocalidadeIncid)?.uf),
    56,
    2,
  ),
];

const base = (taxes: Taxes, note: Note): readonly Cell[] => [
  amount(1, 'Exclusões e Reduções da Base de Cálculo', exclusions(note)),
  amount(2, 'Base de Cálculo Após Exclusões e Reduções', taxes.vBC),
  field(
    3,
    'Red. Alíquota IBS / Red. Alíquota CBS',
    slashed(percent(taxes.pRedAliqUF), percent(taxes.pRedAliqMun), percent(taxes.pRedAliqCBS)),
    30,
  ),
  field(4, 'Alíquota - IBS UF / IBS Mun', slashed(percent(taxes.pIBSUF), percent(taxes.pIBSMun)), 30),
];

const ibs = (taxes: Taxes): readonly Cell[] => [
  field(1, 'Alíq. Efetiva Municipal - IBS', percent(taxes.pAliqEfetMun), 10),
  amount(2, 'Valor Apurado Municipal - IBS', taxes.vIBSMun),
  field(3, 'Alíq. Efetiva Estadual - IBS', percent(taxes.pAliqEfetUF), 10),
  amount(4, 'Valor Apurado Estadual - IBS', taxes.vIBSUF),
];

const sums = (taxes: Taxes): readonly Cell[] => [
  amount(1, 'Valor Total Apurado - IBS', taxes.vIBSTot),
  field(2, 'Alíquota - CBS', percent(taxes.pCBS), 10),
  field(3, 'Alíquota Efetiva - CBS', percent(taxes.pAliqEfetCBS), 10),
  amount(4, 'Valor Total Apurado - CBS', taxes.vCBS),
];

/** Excluded from a base that exists only in a note with IBS and CBS. */
const exclusions = ({ ibsCbs: taxes, totals, issqn, federal }: Note): string | undefined =>
  taxes === undefined
    ? undefined
    : sumOf(totals.vDescIncond, taxes.vCalcReeRepRes, issqn.vISSQN, federal.vPis, federal.vCofins);

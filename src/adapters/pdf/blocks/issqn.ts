import { ABSENT, percent, slashed, sumOf } from '../format.js';
import { labelOf, regEspTrib, tpBM, tpImunidade, tpRetISSQN, tpSusp, tribISSQN } from '../labels.js';
import type { Issqn, Note } from '../note.js';
import { placeOf } from '../places.js';
import { amount, type Block, type Cell, field, titleCell } from './grid.js';

/** The municipal tax; one line when the operation is not subject to it (NT 008, 2.4.5, note 4). */
export const issqn = ({ issqn: tax }: Note): Block => ({
  top: 14.43,
  end: 17.02,
  rows: [
    { top: 14.43, height: HEIGHT, cells: kind(tax) },
    { top: 15.08, height: HEIGHT, cells: regime(tax) },
    { top: 15.73, height: HEIGHT, cells: benefit(tax) },
    { top: 16.37, height: HEIGHT, cells: assessed(tax) },
  ],
  ...(tax.tribISSQN === NOT_SUBJECT ? { instead: 'TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN' } : {}),
});

const HEIGHT = 0.63;

/** `tribISSQN` of an operation outside the tax. */
const NOT_SUBJECT = '4';

// 2.4.5 suggests for these two the places of the block's title and of each other; Anexo I, which is mandatory, has these.
const kind = (tax: Issqn): readonly Cell[] => [
  titleCell('TRIBUTAÇÃO MUNICIPAL (ISSQN)'),
  field(2, 'Tipo de Tributação do ISSQN', labelOf(tribISSQN, tax.tribISSQN), 21),
  field(3, 'Município / Sigla UF / País de Incidência do ISSQN', incidence(tax), 42, 2),
];

const regime = (tax: Issqn): readonly Cell[] => [
  field(1, 'Regime Especial de Tributação do ISSQN', labelOf(regEspTrib, tax.regEspTrib), 27),
  field(2, 'Tipo de Imunidade do ISSQN', labelOf(tpImunidade, tax.tpImunidade), 40),
  field(3, 'Suspensão da Exigibilidade do ISSQN', labelOf(tpSusp, tax.tpSusp), 40),
  field(4, 'Número Processo Suspensão', tax.nProcesso ?? ABSENT, 30),
];

const benefit = (tax: Issqn): readonly Cell[] => [
  field(1, 'Benefício Municipal', labelOf(tpBM, tax.tpBM), 40),
  amount(2, 'Cálculo do BM', tax.vCalcBM ?? tax.vRedBCBM),
  amount(3, 'Total Deduções/Reduções', sumOf(tax.vCalcDR ?? tax.vDR, tax.vCalcReeRepRes)),
  amount(4, 'Desconto Incondicionado', tax.vDescIncond),
];

const assessed = (tax: Issqn): readonly Cell[] => [
  amount(1, 'BC ISSQN', tax.vBC),
  field(2, 'Alíquota Aplicada', percent(tax.pAliqAplic), 10),
  field(3, 'Retenção do ISSQN', labelOf(tpRetISSQN, tax.tpRetISSQN), 25),
  amount(4, 'ISSQN Apurado', tax.vISSQN),
];

const incidence = (tax: Issqn): string =>
  tax.cLocIncid === undefined
    ? (tax.cPaisResult ?? ABSENT)
    : slashed(tax.xLocIncid, placeOf(tax.cLocIncid)?.uf, tax.cPaisResult ?? 'BR');

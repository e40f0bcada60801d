import type { ContentTable } from 'pdfmake/interfaces.js';
import { ABSENT, money, percent, slashed, sumOf } from '../format.js';
import { labelOf, regEspTrib, tpBM, tpImunidade, tpRetISSQN, tpSusp, tribISSQN } from '../labels.js';
import type { Issqn, Note } from '../note.js';
import { placeOf } from '../places.js';
import { block, type Cell, field, replacementLine, titleCell } from './grid.js';

/** The municipal tax; one line when the operation is not subject to it (NT 008, 2.4.5, notes 4 and 5). */
export const issqn = ({ issqn: tax }: Note): ContentTable =>
  tax.tribISSQN === NOT_SUBJECT
    ? replacementLine('TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN')
    : block(
        [
          titleCell('TRIBUTAÇÃO MUNICIPAL (ISSQN)'),
          field('Tipo de Tributação do ISSQN', labelOf(tribISSQN, tax.tribISSQN), 21),
          field('Município / Sigla UF / País de Incidência do ISSQN', incidence(tax), 42, 2),
        ],
        ...regimeRow(tax),
        ...benefitRow(tax),
        [
          field('BC ISSQN', money(tax.vBC), 25),
          field('Alíquota Aplicada', percent(tax.pAliqAplic), 10),
          field('Retenção do ISSQN', labelOf(tpRetISSQN, tax.tpRetISSQN), 25),
          field('ISSQN Apurado', money(tax.vISSQN), 25),
        ],
      );

/** `tribISSQN` of an operation outside the tax. */
const NOT_SUBJECT = '4';

const incidence = (tax: Issqn): string =>
  tax.cLocIncid === undefined
    ? (tax.cPaisResult ?? ABSENT)
    : slashed(tax.xLocIncid, placeOf(tax.cLocIncid)?.uf, tax.cPaisResult ?? 'BR');

const regimeRow = (tax: Issqn): Cell[][] =>
  someOf(tax.regEspTrib, tax.tpImunidade, tax.tpSusp, tax.nProcesso)
    ? [
        [
          field('Regime Especial de Tributação do ISSQN', labelOf(regEspTrib, tax.regEspTrib), 27),
          field('Tipo de Imunidade do ISSQN', labelOf(tpImunidade, tax.tpImunidade), 40),
          field('Suspensão da Exigibilidade do ISSQN', labelOf(tpSusp, tax.tpSusp), 40),
          field('Número Processo Suspensão', tax.nProcesso ?? ABSENT, 30),
        ],
      ]
    : [];

const benefitRow = (tax: Issqn): Cell[][] => {
  const deductions = sumOf(tax.vCalcDR ?? tax.vDR, tax.vCalcReeRepRes);
  return someOf(tax.tpBM, tax.vCalcBM, tax.vRedBCBM, tax.vDR, tax.vCalcDR, tax.vDescIncond)
    ? [
        [
          field('Benefício Municipal', labelOf(tpBM, tax.tpBM), 40),
          field('Cálculo do BM', money(tax.vCalcBM ?? tax.vRedBCBM), 25),
          field('Total Deduções/Reduções', money(deductions), 25),
          field('Desconto Incondicionado', money(tax.vDescIncond), 25),
        ],
      ]
    : [];
};

const someOf = (...texts: readonly (string | undefined)[]): boolean => texts.some((text) => text !== undefined);

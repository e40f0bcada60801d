import { labelOf, tpRetPisCofins } from '../labels.js';
import type { Note } from '../note.js';
import { amount, type Block, field, type Row, titleCell } from './grid.js';

/** Federal taxes except CBS; PIS and COFINS only for competences up to 2026 (NT 008, 2.4.5, note 6). */
export const federal = (note: Note): Block => {
  const first: Row = {
    top: 17.02,
    height: HEIGHT,
    cells: [
      titleCell('TRIBUTAÇÃO FEDERAL (EXCETO CBS)'),
      amount(2, 'IRRF', note.federal.vRetIRRF),
      amount(3, 'Contribuição Previdenciária - Retida', note.federal.vRetCP),
      amount(4, 'Contribuições Sociais - Retidas', note.federal.vRetCSLL),
    ],
  };
  return (note.dCompet ?? '') <= LAST_DAY_OF_PIS_COFINS
    ? { top: first.top, end: 18.32, rows: [first, pisCofins(note)] }
    : { top: first.top, end: 18.32, rows: [first], missing: 18.32 - PIS_COFINS };
};

const HEIGHT = 0.63;

/** Top of the row that is not printed any more from 2027 on. */
const PIS_COFINS = 17.67;

const LAST_DAY_OF_PIS_COFINS = '2026-12-31';

const pisCofins = ({ federal: taxes }: Note): Row => ({
  top: PIS_COFINS,
  height: HEIGHT,
  cells: [
    amount(1, 'PIS - Débito Apuração Própria', taxes.vPis),
    amount(2, 'COFINS - Débito Apuração Própria', taxes.vCofins),
    field(3, 'Descrição Contrib. Sociais - Retidas', labelOf(tpRetPisCofins, taxes.tpRetPisCofins), 35, 2),
  ],
});

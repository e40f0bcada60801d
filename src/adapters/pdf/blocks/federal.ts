import type { ContentTable } from 'pdfmake/interfaces.js';
import { money } from '../format.js';
import { labelOf, tpRetPisCofins } from '../labels.js';
import type { Note } from '../note.js';
import { block, type Cell, field, titleCell } from './grid.js';

/** Federal taxes except CBS; PIS and COFINS only for competences up to 2026 (NT 008, 2.4.5, note 6). */
export const federal = (note: Note): ContentTable =>
  block(
    [
      titleCell('TRIBUTAÇÃO FEDERAL (EXCETO CBS)'),
      field('IRRF', money(note.federal.vRetIRRF), 25),
      field('Contribuição Previdenciária - Retida', money(note.federal.vRetCP), 25),
      field('Contribuições Sociais - Retidas', money(note.federal.vRetCSLL), 25),
    ],
    ...((note.dCompet ?? '') <= LAST_DAY_OF_PIS_COFINS ? [pisCofinsRow(note)] : []),
  );

const LAST_DAY_OF_PIS_COFINS = '2026-12-31';

const pisCofinsRow = ({ federal: taxes }: Note): Cell[] => [
  field('PIS - Débito Apuração Própria', money(taxes.vPis), 25),
  field('COFINS - Débito Apuração Própria', money(taxes.vCofins), 25),
  field('Descrição Contrib. Sociais - Retidas', labelOf(tpRetPisCofins, taxes.tpRetPisCofins), 35, 2),
];

import type { ContentTable } from 'pdfmake/interfaces.js';
import { money, sumOf } from '../format.js';
import type { Note } from '../note.js';
import { block, field, strongField, titleCell } from './grid.js';

/** What the customer pays. */
export const totals = ({ totals: sums }: Note): ContentTable =>
  block(
    [
      titleCell('VALOR TOTAL DA NFS-E'),
      strongField('VALOR DA OPERAÇÃO / SERVIÇO', money(sums.vServ), 25),
      field('Desconto Incondicionado', money(sums.vDescIncond), 25),
      field('Desconto Condicionado', money(sums.vDescCond), 25),
    ],
    [
      field('Total das Retenções (ISSQN / Federais)', money(sums.vTotalRet), 25),
      strongField('VALOR LÍQUIDO DA NFS-e', money(sums.vLiq), 25),
      field('Total do IBS/CBS', money(sumOf(sums.vIBSTot, sums.vCBS)), 25),
      strongField('VALOR LÍQUIDO DA NFS-e + IBS/CBS', money(sums.vTotNF), 25, 1, true),
    ],
  );

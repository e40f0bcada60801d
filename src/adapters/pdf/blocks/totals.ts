import { money, sumOf } from '../format.js';
import type { Note } from '../note.js';
import { AMOUNT_SIZE, amount, type Block, strongField, titleCell } from './grid.js';

/** What the customer pays. */
export const totals = ({ totals: sums }: Note): Block => ({
  top: 20.9,
  end: 22.27,
  rows: [
    {
      top: 20.9,
      height: HEIGHT,
      cells: [
        titleCell('VALOR TOTAL DA NFS-E'),
        strongField(2, 'VALOR DA OPERAÇÃO / SERVIÇO', money(sums.vServ), AMOUNT_SIZE),
        amount(3, 'Desconto Incondicionado', sums.vDescIncond),
        amount(4, 'Desconto Condicionado', sums.vDescCond),
      ],
    },
    {
      top: 21.59,
      height: HEIGHT,
      cells: [
        amount(1, 'Total das Retenções (ISSQN / Federais)', sums.vTotalRet),
        strongField(2, 'VALOR LÍQUIDO DA NFS-e', money(sums.vLiq), AMOUNT_SIZE),
        amount(3, 'Total do IBS/CBS', sumOf(sums.vIBSTot, sums.vCBS)),
        strongField(4, 'VALOR LÍQUIDO DA NFS-e + IBS/CBS', money(sums.vTotNF), AMOUNT_SIZE, { shaded: true }),
      ],
    },
  ],
});

const HEIGHT = 0.67;

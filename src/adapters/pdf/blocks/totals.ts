import { money, sumOf } from '../format.js';
import type { Note } from '../note.js';
import { type Block, field, strongField, titleCell } from './grid.js';

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
        strongField(2, 'VALOR DA OPERAÇÃO / SERVIÇO', money(sums.vServ), 25),
        field(3, 'Desconto Incondicionado', money(sums.vDescIncond), 25),
        field(4, 'Desconto Condicionado', money(sums.vDescCond), 25),
      ],
    },
    {
      top: 21.59,
      height: HEIGHT,
      cells: [
        field(1, 'Total das Retenções (ISSQN / Federais)', money(sums.vTotalRet), 25),
        strongField(2, 'VALOR LÍQUIDO DA NFS-e', money(sums.vLiq), 25),
        field(3, 'Total do IBS/CBS', money(sumOf(sums.vIBSTot, sums.vCBS)), 25),
        strongField(4, 'VALOR LÍQUIDO DA NFS-e + IBS/CBS', money(sums.vTotNF), 25, { shaded: true }),
      ],
    },
  ],
});

const HEIGHT = 0.67;

import { ABSENT, nationalServiceCode, nbsCode, slashed } from '../format.js';
import type { Note, Text } from '../note.js';
import { placeOf } from '../places.js';
import { type Block, bareCell, field, titleCell } from './grid.js';

/** What was done and where, down to the description, whose height is what the other blocks leave it. */
export const service = ({ service: done }: Note): Block => ({
  top: 12.74,
  end: 13.79,
  rows: [
    {
      top: 12.74,
      height: 0.63,
      cells: [
        titleCell('SERVIÇO PRESTADO'),
        field(2, 'Código de Tributação Nacional / Municipal', codes(done.cTribNac, done.cTribMun), 14),
        field(3, 'Código da NBS', nbsCode(done.cNBS), 12),
        field(4, 'Local da Prestação / Sigla UF / País', location(done), 42),
      ],
    },
    { top: 13.39, height: 0.38, cells: [bareCell(done.xTribMun ?? done.xTribNac ?? ABSENT, 170)] },
  ],
});

const codes = (national: Text, municipal: Text): string =>
  municipal === undefined ? nationalServiceCode(national) : slashed(nationalServiceCode(national), municipal);

const location = (done: Note['service']): string =>
  done.cPaisPrestacao === undefined
    ? slashed(done.xLocPrestacao, placeOf(done.cLocPrestacao)?.uf, 'BR')
    : slashed(done.xLocPrestacao, done.cPaisPrestacao);

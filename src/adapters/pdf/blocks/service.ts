import type { ContentTable } from 'pdfmake/interfaces.js';
import { ABSENT, nationalServiceCode, nbsCode, shortened, slashed } from '../format.js';
import type { Note, Text } from '../note.js';
import { placeOf } from '../places.js';
import { block, COLUMNS, cell, field, titleCell } from './grid.js';
import { flowing } from './long-text.js';

/** What was done and where. `share` of 0 to 1 of the description's 1,300 characters is shown. */
export const service = ({ service: done }: Note, share: number): ContentTable =>
  block(
    [
      titleCell('SERVIÇO PRESTADO'),
      field('Código de Tributação Nacional / Municipal', codes(done.cTribNac, done.cTribMun), 14),
      field('Código da NBS', nbsCode(done.cNBS), 12),
      field('Local da Prestação / Sigla UF / País', location(done), 42),
    ],
    [cell([shortened(done.xTribMun ?? done.xTribNac ?? ABSENT, 170)], COLUMNS)],
    [
      cell(
        [{ text: 'Descrição do Serviço', style: 'label' }, flowing(done.xDescServ ?? ABSENT, Math.floor(1300 * share))],
        COLUMNS,
      ),
    ],
  );

const codes = (national: Text, municipal: Text): string =>
  municipal === undefined ? nationalServiceCode(national) : slashed(nationalServiceCode(national), municipal);

const location = (done: Note['service']): string =>
  done.cPaisPrestacao === undefined
    ? slashed(done.xLocPrestacao, placeOf(done.cLocPrestacao)?.uf, 'BR')
    : slashed(done.xLocPrestacao, done.cPaisPrestacao);

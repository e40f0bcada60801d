import type { ContentTable } from 'pdfmake/interfaces.js';
import { money, percent, slashed, sumOf } from '../format.js';
import type { IbsCbs, Note } from '../note.js';
import { placeOf } from '../places.js';
import { block, field, titleCell } from './grid.js';

/** The taxes of the reform, for a note that has them. */
export const ibsCbs = (note: Note, taxes: IbsCbs): ContentTable =>
  block(
    [
      titleCell('TRIBUTAÇÃO IBS / CBS'),
      field('CST / cClassTrib', slashed(taxes.CST, taxes.cClassTrib), 12),
      field('Indicador de Operação / Código IBGE / Município Incidência / Sigla UF', operation(taxes), 56, 2),
    ],
    [
      field('Exclusões e Reduções da Base de Cálculo', money(exclusions(note, taxes)), 25),
      field('Base de Cálculo Após Exclusões e Reduções', money(taxes.vBC), 25),
      field('Red. Alíquota IBS / Red. Alíquota CBS', reductions(taxes), 30),
      field('Alíquota - IBS UF / IBS Mun', slashed(percent(taxes.pIBSUF), percent(taxes.pIBSMun)), 30),
    ],
    [
      field('Alíq. Efetiva Municipal - IBS', percent(taxes.pAliqEfetMun), 10),
      field('Valor Apurado Municipal - IBS', money(taxes.vIBSMun), 25),
      field('Alíq. Efetiva Estadual - IBS', percent(taxes.pAliqEfetUF), 10),
      field('Valor Apurado Estadual - IBS', money(taxes.vIBSUF), 25),
    ],
    [
      field('Valor Total Apurado - IBS', money(taxes.vIBSTot), 25),
      field('Alíquota - CBS', percent(taxes.pCBS), 10),
      field('Alíquota Efetiva - CBS', percent(taxes.pAliqEfetCBS), 10),
      field('Valor Total Apurado - CBS', money(taxes.vCBS), 25),
    ],
  );

const operation = (taxes: IbsCbs): string =>
  slashed(taxes.cIndOp, taxes.cLocalidadeIncid, taxes.xLocalidadeIncid, placeOf(taxes.cLocalidadeIncid)?.uf);

const exclusions = (note: Note, taxes: IbsCbs): string | undefined =>
  sumOf(note.totals.vDescIncond, taxes.vCalcReeRepRes, note.issqn.vISSQN, note.federal.vPis, note.federal.vCofins);

const reductions = (taxes: IbsCbs): string =>
  slashed(percent(taxes.pRedAliqUF), percent(taxes.pRedAliqMun), percent(taxes.pRedAliqCBS));

import type { ContentTable } from 'pdfmake/interfaces.js';
import { unreachable } from '../../../domain/shared/unreachable.js';
import { ABSENT, money, percent } from '../format.js';
import type { ApproximateTaxes, Complement, Note } from '../note.js';
import { block, COLUMNS, cell } from './grid.js';
import { flowing } from './long-text.js';

/**
 * Everything else that was written on the note, in the order of NT 008. `share` of 0 to 1 of its 2,000 characters is
 * shown; the line of Lei 12.741/2012 is always there.
 */
export const complement = (note: Note, share: number): ContentTable => {
  const text = writtenOn(note.complement);
  return block([
    cell(
      [
        { text: 'INFORMAÇÕES COMPLEMENTARES', style: 'title' },
        ...(text === '' ? [] : [flowing(text, Math.floor(2000 * share))]),
        approximateTaxes(note.complement.approximateTaxes),
      ],
      COLUMNS,
    ),
  ]);
};

const writtenOn = (written: Complement): string =>
  [
    named('Inf. Cont.', written.xInfComp),
    named('NFS-e Subst.', written.chSubstda),
    named('Doc. Ref.', written.docRef),
    named('Cod. Obra', written.cObra),
    named('Insc. Imob.', written.inscImobFisc),
    named('Cod. Evt.', written.idAtvEvt),
    named('Doc. Tec.', written.idDocTec),
    named('Núm. Ped.', written.xPed),
    named('Item Ped.', written.xItemPed.join(', ') || undefined),
    named('Inf. A. T. Mun.', written.xOutInf),
  ]
    .filter((part) => part !== undefined)
    .join(' | ');

const named = (name: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${name}: ${value}`;

const approximateTaxes = (taxes: ApproximateTaxes): string => {
  switch (taxes.kind) {
    case 'amounts':
      return taxLine(money(taxes.federal), money(taxes.state), money(taxes.municipal));
    case 'percentages':
      return taxLine(percent(taxes.federal), percent(taxes.state), percent(taxes.municipal));
    case 'simples':
      return `${taxLine(ABSENT, ABSENT, ABSENT)}; Simples Nacional: ${percent(taxes.pTotTribSN)}`;
    case 'none':
      return taxLine(ABSENT, ABSENT, ABSENT);
    default:
      return unreachable(taxes);
  }
};

const taxLine = (federal: string, state: string, municipal: string): string =>
  `Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: Federais: ${federal}; Estaduais: ${state}; Municipais: ${municipal}`;

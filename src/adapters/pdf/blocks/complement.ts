import { unreachable } from '../../../domain/shared/unreachable.js';
import { ABSENT, money, percent, shortened } from '../format.js';
import type { ApproximateTaxes, Complement } from '../note.js';

/**
 * Everything else that was written on the note, in the order of NT 008, 2.4.5, in `size` characters at most; empty when
 * nothing was. The free text comes first and is the first to be cut, so that it cannot push away what must be there
 * (notes 7 to 9: the note that this one substitutes, building, property, event).
 */
export const writtenOn = (written: Complement, size: number): string => {
  const required = joined(
    named('NFS-e Subst.', written.chSubstda),
    named('Doc. Ref.', written.docRef),
    named('Cod. Obra', written.cObra),
    named('Insc. Imob.', written.inscImobFisc),
    named('Cod. Evt.', written.idAtvEvt),
  );
  const rest = joined(
    named('Doc. Tec.', written.idDocTec),
    named('Núm. Ped.', written.xPed),
    named('Item Ped.', written.xItemPed.join(', ') || undefined),
    named('Inf. A. T. Mun.', written.xOutInf),
  );
  // Where the rest is cut too, it leaves a separator and an ellipsis.
  const after = [required, rest && '...']
    .filter((part) => part !== '')
    .map((part) => SEPARATOR + part)
    .join('');
  const free = joined(named('Inf. Cont.', written.xInfComp));
  return shortened(joined(shortened(free, Math.max(LEAST_FREE, size - after.length)), required, rest), size);
};

const SEPARATOR = ' | ';

/** What of the free text is shown at least. */
const LEAST_FREE = 40;

/** The line of Lei 12.741/2012, which is there on every note (NT 008, 2.4.5, note 10). */
export const approximateTaxes = (taxes: ApproximateTaxes): string => {
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

const joined = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(SEPARATOR);

const named = (name: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${name}: ${value}`;

const taxLine = (federal: string, state: string, municipal: string): string =>
  `Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: Federais: ${federal}; Estaduais: ${state}; Municipais: ${municipal}`;

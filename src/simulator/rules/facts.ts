import type { RuleContext } from './rule.js';

type Declared = Pick<RuleContext, 'dps'>;

/* Facts of a DPS that several groups of rules need. */

export const isMei = ({ dps }: Declared): boolean => dps.text('prest/regTrib/opSimpNac') === '2';

export const isMeEpp = ({ dps }: Declared): boolean => dps.text('prest/regTrib/opSimpNac') === '3';

export const isOutsideSimples = ({ dps }: Declared): boolean => dps.text('prest/regTrib/opSimpNac') === '1';

/** `regApTribSN` 1: federal taxes and ISSQN are all paid inside the Simples. */
export const isAllInsideSimples = (context: Declared): boolean =>
  isMeEpp(context) && context.dps.text('prest/regTrib/regApTribSN') === '1';

export const hasSpecialRegime = ({ dps }: Declared): boolean => dps.text('prest/regTrib/regEspTrib') !== '0';

export const isProviderEmitter = ({ dps }: Declared): boolean => dps.text('tpEmit') === '1';

export const isTaxable = ({ dps }: Declared): boolean => dps.text('valores/trib/tribMun/tribISSQN') === '1';

/** By a court or an authority: `tpSusp` 1 or 2. */
export const isSuspended = ({ dps }: Declared): boolean => dps.has('valores/trib/tribMun/exigSusp');

export const isExport = ({ dps }: Declared): boolean => dps.text('valores/trib/tribMun/tribISSQN') === '3';

/** `tpRetISSQN`: 1 not withheld, 2 by the customer, 3 by the intermediary. */
export const withholder = ({ dps }: Declared): string => dps.text('valores/trib/tribMun/tpRetISSQN') ?? '1';

export const isWithheld = (context: Declared): boolean => withholder(context) !== '1';

export const isPerformedInBrazil = ({ dps }: Declared): boolean => dps.has('serv/locPrest/cLocPrestacao');

export const isPerformedAbroad = ({ dps }: Declared): boolean => dps.has('serv/locPrest/cPaisPrestacao');

/** True when the customer, the intermediary or the place of performance is abroad. */
export const isAbroad = (context: Declared): boolean =>
  context.dps.has('toma/end/endExt') || context.dps.has('interm/end/endExt') || isPerformedAbroad(context);

/** The convênio of a municipality without a registry entry is active. */
export const isIncidenceActive = ({ incidence }: RuleContext): boolean => incidence.adherent !== false;

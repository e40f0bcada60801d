import type { RuleContext } from './rule.js';

/* Facts of a DPS that several groups of rules need. */

export const isMei = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/opSimpNac') === '2';

export const isMeEpp = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/opSimpNac') === '3';

export const isOutsideSimples = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/opSimpNac') === '1';

/** `regApTribSN` 1: federal taxes and ISSQN are all paid inside the Simples. */
export const isAllInsideSimples = (context: RuleContext): boolean =>
  isMeEpp(context) && context.dps.text('prest/regTrib/regApTribSN') === '1';

export const hasSpecialRegime = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/regEspTrib') !== '0';

export const isProviderEmitter = ({ dps }: RuleContext): boolean => dps.text('tpEmit') === '1';

export const isTaxable = ({ dps }: RuleContext): boolean => dps.text('valores/trib/tribMun/tribISSQN') === '1';

export const isExport = ({ dps }: RuleContext): boolean => dps.text('valores/trib/tribMun/tribISSQN') === '3';

/** `tpRetISSQN`: 1 not withheld, 2 by the customer, 3 by the intermediary. */
export const withholder = ({ dps }: RuleContext): string => dps.text('valores/trib/tribMun/tpRetISSQN') ?? '1';

export const isWithheld = (context: RuleContext): boolean => withholder(context) !== '1';

export const isPerformedInBrazil = ({ dps }: RuleContext): boolean => dps.has('serv/locPrest/cLocPrestacao');

export const isPerformedAbroad = ({ dps }: RuleContext): boolean => dps.has('serv/locPrest/cPaisPrestacao');

/** True when the customer, the intermediary or the place of performance is abroad. */
export const isAbroad = (context: RuleContext): boolean =>
  context.dps.has('toma/end/endExt') || context.dps.has('interm/end/endExt') || isPerformedAbroad(context);

/** The convênio of a municipality without a registry entry is active. */
export const isIncidenceActive = ({ incidence }: RuleContext): boolean => incidence.adherent !== false;

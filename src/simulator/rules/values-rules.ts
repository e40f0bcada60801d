import { isAllInsideSimples, isMeEpp, isMei, isOutsideSimples, type Rule, type RuleContext } from './rule.js';

/** Taxation and approximate taxes (annex I, group valores). */
export const valuesRules: readonly Rule[] = [
  { code: 'E0580', broken: (context) => isNotTaxable(context) && isWithheld(context) },
  { code: 'E0583', broken: (context) => isMei(context) && isWithheld(context) },
  { code: 'E0588', broken: (context) => hasSpecialRegime(context) && isWithheld(context) },
  { code: 'E0595', broken: ({ dps }) => Number(dps.text(P_ALIQ) ?? '0') > 5 },
  { code: 'E0600', broken: (context) => hasPAliq(context) && isMei(context) },
  { code: 'E0602', broken: (context) => hasPAliq(context) && isNotTaxable(context) },
  { code: 'E0604', broken: (context) => hasPAliq(context) && hasSpecialRegime(context) },
  { code: 'E0617', broken: (context) => hasPAliq(context) && isOutsideSimples(context) && isActive(context) },
  { code: 'E0625', broken: (context) => hasPAliq(context) && isAllInsideSimples(context) && !isWithheld(context) },
  {
    code: 'E0635',
    broken: (context) => hasPAliq(context) && isMeEpp(context) && !isAllInsideSimples(context) && isActive(context),
  },
  { code: 'E0710', broken: (context) => isMei(context) && context.dps.has(P_TOT_TRIB_SN) },
  { code: 'E0712', broken: (context) => isMeEpp(context) && context.dps.has(IND_TOT_TRIB) },
  {
    code: 'E0713',
    broken: (context) => isOutsideSimples(context) && (context.dps.has(IND_TOT_TRIB) || context.dps.has(P_TOT_TRIB_SN)),
  },
];

const P_ALIQ = 'valores/trib/tribMun/pAliq';
const P_TOT_TRIB_SN = 'valores/trib/totTrib/pTotTribSN';
const IND_TOT_TRIB = 'valores/trib/totTrib/indTotTrib';

const hasPAliq = ({ dps }: RuleContext): boolean => dps.has(P_ALIQ);

/** Without a registry entry the municipality's convênio is active. */
const isActive = ({ municipality }: RuleContext): boolean => municipality.adherent !== false;

const isWithheld = ({ dps }: RuleContext): boolean => dps.text('valores/trib/tribMun/tpRetISSQN') !== '1';

const isNotTaxable = ({ dps }: RuleContext): boolean => dps.text('valores/trib/tribMun/tribISSQN') !== '1';

const hasSpecialRegime = ({ dps }: RuleContext): boolean => dps.text('prest/regTrib/regEspTrib') !== '0';

import { type Refusal, refusal } from '../refusal.js';
import { beneficioMunicipalRules } from './beneficioMunicipal.js';
import { comExtRules } from './comExt.js';
import { documentosDedRedRules } from './documentosDedRed.js';
import { ibscbsRules } from './IBSCBS.js';
import { infDPSRules } from './infDPS.js';
import { intermRules } from './interm.js';
import { obraEventoRules } from './obraEvento.js';
import { pAliqRules } from './pAliq.js';
import { prestRules } from './prest.js';
import { reembolsoRules } from './reembolso.js';
import type { Rule, RuleContext } from './rule.js';
import { servRules } from './serv.js';
import { substRules } from './subst.js';
import { tomaRules } from './toma.js';
import { totTribRules } from './totTrib.js';
import { tribFedRules } from './tribFed.js';
import { tribMunRules } from './tribMun.js';
import { valoresRules } from './valores.js';
import { vDedRedRules } from './vDedRed.js';

/** Every business rule, in the order of the codes, which is that of the annex but for two late additions. */
export const RULES: readonly Rule[] = [
  ...infDPSRules,
  ...substRules,
  ...prestRules,
  ...tomaRules,
  ...intermRules,
  ...servRules,
  ...comExtRules,
  ...obraEventoRules,
  ...valoresRules,
  ...vDedRedRules,
  ...documentosDedRedRules,
  ...tribMunRules,
  ...beneficioMunicipalRules,
  ...pAliqRules,
  ...tribFedRules,
  ...totTribRules,
  ...ibscbsRules,
  ...reembolsoRules,
].sort((a, b) => (a.code < b.code ? -1 : 1));

/** Every business rule that the DPS breaks, in the order of the codes: several come in one answer (domain.md section 3). */
export const brokenRules = (context: RuleContext): readonly Refusal[] =>
  RULES.filter((rule) => rule.broken(context)).map(({ code }) => refusal(code));

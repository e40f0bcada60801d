import type { Code } from '../messages.js';
import { type Refusal, refusal } from '../refusal.js';
import { testEffect } from '../test-values.js';
import { beneficioMunicipalRules } from './beneficioMunicipal.js';
import { ibscbsRules, reembolsoRules } from './IBSCBS.js';
import { infDPSRules } from './infDPS.js';
import { pAliqRules } from './pAliq.js';
import { intermRules, tomaRules } from './party.js';
import { prestRules } from './prest.js';
import type { RuleContext } from './rule.js';
import { comExtRules, obraEventoRules, servRules } from './serv.js';
import { substRules } from './subst.js';
import { tribFedRules } from './tribFed.js';
import { tribMunRules } from './tribMun.js';
import { totTribRules, valoresRules } from './valores.js';
import { documentosDedRedRules, vDedRedRules } from './vDedRed.js';

type Rule = { code: Code; isBroken(context: RuleContext): boolean };

/** Every business rule, in the order of the codes. The annex has the same order, except for two late additions. */
export const RULES: readonly Rule[] = [
  infDPSRules,
  substRules,
  prestRules,
  tomaRules,
  intermRules,
  servRules,
  comExtRules,
  obraEventoRules,
  valoresRules,
  vDedRedRules,
  documentosDedRedRules,
  tribMunRules,
  beneficioMunicipalRules,
  pAliqRules,
  tribFedRules,
  totTribRules,
  ibscbsRules,
  reembolsoRules,
]
  .flatMap((rules) => Object.entries(rules))
  .map(([code, isBroken]) => ({ code: code as Code, isBroken }))
  .sort((a, b) => (a.code < b.code ? -1 : 1));

/** All business rules that the DPS breaks, in the order of the codes (docs/national-system.md#order-of-checks). */
export const brokenRules = (context: RuleContext): readonly Refusal[] =>
  RULES.filter(({ code, isBroken }) => isBroken(context) || isOrdered(code, context)).map(({ code }) => refusal(code));

/** A test value breaks one rule, whatever the registries say. */
const isOrdered = (code: Code, { dps }: RuleContext): boolean =>
  code === 'E0312' && testEffect('issue', dps) === 'refuse';

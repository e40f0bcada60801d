import { type Refusal, refusal } from '../refusal.js';
import { customerRules } from './customer-rules.js';
import { identificationRules } from './identification-rules.js';
import { providerRules } from './provider-rules.js';
import type { Rule, RuleContext } from './rule.js';
import { serviceRules } from './service-rules.js';
import { valuesRules } from './values-rules.js';

const RULES: readonly Rule[] = [
  ...identificationRules,
  ...providerRules,
  ...customerRules,
  ...serviceRules,
  ...valuesRules,
];

/** Every business rule that the DPS breaks, in the order of the annex: several come in one answer (domain.md section 3). */
export const brokenRules = (context: RuleContext): readonly Refusal[] =>
  RULES.filter((rule) => rule.broken(context)).map(({ code }) => refusal(code));

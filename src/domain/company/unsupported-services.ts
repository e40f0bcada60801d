/** Why no line of a service is released: what the authorizer demands of it, and by which code it would refuse the DPS. */
export type UnmetDemand = { ruleCode: string; demand: string };

/**
 * What the API has no fields for, by national service code; undefined for a service that can be issued. Sources: annex I, rules
 * E0370 (works), E0390 (item 12), E0234 (ISSQN due at the customer's place) and E0532 (outside ISSQN and ICMS).
 */
export const unmetDemandOf = (serviceCode: string): UnmetDemand | undefined => {
  if (WORKS.has(serviceCode)) return { ruleCode: 'E0370', demand: 'the group obra (construction works)' };
  if (serviceCode.startsWith(CULTURE_AND_LEISURE)) {
    return { ruleCode: 'E0390', demand: 'the group atvEvento (place and date of an event)' };
  }
  if (serviceCode === LABOUR_SUPPLY)
    return { ruleCode: 'E0234', demand: "the customer's address (ISSQN is due there)" };
  if (serviceCode === OUTSIDE_THE_LIST) return { ruleCode: 'E0532', demand: 'non-incidence of the ISSQN' };
  return undefined;
};

const WORKS: ReadonlySet<string> = new Set([
  ...['070201', '070202', '070401', '070501', '070502', '070601', '070602', '070701', '070801', '071701', '071901'],
  ...['141403', '141404'],
]);

const CULTURE_AND_LEISURE = '12';

const LABOUR_SUPPLY = '170501';

const OUTSIDE_THE_LIST = '990101';

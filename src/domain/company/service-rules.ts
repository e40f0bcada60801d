const codes = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Why no line of a service is issuable: what the authorizer demands, and the code by which it would refuse the DPS. */
type UnmetDemand = { ruleCode: string; demand: string };

/**
 * What a service demands that the API has no fields for, by national service code; undefined for a service that can be issued. Sources:
 * annex I, rules E0370 (works), E0390 (item 12), E0234 (ISSQN due at the customer's place) and E0532 (outside ISSQN and ICMS).
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

const WORKS = codes(`
  070201 070202 070401 070501 070502 070601 070602 070701 070801 071701 071901 141403 141404
`);

const CULTURE_AND_LEISURE = '12';

const LABOUR_SUPPLY = '170501';

const OUTSIDE_THE_LIST = '990101';

/**
 * True where LC 116, article 3, makes the ISSQN due where the service is performed instead of at the provider's establishment. Source:
 * sheet MUN.INCID_INFO.SERV of annex I, by national service code. The sheet lacks 200102, which annex VIII has: item 20.01 is due at the port.
 */
export const isDueWherePerformed = (serviceCode: string): boolean => WHERE_PERFORMED.has(serviceCode);

const WHERE_PERFORMED = codes(`
  030401 030402 030403 030501 070201 070202 070401 070501 070502 070901 070902 071001 071002 071101 071102 071201
  071601 071701 071801 071901 110101 110102 110201 110401 110402 120101 120201 120301 120401 120501 120601 120701
  120801 120901 120902 120903 121001 121101 121201 121401 121501 121601 121701 141401 141402 141403 141404 160101
  160102 160103 160104 160201 171001 171002 200101 200102 200201 200301 220101
`);

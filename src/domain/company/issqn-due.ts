/**
 * True where LC 116, article 3, makes the ISSQN due where the service is performed and not at the provider's establishment:
 * sheet MUN.INCID_INFO.SERV of annex I, by national service code.
 */
export const isDueWherePerformed = (serviceCode: string): boolean => WHERE_PERFORMED.has(serviceCode);

const WHERE_PERFORMED: ReadonlySet<string> = new Set([
  ...['030401', '030402', '030403', '030501', '070201', '070202', '070401', '070501', '070502', '070901', '070902'],
  ...['071001', '071002', '071101', '071102', '071201', '071601', '071701', '071801', '071901', '110101', '110102'],
  ...['110201', '110401', '110402', '120101', '120201', '120301', '120401', '120501', '120601', '120701', '120801'],
  ...['120901', '120902', '120903', '121001', '121101', '121201', '121401', '121501', '121601', '121701', '141401'],
  ...['141402', '141403', '141404', '160101', '160102', '160103', '160104', '160201', '171001', '171002', '200101'],
  ...['200201', '200301', '220101'],
]);

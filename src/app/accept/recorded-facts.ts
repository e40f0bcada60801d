import type { CatalogueLine } from '../../domain/catalog/events.js';
import { isXmlText } from '../../domain/common/canonical-xml.js';
import { present } from '../../domain/common/present.js';
import type { FiscalDate } from '../../domain/common/time.js';
import type { Eligible } from '../../domain/company/eligibility.js';
import { approximateTaxesAt, type Registration } from '../../domain/company/events.js';
import { declarationOf, type IbsCbsTables, resolveDeclaration } from '../../domain/company/ibs-cbs.js';
import { isDueWherePerformed } from '../../domain/company/service-rules.js';
import type { Customer, IssuerFacts, ServiceLine } from '../../domain/invoice/events.js';
import { domesticAddress, type MunicipalityCode } from '../../domain/registry/entry.js';
import type { TaxRegistry } from '../../ports/tax-registry.js';

/** Sources of the facts that the caller does not send. */
export type FactSources = { taxRegistry: TaxRegistry; ibsCbs: IbsCbsTables; municipalityCode: MunicipalityCode };

/** An eligible request: its line as the catalogue has it, its company's choices, and the competence that it will have. */
type Checked = {
  eligible: Eligible;
  line: CatalogueLine;
  registration: Pick<Registration, 'ibsCbs' | 'approximateTaxes'>;
  competence: FiscalDate;
};

/** Adds the facts that the acceptance must record, so that the DPS is a pure function of the acceptance (ADR 2, ADR 16, ADR 46). */
export const withRecordedFacts = async (checked: Checked, sources: FactSources): Promise<Eligible> => {
  const { eligible } = checked;
  const customer = await customerFacts(eligible.customer, sources);
  const ibsCbs = declared(checked, customer, sources.ibsCbs);
  return present({
    line: lineFacts(eligible),
    issuer: issuerFacts(checked),
    customer,
    foreignAmount: eligible.foreignAmount,
    ibsCbs,
  });
};

const lineFacts = ({ line, customer }: Eligible): ServiceLine =>
  customer?.type === 'foreign' && isDueWherePerformed(line.serviceCode)
    ? { ...line, issqnDue: 'where_performed' }
    : line;

const issuerFacts = ({ eligible: { issuer }, line, registration, competence }: Checked): IssuerFacts => {
  const row = approximateTaxesAt(registration, line.serviceCode, competence);
  if (row === undefined) return issuer;
  const { federal, state, municipal } = row;
  return { ...issuer, approximateTaxes: { federal, state, municipal } };
};

const declared = (
  { eligible: { issuer }, line, registration: { ibsCbs: company }, competence }: Checked,
  customer: Customer | undefined,
  tables: IbsCbsTables,
) => {
  const { taxRegime } = issuer;
  const { serviceCode } = line;
  return declarationOf(resolveDeclaration(line, company, tables), {
    taxRegime,
    serviceCode,
    competence,
    customer,
    company,
  });
};

/**
 * For a CNPJ the registry's name replaces the sent name, and the name that was used is recorded (docs/contract.md POSTC-name, ADR 10). A registry
 * name that XML cannot carry is ignored: with it the invoice could never be sent. The registry's address goes with it (E0235, ADR 16).
 */
const customerFacts = async (
  customer: Customer | undefined,
  { taxRegistry, municipalityCode }: FactSources,
): Promise<Customer | undefined> => {
  if (customer?.type !== 'br' || customer.document?.length !== 14) return customer;
  const entry = await taxRegistry.lookup(customer.document);
  if (entry === undefined || !isXmlText(entry.legalName)) return customer;
  const address = entry.address && domesticAddress(entry.address, municipalityCode);
  return { ...customer, name: entry.legalName, ...(address === undefined ? {} : { address }) };
};

import { isXmlText } from '../../domain/common/canonical-xml.js';
import type { Eligible } from '../../domain/company/eligibility.js';
import { type AnnexVIII, isDueWherePerformed, onlyIbsCbsOption } from '../../domain/company/service-rules.js';
import type { Customer, ServiceLine } from '../../domain/invoice/events.js';
import { domesticAddress, type MunicipalityCode } from '../../domain/registry/entry.js';
import type { TaxRegistry } from '../../ports/tax-registry.js';

/** Sources of the facts that the caller does not send. */
export type FactSources = { taxRegistry: TaxRegistry; annexVIII: AnnexVIII; municipalityCode: MunicipalityCode };

/** Adds the facts that the acceptance must record, so that the DPS is a pure function of the acceptance (ADR 2, ADR 16). */
export const withRecordedFacts = async (eligible: Eligible, sources: FactSources): Promise<Eligible> => {
  const line = lineFacts(eligible, sources.annexVIII);
  const customer = await customerFacts(eligible.customer, sources);
  return { ...eligible, line, ...(customer === undefined ? {} : { customer }) };
};

const lineFacts = ({ line, issuer, customer }: Eligible, annex: AnnexVIII): ServiceLine => {
  if (customer?.type === 'foreign') {
    return isDueWherePerformed(line.serviceCode) ? { ...line, issqnDue: 'where_performed' } : line;
  }
  const ibsCbs = onlyIbsCbsOption(line, issuer, annex);
  return ibsCbs === undefined ? line : { ...line, ibsCbs };
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

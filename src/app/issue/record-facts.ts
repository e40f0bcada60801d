import type { Eligible } from '../../domain/company/eligibility.js';
import { type AnnexVIII, needsCustomerAddress, settledIbsCbs } from '../../domain/company/ibs-cbs.js';
import { isDueWherePerformed } from '../../domain/company/issqn-due.js';
import { domesticAddress, type MunicipalityCode } from '../../domain/company/registry-address.js';
import type { Customer, ServiceLine } from '../../domain/invoice/facts.js';
import { isXmlText } from '../../domain/shared/canonical-xml.js';
import type { TaxRegistry } from '../../ports/tax-registry.js';

/** Where the facts come from that the caller does not send. */
export type FactSources = { taxRegistry: TaxRegistry; annexVIII: AnnexVIII; municipalityCode: MunicipalityCode };

/** What an eligible request is recorded with, so that its DPS is a pure function of the acceptance (ADR 2, ADR 16). */
export const withRecordedFacts = async (eligible: Eligible, sources: FactSources): Promise<Eligible> => {
  const line = lineFacts(eligible, sources.annexVIII);
  const customer = await customerFacts(eligible.customer, line, sources);
  return { ...eligible, line, ...(customer === undefined ? {} : { customer }) };
};

const lineFacts = ({ line, issuer, customer }: Eligible, annex: AnnexVIII): ServiceLine => {
  if (customer?.type === 'foreign') {
    return isDueWherePerformed(line.serviceCode) ? { ...line, issqnDue: 'where_performed' } : line;
  }
  const ibsCbs = settledIbsCbs(line, issuer, annex);
  return ibsCbs === undefined ? line : { ...line, ibsCbs };
};

/**
 * The registry's name wins for a CNPJ, the sent one is the fallback; what was used is recorded (reading 51). A name that no
 * document can carry is none: recorded, it would keep the invoice from ever being sent.
 */
const customerFacts = async (
  customer: Customer | undefined,
  line: ServiceLine,
  { taxRegistry, municipalityCode }: FactSources,
): Promise<Customer | undefined> => {
  if (customer?.type !== 'br' || customer.document?.length !== 14) return customer;
  const entry = await taxRegistry.lookup(customer.document);
  if (entry === undefined || !isXmlText(entry.legalName)) return customer;
  const address =
    needsCustomerAddress(line) && entry.address !== undefined
      ? domesticAddress(entry.address, municipalityCode)
      : undefined;
  return { ...customer, name: entry.legalName, ...(address === undefined ? {} : { address }) };
};

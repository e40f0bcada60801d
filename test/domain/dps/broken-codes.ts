import { readDps } from '../../../src/simulator/rules/dps.js';
import { brokenRules } from '../../../src/simulator/rules/engine.js';
import type { Company, Municipality } from '../../../src/simulator/state/registry.js';
import { serviceCodeDescription, shippedCatalogue } from '../../../src/tables/catalogue.js';
import { isCustomerCountry } from '../../../src/tables/foreign-trade.js';
import { municipalityByCode } from '../../../src/tables/municipalities.js';
import { parseXml } from '../../../src/xml/parse.js';
import type { Accepted } from './facts.js';

/**
 * The rules that a DPS breaks at the very moment of its acceptance, at an authorizer whose registries say what the company
 * file says: a registration on file is in CNC, and one that is not there is not.
 */
export const brokenCodes = (
  xml: string,
  { companyId, issuer, mode, acceptedAt }: Accepted,
  municipality: Municipality = {},
): readonly string[] => {
  const parsed = parseXml(Buffer.from(xml));
  const dps = parsed.ok ? readDps(parsed.root) : undefined;
  if (dps === undefined) throw new Error('not a DPS');
  const company: Company = {
    municipality: issuer.municipality,
    regime: issuer.taxRegime,
    cnc: issuer.municipalRegistration === undefined ? null : { municipalRegistration: issuer.municipalRegistration },
  };
  return brokenRules({
    dps,
    tpAmb: mode === 'live' ? '1' : '2',
    now: acceptedAt,
    tables: {
      serviceCode: (code) => {
        const description = serviceCodeDescription(code);
        return description === undefined ? undefined : { description };
      },
      isNbs: shippedCatalogue.isNbs,
      municipality: municipalityByCode,
      isForeignCountry: isCustomerCountry,
    },
    registers: {
      municipality: () => ({}),
      company: (cnpj) => (cnpj === companyId ? company : {}),
      person: () => ({}),
    },
    notes: { note: () => undefined, events: () => [], isElsewhere: () => false },
    ...{ municipality, incidence: municipality, company },
  }).map(({ code }) => code);
};

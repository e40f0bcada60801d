import { parseCompanyFile } from '../../app/operator/company/company-file.js';
import type { Registration } from '../../domain/company/events.js';
import { companyFileTables } from '../../tables/catalogue.js';

/** The company that the first start of the embedded default registers for trying out. */
export const demoCompany = (): Registration => {
  const file = {
    cnpj: '12345678000195',
    legal_name: 'ESTUDIO EXEMPLO LTDA',
    city: 'Rio de Janeiro',
    state: 'RJ',
    tax_regime: 'simples',
    simples_assessment: 'all',
    approximate_tax_percent: '6.00',
    activities: [
      { cnae: '6201501', is_main: true },
      { cnae: '9602501', is_main: false },
    ],
    automatic_issuance: true,
    issuer_configured: true,
    issuer_approved: true,
  };
  const parsed = parseCompanyFile(file, companyFileTables);
  if ('problems' in parsed) throw new Error(`the demo company is not valid: ${parsed.problems.join('; ')}`);
  return parsed.registration;
};

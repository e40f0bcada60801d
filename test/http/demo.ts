import type { Company } from '../../src/domain/company/company.js';
import type { Catalogue, CatalogueLine } from '../../src/domain/company/line-selection.js';

export const DEMO_CNPJ = '12345678000195';
export const OTHER_CNPJ = '98765432000198';

export const MAIN_CNAE = '6201501';

const line = (cnae: string, serviceCode: string, rest: Partial<CatalogueLine> = {}): CatalogueLine => ({
  cnae,
  serviceCode,
  nbs: '115022000',
  description: 'Desenvolvimento de programas',
  isDefault: true,
  isBlocked: false,
  ...rest,
});

const withoutNbs = ({ nbs: _nbs, ...rest }: CatalogueLine): CatalogueLine => rest;

/** One CNAE for each outcome of the line selection; the main one is simply good. */
const lines: readonly CatalogueLine[] = [
  line(MAIN_CNAE, '010101'),
  line(MAIN_CNAE, '010201', { isDefault: false, description: 'Programação' }),
  line('6202300', '010301', { isDefault: false }),
  line('6203100', '010401', { isBlocked: true }),
  withoutNbs(line('6204000', '010501')),
  line('6311900', '010601', { nbs: '999999999' }),
  // Of no activity of the demo company: tests give it one, to have a code in two activities.
  line('6209100', '010201'),
];

export const catalogue: Catalogue = {
  linesOf: (cnae) => lines.filter((candidate) => candidate.cnae === cnae),
  isServiceCode: (code) => code === '140101' || lines.some(({ serviceCode }) => serviceCode === code),
  isNbs: (code) => code === '115022000',
};

export const demoCompany = (cnpj: string): Company => ({
  kind: 'company',
  enabled: true,
  keys: [],
  certificate: {
    certificateId: 'certificate',
    notBefore: '2026-01-01T00:00:00.000Z',
    notAfter: '2027-01-01T00:00:00.000Z',
    fingerprint: 'f'.repeat(64),
  },
  registration: {
    cnpj,
    legalName: 'ESTUDIO EXEMPLO LTDA',
    city: 'Rio de Janeiro',
    state: 'RJ',
    taxRegime: 'mei',
    simplesAssessment: 'none',
    specialRegime: 0,
    municipalRegistration: { live: '12345678', test: '12345678' },
    dps: { live: { series: '1', nextNumber: 1 }, test: { series: '1', nextNumber: 1 } },
    activities: [
      { cnae: MAIN_CNAE, isMain: true },
      ...['6202300', '6203100', '6204000', '6311900', '6399200'].map((cnae) => ({ cnae, isMain: false })),
    ],
    automaticIssuance: true,
    issuerConfigured: true,
    issuerApproved: true,
  },
});

export const issueBodyOf = (changes: object = {}): object => ({
  amount_in_cents: 125_050,
  description: 'Desenvolvimento de software',
  ...changes,
});

export const exportBodyOf = (changes: object = {}, customer: object = {}): object =>
  issueBodyOf({
    customer: {
      type: 'foreign',
      name: 'Acme Inc',
      tax_id: '12-3456789',
      address: {
        street: 'Main Street',
        number: '1',
        district: 'Center',
        city: 'Springfield',
        state: 'Oregon',
        postal_code: '97477',
        country: 'US',
      },
      ...customer,
    },
    foreign_amount: { currency: 'USD', amount_in_cents: 25_000 },
    ...changes,
  });

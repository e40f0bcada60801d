import type { Company } from '../../../src/domain/company/company.js';
import type { EligibilityFacts, IssueRequest } from '../../../src/domain/company/eligibility.js';
import type { Registration } from '../../../src/domain/company/events.js';
import type { Catalogue, CatalogueLine } from '../../../src/domain/company/line-selection.js';

export const line = (cnae: string, serviceCode: string, overrides: Partial<CatalogueLine> = {}): CatalogueLine => ({
  cnae,
  serviceCode,
  nbs: '115021000',
  description: 'Serviço',
  isDefault: false,
  isBlocked: false,
  ...overrides,
});

export const lines = [
  line('6201501', '010101', { isDefault: true }),
  line('6201501', '010401'),
  line('6202300', '010401', { isDefault: true, nbs: '999999999' }),
  line('6203100', '010501'),
  line('6204000', '010601', { isDefault: true, isBlocked: true }),
  { cnae: '6209100', serviceCode: '010701', description: 'Sem NBS', isDefault: true, isBlocked: false },
];

export const catalogue: Catalogue = {
  linesOf: (cnae) => lines.filter((candidate) => candidate.cnae === cnae),
  isServiceCode: (code) => /^01\d{4}$/.test(code),
  isNbs: (code) => code === '115021000',
};

export const registration: Registration = {
  cnpj: '12345678000195',
  legalName: 'ESTUDIO EXEMPLO LTDA',
  city: 'Rio de Janeiro',
  state: 'RJ',
  taxRegime: 'simples',
  simplesAssessment: 'all',
  specialRegime: 0,
  municipalRegistration: {},
  dps: { live: { series: '1', nextNumber: 1 }, test: { series: '1', nextNumber: 1 } },
  activities: ['6201501', '6202300', '6203100', '6204000', '6209100', '6311900'].map((cnae, index) => ({
    cnae,
    isMain: index === 0,
  })),
  automaticIssuance: true,
  issuerConfigured: true,
  issuerApproved: true,
};

export const company: Company = {
  kind: 'company',
  registration,
  enabled: true,
  keys: [],
  certificate: {
    certificateId: 'c',
    notBefore: '2026-01-01T00:00:00.000Z',
    notAfter: '2027-01-01T00:00:00.000Z',
    fingerprint: 'f',
  },
};

export const facts: EligibilityFacts = {
  mode: 'live',
  now: '2026-11-21T12:00:00.000Z',
  company,
  municipality: { ibge: '3304557', requiresCustomer: false, requiresRegistration: false },
  catalogue,
  isCountry: (code) => code === 'US',
  isCurrency: (code) => code === 'USD',
  currencies: ['EUR', 'USD'],
};

export const request: IssueRequest = { amountInCents: 10_000, description: 'Serviço' };
export const address = {
  street: 'Main',
  number: '1',
  district: 'Downtown',
  city: 'Austin',
  state: 'TX',
  postalCode: '73301',
  country: 'US',
};
export const foreign: IssueRequest = {
  ...request,
  customer: { type: 'foreign', name: 'ACME', taxId: '12-3', address },
  foreignAmount: { currency: 'USD', amountInCents: 500 },
};

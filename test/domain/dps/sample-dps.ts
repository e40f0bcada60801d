import type { Customer } from '../../../src/domain/invoice/facts.js';
import { type Accepted, acceptedFacts } from './facts.js';
import {
  gone,
  NO_ADDRESS,
  NO_AMOUNTS,
  NO_CONTACT,
  NO_FEDERAL,
  NO_FINAL,
  program,
  type Situation,
} from './sample-difference.js';

const issuer = acceptedFacts().issuer;
const { municipalRegistration: _im, ...unregistered } = issuer;
export const maria: Customer = { type: 'br', document: '12345678909', name: 'Maria da Silva Exemplo' };

/** Samples 05 and 10. */
export const exported: Partial<Accepted> = {
  amountInCents: 1_000_000,
  description: 'Desenvolvimento de software sob encomenda para cliente no exterior (exportação de serviço) TESTE',
  competence: '2026-08-28',
  acceptedAt: '2026-08-28T17:38:06.000Z',
  line: { cnae: '6201501', serviceCode: '010401', nbs: '115022000', municipalCode: '003' },
  issuer: { ...unregistered, municipality: '3304557' },
  customer: {
    type: 'foreign',
    name: 'ACME SOFTWARE CLIENT LLC',
    taxIdAbsenceReason: 'exempt',
    address: {
      ...{ street: '100 Main Street', number: '100', district: 'Downtown', city: 'New York', state: 'NY' },
      ...{ postalCode: '10001', country: 'US' },
    },
  },
  foreignAmount: { currency: 'USD', amountInCents: 200_000 },
};

/** The situations of the samples that are a DPS. */
export const dpsSituations: readonly Situation[] = [
  {
    ...{ file: 'dps-01-me-epp-tomador-pj.xml', root: 'DPS', series: '1', number: 1 },
    accepted: acceptedFacts({
      amountInCents: 150_000,
      description: 'Desenvolvimento de sistema sob encomenda, contrato 2026-001',
      customer: { type: 'br', document: '11111111000191', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
      line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' },
    }),
    differences: [
      program('Exemplo_1.0'),
      ...gone(NO_CONTACT, { 'infDPS/toma/email': 'financeiro@exemplo.com.br' }),
      ...gone(NO_ADDRESS, {
        'infDPS/toma/end/endNac/cMun': '3550308',
        'infDPS/toma/end/endNac/CEP': '01310100',
        'infDPS/toma/end/xLgr': 'Rua das Flores',
        'infDPS/toma/end/nro': '100',
        'infDPS/toma/end/xBairro': 'Centro',
      }),
    ],
  },
  {
    ...{ file: 'dps-02-me-epp-sem-tomador.xml', root: 'DPS', series: '1', number: 2 },
    accepted: acceptedFacts(),
    differences: [program('Exemplo_1.0')],
  },
  {
    ...{ file: 'dps-03-mei-tomador-cpf.xml', root: 'DPS', series: '1', number: 1 },
    accepted: acceptedFacts({
      companyId: '11222333000181',
      amountInCents: 7000,
      description: 'Corte de cabelo',
      customer: maria,
      line: { cnae: '9602501', serviceCode: '060101' },
      issuer: { ...issuer, municipality: '3550308', taxRegime: 'mei', specialRegime: 6 },
    }),
    differences: [program('Exemplo_1.0')],
  },
  {
    ...{ file: 'dps-04-regime-normal-ibscbs.xml', root: 'DPS', series: '1', number: 59 },
    accepted: acceptedFacts({
      companyId: '98765432000198',
      amountInCents: 1_000_000,
      description: 'Suporte técnico em informática',
      customer: {
        ...{ type: 'br', document: '11111111000191', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
        address: {
          ...{ street: 'Rua das Flores', number: '100', district: 'Centro' },
          ...{ municipality: '4208203', postalCode: '88301000' },
        },
      },
      line: {
        ...{ cnae: '6209100', serviceCode: '010701', nbs: '115013000' },
        ibsCbs: { cIndOp: '100301', cClassTrib: '000001' },
      },
      issuer: { ...issuer, municipality: '4106902', taxRegime: 'normal', municipalRegistration: '11111111' },
    }),
    differences: [
      program('Exemplo_1.0'),
      ...gone(NO_FEDERAL, {
        'infDPS/valores/trib/tribFed/piscofins/CST': '01',
        'infDPS/valores/trib/tribFed/piscofins/vBCPisCofins': '10000.00',
        'infDPS/valores/trib/tribFed/piscofins/pAliqPis': '0.65',
        'infDPS/valores/trib/tribFed/piscofins/pAliqCofins': '3.00',
        'infDPS/valores/trib/tribFed/piscofins/vPis': '65.00',
        'infDPS/valores/trib/tribFed/piscofins/vCofins': '300.00',
        'infDPS/valores/trib/tribFed/piscofins/tpRetPisCofins': '3',
        'infDPS/valores/trib/tribFed/vRetIRRF': '150.00',
        'infDPS/valores/trib/tribFed/vRetCSLL': '465.00',
      }),
      ...gone(NO_AMOUNTS, {
        'infDPS/valores/trib/totTrib/vTotTrib/vTotTribFed': '1345.00',
        'infDPS/valores/trib/totTrib/vTotTrib/vTotTribEst': '0.00',
        'infDPS/valores/trib/totTrib/vTotTrib/vTotTribMun': '500.00',
      }),
      ['infDPS/valores/trib/totTrib/pTotTrib/pTotTribFed', null, '6.00', NO_AMOUNTS],
      ['infDPS/valores/trib/totTrib/pTotTrib/pTotTribEst', null, '0.00', NO_AMOUNTS],
      ['infDPS/valores/trib/totTrib/pTotTrib/pTotTribMun', null, '0.00', NO_AMOUNTS],
      ...gone(NO_FINAL, { 'infDPS/IBSCBS/indFinal': '0' }),
    ],
  },
  {
    ...{ file: 'dps-05-exportacao.xml', root: 'DPS', series: '1', number: 7 },
    accepted: acceptedFacts(exported),
    differences: [program('Exemplo_1.0')],
  },
  {
    ...{ file: 'dps-06-substituicao.xml', root: 'DPS', series: '1', number: 3 },
    accepted: acceptedFacts({ description: 'Mensalidade de natação, setembro de 2026', customer: maria }),
    differences: [
      program('Exemplo_1.0'),
      ...gone('the API does not replace notes', {
        'infDPS/subst/chSubstda': '21113002212345678000195000000000001026091234567890',
        'infDPS/subst/cMotivo': '99',
        'infDPS/subst/xMotivo': 'Correção da descrição do serviço prestado',
      }),
    ],
  },
];

import { acceptedFacts } from './facts.js';
import { gone, NO_ADDRESS, NO_CONTACT, NO_FEDERAL, program, type Situation } from './sample-difference.js';
import { exported, maria } from './sample-dps.js';

/** Path of the DPS in a note. */
const NOTE = 'NFSe/infNFSe/DPS';

const issuer = acceptedFacts().issuer;
const { municipalRegistration: _im, ...unregistered } = issuer;

/** The situations of the samples that are notes, real ones but for the last. */
export const noteSituations: readonly Situation[] = [
  {
    ...{ file: 'nfse-07-producao-me-epp-cpf.xml', root: NOTE, series: '3', number: 5306 },
    accepted: acceptedFacts({
      ...{ mode: 'live', amountInCents: 5160, competence: '2026-03-03', acceptedAt: '2026-03-03T15:18:25.000Z' },
      description:
        'Pagamento de mensalidade plano\n\nCONFORME LEI 12.741/2012 o valor aproximado dos tributos é R$ 9,00 (17,45%), FONTE: IBPT/empresometro.com.br (21.1.F)',
      customer: maria,
      line: { cnae: '9603303', serviceCode: '250101' },
      issuer: { ...issuer, approximateTaxPercent: '0.00' },
    }),
    differences: [
      program('V_1.00.02'),
      ...gone(NO_ADDRESS, {
        'infDPS/toma/end/endNac/cMun': '2111201',
        'infDPS/toma/end/endNac/CEP': '65117026',
        'infDPS/toma/end/xLgr': 'Rua Nossa Srª de Exemplo',
        'infDPS/toma/end/nro': '233',
        'infDPS/toma/end/xBairro': 'Vila Exemplo',
      }),
      ...gone('the API has no field for an item code of the company; the reference is its own affair', {
        'infDPS/serv/cServ/cIntContrib': '530000',
      }),
      ['infDPS/valores/trib/totTrib/pTotTribSN', '0', '0.00', 'the same number with its two places'],
    ],
  },
  {
    ...{ file: 'nfse-08-restrita-ibscbs.xml', root: NOTE, series: '333', number: 6 },
    accepted: acceptedFacts({
      ...{ amountInCents: 1_000_000, competence: '2025-12-30', acceptedAt: '2025-12-30T22:01:06.000Z' },
      description: 'Analise e desenvolvimento de sistemas (EXEMPLO)',
      customer: { type: 'br', document: '11111111000191', name: 'FICTICIA & FILHOS' },
      line: { cnae: '6201501', serviceCode: '010101', nbs: '115021000', municipalCode: '001' },
      issuer: { ...unregistered, municipality: '3304557', simplesAssessment: 'none', approximateTaxPercent: '12.60' },
    }),
    differences: [
      program('EXEMPLO.RTC-1.00'),
      ...gone(NO_CONTACT, { 'infDPS/prest/fone': '2100000000', 'infDPS/prest/email': 'contato@exemplo.com.br' }),
      ...gone(NO_ADDRESS, {
        'infDPS/toma/end/endNac/cMun': '3303302',
        'infDPS/toma/end/endNac/CEP': '24020077',
        'infDPS/toma/end/xLgr': 'AV RIO BRANCO',
        'infDPS/toma/end/nro': '123',
        'infDPS/toma/end/xBairro': 'CENTRO',
      }),
      ...gone(NO_FEDERAL, {
        'infDPS/valores/trib/tribFed/piscofins/CST': '01',
        'infDPS/valores/trib/tribFed/piscofins/vBCPisCofins': '10000.00',
        'infDPS/valores/trib/tribFed/piscofins/pAliqPis': '0.00',
        'infDPS/valores/trib/tribFed/piscofins/pAliqCofins': '7.60',
        'infDPS/valores/trib/tribFed/piscofins/vPis': '0.00',
        'infDPS/valores/trib/tribFed/piscofins/vCofins': '760.00',
        'infDPS/valores/trib/tribFed/piscofins/tpRetPisCofins': '2',
        'infDPS/valores/trib/tribFed/vRetIRRF': '150.00',
        'infDPS/valores/trib/tribFed/vRetCSLL': '465.00',
      }),
      ...gone('a ME/EPP usually declares the rate of the Simples; both forms are allowed (domain.md 9.5)', {
        'infDPS/valores/trib/totTrib/vTotTrib/vTotTribFed': '760.00',
        'infDPS/valores/trib/totTrib/vTotTrib/vTotTribEst': '0.00',
        'infDPS/valores/trib/totTrib/vTotTrib/vTotTribMun': '500.00',
      }),
      [
        ...(['infDPS/valores/trib/totTrib/pTotTribSN', null, '12.60'] as const),
        'a ME/EPP usually declares the rate of the Simples; both forms are allowed (domain.md 9.5)',
      ],
      ...gone('optantes of the Simples declare nothing in 2026, and nobody before (E0850, ADR 16)', {
        'infDPS/IBSCBS/finNFSe': '0',
        'infDPS/IBSCBS/indFinal': '1',
        'infDPS/IBSCBS/cIndOp': '100301',
        'infDPS/IBSCBS/indDest': '0',
        'infDPS/IBSCBS/valores/trib/gIBSCBS/CST': '000',
        'infDPS/IBSCBS/valores/trib/gIBSCBS/cClassTrib': '000001',
      }),
    ],
  },
  {
    ...{ file: 'nfse-09-emissor-web-v1.00.xml', root: NOTE, series: '900', number: 3 },
    accepted: acceptedFacts({
      ...{ amountInCents: 23_000, competence: '2025-12-03', acceptedAt: '2025-12-03T12:52:58.000Z' },
      description: 'ultrassonografia',
      customer: { type: 'br', document: '12345678909', name: 'MARIA DA SILVA EXEMPLO' },
      line: { cnae: '8640207', serviceCode: '040303', nbs: '123012100' },
      issuer: {
        ...{ municipality: '1505486', taxRegime: 'simples', simplesAssessment: 'federal_only', specialRegime: 0 },
        ...{ approximateTaxPercent: '5.00', municipalRegistration: '2348' },
      },
    }),
    differences: [
      ['@versao', '1.00', '1.01', 'the layout of today'],
      program('EmissorWeb_1.4.0.26'),
      ...gone(NO_CONTACT, {
        'infDPS/prest/fone': '9100000000',
        'infDPS/prest/email': 'contato@exemplo.com.br',
        'infDPS/toma/fone': '9100000001',
      }),
      ...gone('normally left out: refused where the municipality has none on record (E0232)', {
        'infDPS/toma/IM': '9199',
      }),
    ],
  },
  {
    ...{ file: 'nfse-10-exportacao-construida.xml', root: NOTE, series: '1', number: 7 },
    accepted: acceptedFacts(exported),
    differences: [program('Exemplo_1.0')],
  },
];

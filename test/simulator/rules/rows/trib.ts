import { address, CUSTOMER, party } from '../../../support/harness/simulator.js';
import {
  CPF,
  comExt,
  inNiteroi,
  mei,
  NITEROI,
  niteroiInactive,
  normal,
  outside,
  type Row,
  rio,
  special,
  tribMun,
} from '../row.js';

const withAddress = { toma: party('toma', `<CNPJ>${CUSTOMER}</CNPJ>`, address()) };
const person = (name: 'toma' | 'interm') => ({ [name]: party(name, `<CPF>${CPF}</CPF>`, address()) });
const resultCountry = { between: '<cPaisResult>US</cPaisResult>' };
const abroad = { place: '<cPaisPrestacao>US</cPaisPrestacao>', afterCServ: comExt() };

export const tribMunRows: readonly Row[] = [
  [['E0529'], { code: '070901', tribMun: tribMun('3'), afterCServ: comExt() }],
  [['E0530'], { ...abroad, code: '070901' }],
  [['E0532'], { code: '990101' }],
  [['E0539'], { tribMun: tribMun('4') }, rio({ nonIncidentCodes: [] })],
  [['E0540'], {}, rio({ nonIncidentCodes: ['010101'] })],
  [['E0580'], { ...withAddress, tribMun: tribMun('4', '2') }],
  [['E0583'], { ...mei, ...withAddress, tribMun: tribMun('1', '2') }],
  [
    ['E0585'],
    {
      tribMun: tribMun('4', '1', {
        between: `<exigSusp><tpSusp>1</tpSusp><nProcesso>${'1'.repeat(30)}</nProcesso></exigSusp>`,
      }),
    },
  ],
  [['E0588'], { ...special, ...withAddress, tribMun: tribMun('1', '2') }],
  [['E0590'], { tribMun: tribMun('3'), afterCServ: comExt() }],
  [['E0591'], { tribMun: tribMun('1', '1', resultCountry) }],
  [['E0592'], { tribMun: tribMun('2') }],
  [['E0593'], { tribMun: tribMun('2', '1', { between: '<tpImunidade>0</tpImunidade>' }) }],
  [['E0596'], { ...normal, ...withAddress, code: '220101', tribMun: tribMun('1', '2') }],
  [
    ['E0667'],
    { ...person('toma'), tribMun: tribMun('1', '2', { pAliq: '2.00' }) },
    rio({ withholdingCpfs: ['00000000191'] }),
  ],
  [
    ['E0670'],
    { ...person('interm'), tribMun: tribMun('1', '3', { pAliq: '2.00' }) },
    rio({ withholdingCpfs: ['00000000191'] }),
  ],
];

const NUMBER = '33045570100001';
const bm = (reduction = '') => ({ between: `<BM><nBM>${NUMBER}</nBM>${reduction}</BM>` });
const value = (amount: string) => bm(`<vRedBCBM>${amount}</vRedBCBM>`);
const percent = (amount: string) => bm(`<pRedBCBM>${amount}</pRedBCBM>`);
const exemption = { number: NUMBER, kind: 'exemption' } as const;
const works = '<obra><cObra>123456</cObra></obra>';

export const benefitRows: readonly Row[] = [
  [['E0533'], { ...normal, tribMun: tribMun('4', '1', bm()) }],
  [['E0534'], { ...mei, tribMun: tribMun('1', '1', bm()) }],
  [['E0535'], { ...special, tribMun: tribMun('1', '1', bm()) }],
  [['E0536'], { tribMun: tribMun('1', '1', bm()) }],
  [['E0537'], { ...normal, ...inNiteroi, tribMun: tribMun('1', '1', { ...bm(), pAliq: '5.00' }) }, niteroiInactive],
  [['E0541'], { ...normal, tribMun: tribMun('1', '1', bm()) }, rio({ benefits: [] })],
  [
    ['E0544'],
    { ...normal, tribMun: tribMun('1', '1', bm()) },
    rio({ benefits: [{ ...exemption, until: '2026-10-14' }] }),
  ],
  [
    ['E0548'],
    { ...normal, ...inNiteroi, tribMun: tribMun('1', '1', bm()) },
    { municipalities: { [NITEROI]: { benefits: [{ ...exemption, localOnly: true }] } } },
  ],
  [
    ['E0550'],
    { ...normal, tribMun: tribMun('1', '1', bm()) },
    rio({ benefits: [{ ...exemption, serviceCodes: ['010201'] }] }),
  ],
  [['E0565'], { ...normal, tribMun: tribMun('1', '1', value('10.00')) }, rio({ benefits: [exemption] })],
  [['E0567'], { ...normal, tribMun: tribMun('1', '1', bm()) }, rio({ benefits: [{ number: NUMBER, kind: 'value' }] })],
  [['E0427', 'E0428', 'E0574'], { ...normal, tribMun: tribMun('1', '1', value('1500.01')) }],
  [['E0429', 'E0575'], { ...normal, tribMun: tribMun('1', '1', value('900.01')) }, rio({ rate: '5.00' })],
  [['E0577'], { ...normal, tribMun: tribMun('1', '1', percent('10.00')) }, rio({ benefits: [exemption] })],
  [
    ['E0579'],
    { ...normal, tribMun: tribMun('1', '1', bm()) },
    rio({ benefits: [{ number: NUMBER, kind: 'percent' }] }),
  ],
  [
    ['E0586'],
    { ...normal, tribMun: tribMun('1', '1', percent('50.01')) },
    rio({ benefits: [{ number: NUMBER, kind: 'percent', percent: '50.00' }] }),
  ],
  [['E0429', 'E0587'], { ...normal, tribMun: tribMun('1', '1', percent('60.01')) }, rio({ rate: '5.00' })],
  [['E0594'], { ...normal, ...withAddress, tribMun: tribMun('1', '2', bm()) }, rio({ benefits: [exemption] })],
];

export const pAliqRows: readonly Row[] = [
  [['E0595'], { ...normal, ...inNiteroi, tribMun: tribMun('1', '1', { pAliq: '5.01' }) }, niteroiInactive],
  [['E0600'], { ...mei, tribMun: tribMun('1', '1', { pAliq: '2.00' }) }],
  [['E0602'], { ...normal, ...inNiteroi, tribMun: tribMun('4', '1', { pAliq: '2.00' }) }, niteroiInactive],
  [['E0604'], { ...special, ...inNiteroi, tribMun: tribMun('1', '1', { pAliq: '2.00' }) }, niteroiInactive],
  [
    ['E0612'],
    { code: '070201', afterCServ: works, tribMun: tribMun('1', '1', { ...bm(), pAliq: '2.00' }) },
    rio({ benefits: [{ number: NUMBER, kind: 'rate' }] }),
  ],
  [['E0617'], { ...normal, tribMun: tribMun('1', '1', { pAliq: '2.00' }) }],
  [['E0619'], { ...normal, ...inNiteroi }, niteroiInactive],
  [['E0621'], { ...withAddress, tribMun: tribMun('1', '2') }],
  [['E0621'], { ...withAddress, tribMun: tribMun('1', '2', { pAliq: '1.79' }) }],
  [['E0625'], { tribMun: tribMun('1', '1', { pAliq: '2.00' }) }],
  [['E0628'], { ...inNiteroi, ...withAddress, tribMun: tribMun('1', '2') }, niteroiInactive],
  [['E0631'], { ...inNiteroi, tribMun: tribMun('1', '1', { pAliq: '2.00' }) }, niteroiInactive],
  [['E0635'], { ...outside, tribMun: tribMun('1', '1', { pAliq: '2.00' }) }],
  [['E0640'], { ...outside, ...inNiteroi }, niteroiInactive],
];

const federal = (content: string) => ({ ...normal, tribFed: `<tribFed>${content}</tribFed>` });
const contributions = (content: string, rest = '') => federal(`<piscofins><CST>01</CST>${content}</piscofins>${rest}`);

export const federalRows: readonly Row[] = [
  [
    ['E0675'],
    {
      ...federal('<vRetIRRF>1.00</vRetIRRF>'),
      provider: `<CPF>${CPF}</CPF>`,
      id: `DPS33045571000${CPF}00001000000000000001`,
    },
  ],
  [['E0676'], { ...mei, tribFed: '<tribFed><vRetIRRF>1.00</vRetIRRF></tribFed>' }],
  [['E0677'], contributions('<vBCPisCofins>1500.01</vBCPisCofins>')],
  [['E0694'], contributions('<vBCPisCofins>1000.00</vBCPisCofins><pAliqPis>0.65</pAliqPis><vPis>6.52</vPis>')],
  [
    ['E0696'],
    contributions('<vBCPisCofins>1000.00</vBCPisCofins><pAliqCofins>3.00</pAliqCofins><vCofins>29.98</vCofins>'),
  ],
  [['E0699'], federal('<vRetCP>0.00</vRetCP>')],
  [['E0700'], federal('<vRetIRRF>1500.00</vRetIRRF>')],
  [['E0701'], federal('<vRetCSLL>0.00</vRetCSLL>')],
  [['E0720'], contributions('<tpRetPisCofins>0</tpRetPisCofins>', '<vRetCSLL>1.00</vRetCSLL>')],
  [['E0724'], contributions('<tpRetPisCofins>3</tpRetPisCofins>')],
];

const money = (fed: string, est: string, mun: string) => ({
  totTrib: `<vTotTrib><vTotTribFed>${fed}</vTotTribFed><vTotTribEst>${est}</vTotTribEst><vTotTribMun>${mun}</vTotTribMun></vTotTrib>`,
});
const percents = (fed: string, est: string, mun: string) => ({
  totTrib: `<pTotTrib><pTotTribFed>${fed}</pTotTribFed><pTotTribEst>${est}</pTotTribEst><pTotTribMun>${mun}</pTotTribMun></pTotTrib>`,
});

export const totalRows: readonly Row[] = [
  [['E0702'], money('1500.01', '0.00', '0.00')],
  [['E0703'], money('0.00', '1500.01', '0.00')],
  [['E0704'], money('0.00', '0.00', '1500.01')],
  [['E0706'], percents('100.01', '0.00', '0.00')],
  [['E0707'], percents('0.00', '100.01', '0.00')],
  [['E0708'], percents('0.00', '0.00', '100.01')],
  [['E0710'], { ...mei, totTrib: '<pTotTribSN>6.00</pTotTribSN>' }],
  [['E0712'], { totTrib: '<indTotTrib>0</indTotTrib>' }],
  [['E0713'], { ...normal, totTrib: '<pTotTribSN>6.00</pTotTribSN>' }],
];

export const validTaxes: readonly Row[] = [
  [[], money('1500.00', '1500.00', '1500.00')],
  [[], percents('100.00', '100.00', '100.00')],
  [[], contributions('<vBCPisCofins>1500.00</vBCPisCofins>')],
  [[], { tribMun: tribMun('3', '1', resultCountry), afterCServ: comExt() }],
  [[], { ...abroad, tribMun: tribMun('3') }],
  [[], { code: '990101', tribMun: tribMun('4') }],
  [[], { tribMun: tribMun('2', '1', { between: '<tpImunidade>1</tpImunidade>' }) }],
  [[], { ...normal, tribMun: tribMun('1', '1', percent('50.00')) }, rio({ rate: '5.00' })],
  [[], { ...normal, ...inNiteroi, tribMun: tribMun('1', '1', { pAliq: '5.00' }) }, niteroiInactive],
  [[], { ...withAddress, tribMun: tribMun('1', '2', { pAliq: '1.80' }) }],
  [[], contributions('<vBCPisCofins>1000.00</vBCPisCofins><pAliqPis>0.65</pAliqPis><vPis>6.50</vPis>')],
  [[], contributions('<tpRetPisCofins>3</tpRetPisCofins>', '<vRetCSLL>1.00</vRetCSLL>')],
];

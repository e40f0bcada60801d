import { accessKeyCheckDigit } from '../../../../src/domain/common/access-key.js';
import { address, addressAbroad, CUSTOMER, party, RIO } from '../../../support/harness/simulator.js';
import {
  accessKey,
  CPF,
  inNiteroi,
  mei,
  niteroiInactive,
  normal,
  note,
  type Row,
  rio,
  special,
  tribMun,
} from '../row.js';

const discounts = (content: string) => `<vDescCondIncond>${content}</vDescCondIncond>`;
const vDR = (value: string) => `<vDedRed><vDR>${value}</vDR></vDedRed>`;
const pDR = (value: string) => `<vDedRed><pDR>${value}</pDR></vDedRed>`;
const RATE = rio({ rate: '5.00' });

export const valoresRows: readonly Row[] = [
  [['E0424'], { received: '<vReceb>1500.00</vReceb>' }],
  [['E0427', 'E0428'], { ...normal, reductions: discounts('<vDescIncond>800.00</vDescIncond>') + vDR('800.00') }],
  [['E0428'], { reductions: discounts('<vDescIncond>800.00</vDescIncond><vDescCond>800.00</vDescCond>') }],
  [['E0431'], { reductions: discounts('<vDescIncond>1500.00</vDescIncond>') }],
  [['E0432'], { reductions: discounts('<vDescCond>0.00</vDescCond>') }],
  [['E0435'], { ...normal, reductions: vDR('10.00'), tribMun: tribMun('4') }],
  [['E0436'], { ...mei, reductions: vDR('10.00') }],
  [['E0438'], { ...special, reductions: vDR('10.00') }],
  [
    ['E0439'],
    {
      ...normal,
      reductions: vDR('10.00'),
      tribMun: tribMun('1', '1', { between: '<BM><nBM>33045570100001</nBM></BM>' }),
    },
    rio({ benefits: [{ number: '33045570100001', kind: 'exemption' }] }),
  ],
  [['E0441'], { reductions: vDR('10.00') }],
  [['E0442'], { ...inNiteroi, reductions: vDR('10.00') }, niteroiInactive],
  [['E0429', 'E0444'], { ...normal, reductions: pDR('60.01') }, RATE],
  [['E0446'], { ...normal, reductions: vDR('10.00') }, rio({ deductions: ['percent', 'documents'] })],
  [['E0429', 'E0447'], { ...normal, reductions: vDR('900.01') }, RATE],
  [['E0453'], { ...normal, reductions: pDR('0.00') }],
  [['E0454'], { ...normal, reductions: pDR('10.00') }, rio({ deductions: ['value'] })],
];

const supplier = (identity: string, rest = '') => party('fornec', identity, rest);
const CNPJ = `<CNPJ>${CUSTOMER}</CNPJ>`;

type Document = {
  what?: string;
  kind?: string;
  text?: string;
  date?: string;
  most?: string;
  value?: string;
  fornec?: string;
};

const document = (parts: Document = {}) => ({
  ...normal,
  reductions:
    `<vDedRed><documentos><docDedRed>${parts.what ?? '<nDoc>1</nDoc>'}<tpDedRed>${parts.kind ?? '2'}</tpDedRed>` +
    `${parts.text ?? ''}<dtEmiDoc>${parts.date ?? '2026-10-15'}</dtEmiDoc>` +
    `<vDedutivelRedutivel>${parts.most ?? '10.00'}</vDedutivelRedutivel>` +
    `<vDeducaoReducao>${parts.value ?? '10.00'}</vDeducaoReducao>` +
    `${parts.fornec ?? supplier(CNPJ, address())}</docDedRed></documentos></vDedRed>`,
});

const key = accessKey(9);
const what = `<chNFSe>${key}</chNFSe>`;
const held = { notes: [{ note: note({ accessKey: key }) }] };
const spoiled = `${key.slice(0, 49)}${(Number(key.at(-1)) + 1) % 10}`;
const nfe43 = `332610${CUSTOMER}55001000000001100000001`;
const nfeDigit = accessKeyCheckDigit(nfe43.padStart(49, '0'));
const nfe = (digit: string) => `<chNFe>${nfe43}${digit}</chNFe>`;

export const documentRows: readonly Row[] = [
  [['E0449'], document(), rio({ deductions: ['value'] })],
  [['E0455'], document({ what: `<chNFSe>${spoiled}</chNFSe>` })],
  [['E0456'], document({ what })],
  [['E0458'], document({ what }), { notes: [{ note: note({ accessKey: key }), events: ['101101'] }] }],
  [['E0460'], document({ what: nfe(String((Number(nfeDigit) + 1) % 10)) })],
  [
    ['E0466'],
    document({
      what: '<NFSeMun><cMunNFSeMun>9999999</cMunNFSeMun><nNFSeMun>000000000000001</nNFSeMun><cVerifNFSeMun>ABC123456</cVerifNFSeMun></NFSeMun>',
    }),
  ],
  [['E0468'], document({ kind: '99' })],
  [['E0470'], document({ text: '<xDescOutDed>Outra coisa qualquer</xDescOutDed>' })],
  [['E0472'], document({ date: '2026-10-16' })],
  [['E0474'], document({ most: '9.99' })],
  [['E0427', 'E0428', 'E0476'], document({ most: '1500.01', value: '1500.01' })],
  [['E0477'], { ...document(), reductions: document().reductions.replace(/<fornec>.*<\/fornec>/, '') }],
  [['E0478'], document({ fornec: supplier('<CNPJ>11111111000192</CNPJ>', address()) })],
  [['E0482'], { ...document(), toma: '' }, { companies: { [CUSTOMER]: { registered: false } } }],
  [['E0484'], document({ fornec: supplier('<CPF>12345678900</CPF>', address()) })],
  [
    ['E0488'],
    document({ fornec: supplier(`<CPF>${CPF}</CPF>`, address()) }),
    { persons: { [CPF]: { registered: false } } },
  ],
  [['E0492', 'E1538'], document({ fornec: supplier(CNPJ, addressAbroad()) })],
  [['E0490'], document({ fornec: supplier('<cNaoNIF>0</cNaoNIF>') })],
  [['E0492'], document({ fornec: supplier(CNPJ) })],
  [['E0494'], document({ fornec: supplier(CNPJ, address('9999999')) })],
  [['E0496'], document({ fornec: supplier(CNPJ, address(RIO, '30000000')) }), rio({ postalCodes: ['20'] })],
  [['E0498'], document({ fornec: supplier('<NIF>1</NIF>') })],
  [['E0499'], document({ fornec: supplier('<NIF>1</NIF>', addressAbroad('BR')) })],
];

export const validValues: readonly Row[] = [
  [[], { ...normal, reductions: pDR('100.00') }],
  [[], { ...normal, reductions: pDR('60.00') }, RATE],
  [[], { ...normal, reductions: pDR('90.00') }],
  [[], { ...normal, code: '090201', reductions: pDR('90.00') }, RATE],
  [[], { code: '090201', reductions: vDR('10.00') }],
  [[], document()],
  [[], document({ what }), held],
  [[], document({ what: nfe(nfeDigit) })],
  [[], document({ kind: '99', text: '<xDescOutDed>Outra coisa qualquer</xDescOutDed>' })],
];

import { address, addressAbroad, COMPANY, CUSTOMER, party, RIO } from '../../../support/harness/simulator.js';
import { CPF, comExt, type Row, rio, tribMun } from '../row.js';

type Party = 'toma' | 'interm';

const CNPJ = `<CNPJ>${CUSTOMER}</CNPJ>`;

/** The codes of one party, in the order of the rows below. */
const CODES: Record<Party, readonly string[]> = {
  toma: [
    'E0188',
    'E0190',
    'E0204',
    'E0206',
    'E0207',
    'E0223',
    'E0226',
    'E0237',
    'E0238',
    'E0240',
    'E0242',
    'E0246',
    'E0247',
  ],
  interm: [
    'E0248',
    'E0250',
    'E0264',
    'E0266',
    'E0268',
    'E0281',
    'E0286',
    'E0293',
    'E0294',
    'E0296',
    'E0298',
    'E0299',
    'E0300',
  ],
};

const rowsOf = (name: Party): readonly Row[] => {
  const withheld = tribMun('1', name === 'toma' ? '2' : '3', { pAliq: '2.00' });
  // Without the usual customer, who would be as unknown to the register as the intermediary.
  const is = (identity: string, rest = '') => ({ toma: '', [name]: party(name, identity, rest) });
  const abroad = { afterCServ: comExt() };
  const changes: readonly Row[] = [
    [[], is('<CNPJ>11111111000192</CNPJ>')],
    [[], is(CNPJ), { companies: { [CUSTOMER]: { registered: false } } }],
    [[], { ...is('<cNaoNIF>1</cNaoNIF>', address()), tribMun: withheld }],
    [[], is('<CPF>12345678900</CPF>')],
    [[], is(`<CPF>${CPF}</CPF>`), { persons: { [CPF]: { registered: false } } }],
    [[], { ...is(CNPJ, addressAbroad()), ...abroad }],
    [[], { ...is('<cNaoNIF>0</cNaoNIF>', addressAbroad()), ...abroad }],
    [[], { ...is(CNPJ), tribMun: withheld }],
    [[], is(CNPJ, address('9999999'))],
    [[], is(CNPJ, address(RIO, '30000000')), rio({ postalCodes: ['20', '21000000'] })],
    [[], is('<NIF>123</NIF>')],
    [[], { ...is('<NIF>123</NIF>', addressAbroad('BR')), ...abroad }],
    [[], is(CNPJ, '<email>a@b</email>')],
  ];
  return changes.map(([, change, setup = {}], at): Row => [[CODES[name][at] ?? ''], change, setup]);
};

const ibscbs =
  '<IBSCBS><finNFSe>0</finNFSe><cIndOp>100301</cIndOp><indDest>0</indDest><valores><trib><gIBSCBS><CST>000</CST>' +
  '<cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores></IBSCBS>';

export const partyRows: readonly Row[] = [
  ...rowsOf('toma'),
  ...rowsOf('interm'),
  [['E0187'], { toma: '', ibscbs }],
  [['E0187'], { toma: '' }, rio({ customerRequired: true })],
  [['E0202'], { toma: party('toma', `<CNPJ>${COMPANY}</CNPJ>`) }],
  [['E0234'], { ibscbs }],
  [['E0234'], { code: '170501' }],
  [['E0262'], { interm: party('interm', '<CNPJ>12345678000276</CNPJ>') }],
];

export const validParties: readonly Row[] = [
  [[], { toma: party('toma', CNPJ, address()), tribMun: tribMun('1', '2', { pAliq: '2.00' }) }],
  [[], { toma: party('toma', CNPJ, address(RIO, '21000000')) }, rio({ postalCodes: ['20', '21000000'] })],
  [[], { toma: party('toma', '<NIF>123</NIF>', addressAbroad()), afterCServ: comExt() }],
  [[], { toma: party('toma', CNPJ, address()), ibscbs }],
];

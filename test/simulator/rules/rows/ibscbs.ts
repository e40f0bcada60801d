import { address, CUSTOMER, party, RIO } from '../../../support/harness/simulator.js';
import { accessKey, CPF, comExt, NITEROI, normal, type Row, tribMun } from '../row.js';

type Parts = {
  operation?: string;
  kind?: string;
  refs?: string;
  government?: string;
  indDest?: string;
  dest?: string;
  property?: string;
  documents?: string;
  cst?: string;
  cClassTrib?: string;
  regular?: string;
};

const ibscbs = (parts: Parts = {}) => ({
  ...normal,
  ibscbs:
    `<IBSCBS><finNFSe>0</finNFSe><cIndOp>${parts.operation ?? '030101'}</cIndOp>${parts.kind ?? ''}${parts.refs ?? ''}` +
    `${parts.government ?? ''}<indDest>${parts.indDest ?? (parts.dest === undefined ? '0' : '1')}</indDest>` +
    `${parts.dest ?? ''}${parts.property ?? ''}<valores>${parts.documents ?? ''}<trib><gIBSCBS><CST>${parts.cst ?? '000'}</CST>` +
    `<cClassTrib>${parts.cClassTrib ?? '000001'}</cClassTrib>${parts.regular ?? ''}</gIBSCBS></trib></valores></IBSCBS>`,
});

const tpOper = (value: string) => `<tpOper>${value}</tpOper>`;
const refs = (key = accessKey()) => `<gRefNFSe><refNFSe>${key}</refNFSe></gRefNFSe>`;
const government = '<tpEnteGov>1</tpEnteGov>';
const CNPJ = `<CNPJ>${CUSTOMER}</CNPJ>`;
const dest = (identity = CNPJ, rest = '') => party('dest', identity, rest);
const STREET = '<xLgr>Rua A</xLgr><nro>1</nro><xBairro>Centro</xBairro>';
const property = (end = '<CEP>20000000</CEP>') => `<imovel><end>${end}${STREET}</end></imovel>`;
const END_ABROAD = '<endExt><cEndPost>1</cEndPost><xCidade>X</xCidade><xEstProvReg>Y</xEstProvReg></endExt>';
const regular = (classification: string) =>
  `<gTribRegular><CSTReg>000</CSTReg><cClassTribReg>${classification}</cClassTribReg></gTribRegular>`;
const DEFERRAL = '<gDif><pDifUF>100.00</pDifUF><pDifMun>100.00</pDifMun><pDifCBS>100.00</pDifCBS></gDif>';

export const ibscbsRows: readonly Row[] = [
  [['E0850'], { ...ibscbs(), dCompet: '2025-12-31' }],
  [['E0854'], { ...ibscbs(), version: '1.00' }],
  [['E0901'], ibscbs({ operation: '999999' })],
  [['E0903'], ibscbs({ government })],
  [['E0903'], { ...ibscbs(), code: '171201' }],
  [['E0904'], ibscbs({ kind: tpOper('1') })],
  [['E0905'], ibscbs({ kind: tpOper('2'), government })],
  [['E0906'], ibscbs({ refs: refs() })],
  [['E0907'], ibscbs({ kind: tpOper('2'), government, refs: refs(spoil(accessKey())) })],
  [['E0910'], ibscbs({ dest: dest(), indDest: '0' })],
  [['E0911'], ibscbs({ dest: dest('<CNPJ>11111111000192</CNPJ>') })],
  [['E0913'], ibscbs({ dest: dest('<CPF>12345678900</CPF>') })],
  [['E0914'], ibscbs({ dest: dest(`<CPF>${CPF}</CPF>`) }), { persons: { [CPF]: { registered: false } } }],
  [['E0912'], { ...ibscbs({ dest: dest() }), toma: '' }, { companies: { [CUSTOMER]: { registered: false } } }],
  [['E0920'], ibscbs({ dest: dest(CNPJ, address('9999999')) })],
  [['E0921'], ibscbs({ dest: dest(CNPJ, address()) }), { companies: { [CUSTOMER]: { municipality: NITEROI } } }],
  [['E0928'], ibscbs({ property: property() })],
  [['E0930'], ibscbs({ dest: dest(CNPJ, '<email>sem arroba</email>') })],
  [
    ['E0931'],
    {
      ...ibscbs({ operation: '020101', property: property() }),
      code: '070201',
      afterCServ: '<obra><cObra>123456</cObra></obra>',
    },
  ],
  [['E0932'], ibscbs({ operation: '020101' })],
  [
    ['E0934'],
    {
      ...ibscbs({ operation: '020101', property: property() }),
      place: '<cPaisPrestacao>US</cPaisPrestacao>',
      afterCServ: comExt(),
      tribMun: tribMun('3'),
    },
  ],
  [['E0935'], ibscbs({ operation: '020101', property: property(END_ABROAD) })],
  [['E0958', 'E0959'], ibscbs({ cClassTrib: '200003' })],
  [['E0959'], ibscbs({ cClassTrib: '200001' })],
  [['E0964'], ibscbs({ regular: regular('000001') })],
  [['E0965'], ibscbs({ cst: '550', cClassTrib: '550016' })],
  [[], ibscbs({ cst: '550', cClassTrib: '550016', regular: regular('000001') })],
  [['E0969', 'E0970'], ibscbs({ cst: '550', cClassTrib: '550016', regular: regular('200003') })],
  [['E0970'], ibscbs({ cst: '550', cClassTrib: '550016', regular: regular('200001') })],
  [['E0971'], ibscbs({ regular: DEFERRAL })],
  [['E0972'], ibscbs({ cst: '515', cClassTrib: '515001' })],
  [[], ibscbs({ cst: '515', cClassTrib: '515001', regular: DEFERRAL })],
];

type Document = {
  what?: string;
  fornec?: string;
  issued?: string;
  competence?: string;
  kind?: string;
  text?: string;
  value?: string;
};

const reimbursed = (parts: Document = {}) =>
  ibscbs({
    documents:
      `<gReeRepRes><documentos>${parts.what ?? '<docOutro><nDoc>1</nDoc><xDoc>Recibo</xDoc></docOutro>'}` +
      `${parts.fornec ?? ''}<dtEmiDoc>${parts.issued ?? '2026-10-01'}</dtEmiDoc>` +
      `<dtCompDoc>${parts.competence ?? '2026-10-01'}</dtCompDoc><tpReeRepRes>${parts.kind ?? '01'}</tpReeRepRes>` +
      `${parts.text ?? ''}<vlrReeRepRes>${parts.value ?? '10.00'}</vlrReeRepRes></documentos></gReeRepRes>`,
  });

const national = (kind: string, key: string) =>
  `<dFeNacional><tipoChaveDFe>${kind}</tipoChaveDFe><chaveDFe>${key}</chaveDFe></dFeNacional>`;
const municipal = (ibge = RIO) =>
  `<docFiscalOutro><cMunDocFiscal>${ibge}</cMunDocFiscal><nDocFiscal>1</nDocFiscal><xDocFiscal>Nota</xDocFiscal></docFiscalOutro>`;
const past = { issued: '2025-12-01', competence: '2025-12-01' };

export const reimbursementRows: readonly Row[] = [
  [['E0940'], reimbursed({ what: national('1', '1'.repeat(44)) })],
  [['E0942'], reimbursed({ what: municipal() })],
  [['E0943'], reimbursed({ what: municipal('9999999'), ...past })],
  [['E0945'], reimbursed({ fornec: party('fornec', '<CNPJ>11111111000192</CNPJ>') })],
  [
    ['E0946'],
    { ...reimbursed({ fornec: party('fornec', CNPJ) }), toma: '' },
    { companies: { [CUSTOMER]: { registered: false } } },
  ],
  [['E0947'], reimbursed({ fornec: party('fornec', '<CPF>12345678900</CPF>') })],
  [
    ['E0948'],
    reimbursed({ fornec: party('fornec', `<CPF>${CPF}</CPF>`) }),
    { persons: { [CPF]: { registered: false } } },
  ],
  [['E0950', 'E0951'], reimbursed({ issued: '2026-09-30' })],
  [['E0952'], reimbursed({ text: '<xTpReeRepRes>Outro</xTpReeRepRes>' })],
  [['E0953'], reimbursed({ value: '1500.01' })],
];

export const validIbscbs: readonly Row[] = [
  [[], reimbursed({ value: '1500.00' })],
  [[], ibscbs()],
  [[], ibscbs({ kind: tpOper('2'), government, refs: refs() })],
  [[], ibscbs({ dest: dest(CNPJ, address()) })],
  [[], ibscbs({ operation: '020101', property: property() })],
  [[], reimbursed({ what: national('1', '1'.repeat(50)) })],
  [[], reimbursed({ what: municipal(), ...past })],
  [[], reimbursed({ kind: '99', text: '<xTpReeRepRes>Outro</xTpReeRepRes>' })],
];

function spoil(key: string): string {
  return `${key.slice(0, 49)}${(Number(key.at(-1)) + 1) % 10}`;
}

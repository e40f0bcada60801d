import { addressAbroad, party } from '../../../support/harness/simulator.js';
import { comExt, type Row, rio, tribMun } from '../row.js';

const ABROAD = '<cPaisPrestacao>US</cPaisPrestacao>';
const STREET = '<xLgr>Rua A</xLgr><nro>1</nro><xBairro>Centro</xBairro>';
const END_ABROAD = '<endExt><cEndPost>1</cEndPost><xCidade>X</xCidade><xEstProvReg>Y</xEstProvReg></endExt>';

const works = (end: string) => `<obra><end>${end}${STREET}</end></obra>`;
const event = (end: string) =>
  `<atvEvento><xNome>Festival</xNome><dtIni>2026-10-15</dtIni><dtFim>2026-10-16</dtFim><end>${end}${STREET}</end></atvEvento>`;

const cep = '<CEP>20000000</CEP>';
const exported = { place: ABROAD, tribMun: tribMun('3') };
const foreignCustomer = party('toma', '<NIF>1</NIF>', addressAbroad());
const NEAR = rio({ postalCodes: ['20'] });
const far = '<CEP>30000000</CEP>';

export const servRows: readonly Row[] = [
  [['E0302'], { place: '<cLocPrestacao>9999999</cLocPrestacao>' }],
  [['E0304'], { place: '<cPaisPrestacao>BR</cPaisPrestacao>', afterCServ: comExt() }],
  [['E0310'], { code: '999999' }],
  [['E0312'], {}, rio({ serviceCodes: ['010201'] })],
  // Nine digits are administered, and six are sent; or nine of another service.
  [['E0312'], {}, rio({ municipalCodes: ['010101001'] })],
  [
    ['E0312', 'E0314'],
    { municipalCode: '<cTribMun>001</cTribMun>' },
    rio({ serviceCodes: [], municipalCodes: ['010201001'] }),
  ],
  [['E0314'], { municipalCode: '<cTribMun>002</cTribMun>' }, rio({ municipalCodes: ['010101001'] })],
  [['E0315'], { municipalCode: '<cTribMun>000</cTribMun>' }, rio({ municipalCodes: ['010101001'] })],
  [['E0316'], { nbs: '999999999' }],
  [['E0318'], { toma: foreignCustomer, nbs: '', afterCServ: comExt() }],
  [
    ['E0322'],
    {
      nbs: '',
      ibscbs:
        '<IBSCBS><finNFSe>0</finNFSe><cIndOp>030101</cIndOp><indDest>0</indDest><valores><trib><gIBSCBS><CST>000</CST>' +
        '<cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores></IBSCBS>',
    },
  ],
];

export const comExtRows: readonly Row[] = [
  [['E0330'], { toma: foreignCustomer }],
  [['E0333'], { afterCServ: comExt({ mode: '0' }) }],
  [['E0341'], { afterCServ: comExt({ provider: '00' }) }],
  [['E0343'], { afterCServ: comExt({ customer: '00' }) }],
  [['E0345'], { afterCServ: comExt({ goods: '0' }) }],
  [['E0352'], { afterCServ: comExt({ goods: '2' }) }],
  [['E0354'], { afterCServ: comExt({ records: '<nDI>1</nDI>' }) }],
  [['E0356'], { afterCServ: comExt({ goods: '3' }) }],
];

export const obraEventoRows: readonly Row[] = [
  [['E0370'], { code: '070201' }],
  [['E0372'], { afterCServ: works(cep) }],
  [['E0380'], { code: '070201', afterCServ: works(far) }, NEAR],
  [['E0382', 'E0384'], { ...exported, code: '070201', afterCServ: comExt() + works(cep) }],
  [['E0386'], { code: '070201', afterCServ: works(END_ABROAD) }],
  [['E0390'], { code: '120701' }],
  [['E0392'], { afterCServ: event(cep) }],
  [['E0398'], { code: '120701', afterCServ: event(far) }, NEAR],
  [['E0400', 'E0402'], { ...exported, code: '120701', afterCServ: comExt() + event(cep) }],
  [['E0398', 'E0404'], { code: '120701', afterCServ: event(END_ABROAD) }],
];

export const validServices: readonly Row[] = [
  [[], { place: '<cLocPrestacao>0000000</cLocPrestacao>' }],
  [[], { municipalCode: '<cTribMun>001</cTribMun>' }, rio({ municipalCodes: ['010101001'] })],
  [[], { afterCServ: comExt({ goods: '2', records: '<nDI>1</nDI>' }) }],
  [[], { code: '070201', afterCServ: works(cep) }, NEAR],
  [[], { ...exported, code: '070201', afterCServ: comExt() + works(END_ABROAD) }],
  [[], { ...exported, code: '120701', afterCServ: comExt() + event(END_ABROAD) }],
];

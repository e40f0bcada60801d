/** Text of the XML without invisible characters; undefined when the element is absent or empty. */
export type Text = string | undefined;

/** Texts of the XML with their paths below `infNFSe` (NT 008, 2.4.5). */
export type Paths = { readonly [field: string]: string };

export type Texts<P extends Paths> = { readonly [Field in keyof P]: Text };

const DPS = 'DPS/infDPS';
const TRIB_MUN = `${DPS}/valores/trib/tribMun`;
const TRIB_FED = `${DPS}/valores/trib/tribFed`;

export const HEAD = {
  nNFSe: 'nNFSe',
  dhProc: 'dhProc',
  tpAmb: `${DPS}/tpAmb`,
  ambGer: 'ambGer',
  cStat: 'cStat',
  xLocEmi: 'xLocEmi',
  /** UF of the issuer's address. */
  UF: 'emit/enderNac/UF',
  dCompet: `${DPS}/dCompet`,
  nDPS: `${DPS}/nDPS`,
  serie: `${DPS}/serie`,
  dhEmi: `${DPS}/dhEmi`,
  tpEmit: `${DPS}/tpEmit`,
  finNFSe: `${DPS}/IBSCBS/finNFSe`,
};

export const SERVICE = {
  cTribNac: `${DPS}/serv/cServ/cTribNac`,
  cTribMun: `${DPS}/serv/cServ/cTribMun`,
  xTribNac: 'xTribNac',
  xTribMun: 'xTribMun',
  cNBS: `${DPS}/serv/cServ/cNBS`,
  xDescServ: `${DPS}/serv/cServ/xDescServ`,
  xLocPrestacao: 'xLocPrestacao',
  cLocPrestacao: `${DPS}/serv/locPrest/cLocPrestacao`,
  cPaisPrestacao: `${DPS}/serv/locPrest/cPaisPrestacao`,
};

export const ISSQN = {
  tribISSQN: `${TRIB_MUN}/tribISSQN`,
  cLocIncid: 'cLocIncid',
  xLocIncid: 'xLocIncid',
  cPaisResult: `${TRIB_MUN}/cPaisResult`,
  regEspTrib: `${DPS}/prest/regTrib/regEspTrib`,
  tpImunidade: `${TRIB_MUN}/tpImunidade`,
  tpSusp: `${TRIB_MUN}/exigSusp/tpSusp`,
  nProcesso: `${TRIB_MUN}/exigSusp/nProcesso`,
  tpBM: 'valores/tpBM',
  vCalcBM: 'valores/vCalcBM',
  vRedBCBM: `${TRIB_MUN}/BM/vRedBCBM`,
  vDR: `${DPS}/valores/vDedRed/vDR`,
  vCalcDR: 'valores/vCalcDR',
  vCalcReeRepRes: 'IBSCBS/valores/vCalcReeRepRes',
  vDescIncond: `${DPS}/valores/vDescCondIncond/vDescIncond`,
  vBC: 'valores/vBC',
  pAliqAplic: 'valores/pAliqAplic',
  tpRetISSQN: `${TRIB_MUN}/tpRetISSQN`,
  vISSQN: 'valores/vISSQN',
};

export const FEDERAL = {
  vRetIRRF: `${TRIB_FED}/vRetIRRF`,
  vRetCP: `${TRIB_FED}/vRetCP`,
  vRetCSLL: `${TRIB_FED}/vRetCSLL`,
  vPis: `${TRIB_FED}/piscofins/vPis`,
  vCofins: `${TRIB_FED}/piscofins/vCofins`,
  tpRetPisCofins: `${TRIB_FED}/piscofins/tpRetPisCofins`,
};

export const IBS_CBS = {
  CST: `${DPS}/IBSCBS/valores/trib/gIBSCBS/CST`,
  cClassTrib: `${DPS}/IBSCBS/valores/trib/gIBSCBS/cClassTrib`,
  cIndOp: `${DPS}/IBSCBS/cIndOp`,
  cLocalidadeIncid: 'IBSCBS/cLocalidadeIncid',
  xLocalidadeIncid: 'IBSCBS/xLocalidadeIncid',
  vCalcReeRepRes: 'IBSCBS/valores/vCalcReeRepRes',
  vBC: 'IBSCBS/valores/vBC',
  pRedAliqUF: 'IBSCBS/valores/uf/pRedAliqUF',
  pRedAliqMun: 'IBSCBS/valores/mun/pRedAliqMun',
  pRedAliqCBS: 'IBSCBS/valores/fed/pRedAliqCBS',
  pIBSUF: 'IBSCBS/valores/uf/pIBSUF',
  pIBSMun: 'IBSCBS/valores/mun/pIBSMun',
  pCBS: 'IBSCBS/valores/fed/pCBS',
  pAliqEfetUF: 'IBSCBS/valores/uf/pAliqEfetUF',
  pAliqEfetMun: 'IBSCBS/valores/mun/pAliqEfetMun',
  pAliqEfetCBS: 'IBSCBS/valores/fed/pAliqEfetCBS',
  vIBSUF: 'IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF',
  vIBSMun: 'IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun',
  vIBSTot: 'IBSCBS/totCIBS/gIBS/vIBSTot',
  vCBS: 'IBSCBS/totCIBS/gCBS/vCBS',
};

export const TOTALS = {
  vServ: `${DPS}/valores/vServPrest/vServ`,
  vDescIncond: `${DPS}/valores/vDescCondIncond/vDescIncond`,
  vDescCond: `${DPS}/valores/vDescCondIncond/vDescCond`,
  vTotalRet: 'valores/vTotalRet',
  vLiq: 'valores/vLiq',
  vIBSTot: 'IBSCBS/totCIBS/gIBS/vIBSTot',
  vCBS: 'IBSCBS/totCIBS/gCBS/vCBS',
  vTotNF: 'IBSCBS/totCIBS/vTotNF',
};

export const COMPLEMENT = {
  xInfComp: `${DPS}/serv/infoCompl/xInfComp`,
  chSubstda: `${DPS}/subst/chSubstda`,
  docRef: `${DPS}/serv/infoCompl/docRef`,
  cObra: `${DPS}/serv/obra/cObra`,
  cCIBObra: `${DPS}/serv/obra/cCIB`,
  cCIBImovel: `${DPS}/IBSCBS/imovel/cCIB`,
  idAtvEvt: `${DPS}/serv/atvEvento/idAtvEvt`,
  xNomeEvt: `${DPS}/serv/atvEvento/xNome`,
  dtIni: `${DPS}/serv/atvEvento/dtIni`,
  dtFim: `${DPS}/serv/atvEvento/dtFim`,
  idDocTec: `${DPS}/serv/infoCompl/idDocTec`,
  xPed: `${DPS}/serv/infoCompl/xPed`,
  xOutInf: 'xOutInf',
};

/** Paths of layout 1.00 that 1.01 changed. A note has one path of the two. */
export const COMPLEMENT_100 = {
  idAtvEvt: `${DPS}/serv/atvEvento/id`,
  xNomeEvt: `${DPS}/serv/atvEvento/desc`,
  xOutInf: 'valores/xOutInf',
};

/** Elements of a work, a property and an event, each of which may have an address. */
export const SITES = { obra: `${DPS}/serv/obra`, imovel: `${DPS}/IBSCBS/imovel`, atvEvento: `${DPS}/serv/atvEvento` };

export const REGIME = {
  opSimpNac: `${DPS}/prest/regTrib/opSimpNac`,
  regApTribSN: `${DPS}/prest/regTrib/regApTribSN`,
};

/** Below the element of a party. `NIF` is the number of another country's tax office, in that country's form. */
export const CONTACT = { NIF: 'NIF', IM: 'IM', xNome: 'xNome', fone: 'fone', email: 'email' };

/** Below the element of an address. */
export const STREET = { xLgr: 'xLgr', nro: 'nro', xCpl: 'xCpl', xBairro: 'xBairro' };
export const IN_BRAZIL = { cMun: 'cMun', CEP: 'CEP' };
export const ABROAD = { xCidade: 'xCidade', xEstProvReg: 'xEstProvReg', cPais: 'cPais', cEndPost: 'cEndPost' };

export type Address = Texts<typeof STREET> & Texts<typeof IN_BRAZIL> & { abroad: Texts<typeof ABROAD> | undefined };

/** `taxId`: CNPJ or CPF. */
export type Party = Texts<typeof CONTACT> & { taxId: Text; address: Address | undefined };

/** The customer, another party, or no party that the note names. */
export type Recipient = { kind: 'customer' } | { kind: 'other'; party: Party } | { kind: 'none' };

export type Issqn = Texts<typeof ISSQN>;
export type IbsCbs = Texts<typeof IBS_CBS>;
export type Complement = Texts<typeof COMPLEMENT> & {
  inscImobFisc: Text;
  addresses: { readonly [Site in keyof typeof SITES]: Address | undefined };
  xItemPed: readonly string[];
  approximateTaxes: ApproximateTaxes;
};

/** The choice of `totTrib` (Lei 12.741/2012): amounts, percentages, the one percentage of the Simples Nacional, or nothing. */
export type ApproximateTaxes =
  | { kind: 'amounts' | 'percentages'; federal: Text; state: Text; municipal: Text }
  | { kind: 'simples'; pTotTribSN: string }
  | { kind: 'none' };

/** What the DANFSe shows of an NFS-e. Fields of the layout keep their names. */
export type Note = Texts<typeof HEAD> & {
  accessKey: string;
  /** Layout of the DPS, in which the codes of `infDPS` have their meaning. The note around the DPS may have a later layout. */
  versao: Text;
  nNFSe: string;
  dhProc: string;
  provider: Party & Texts<typeof REGIME>;
  customer: Party | undefined;
  recipient: Recipient;
  intermediary: Party | undefined;
  service: Texts<typeof SERVICE>;
  issqn: Issqn;
  federal: Texts<typeof FEDERAL>;
  ibsCbs: IbsCbs | undefined;
  totals: Texts<typeof TOTALS>;
  complement: Complement;
};

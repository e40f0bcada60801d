/** Text of the XML without invisible characters; undefined when the element is absent or empty. */
export type Text = string | undefined;

/** An IBGE code and a CEP in Brazil, a written place abroad. */
export type Address = {
  cMun: Text;
  CEP: Text;
  abroad: { xCidade: Text; xEstProvReg: Text; cPais: Text; cEndPost: Text } | undefined;
  xLgr: Text;
  nro: Text;
  xCpl: Text;
  xBairro: Text;
};

export type Party = {
  /** CNPJ or CPF. */
  taxId: Text;
  /** Number of another country's tax office, in that country's form. */
  NIF: Text;
  IM: Text;
  xNome: Text;
  fone: Text;
  email: Text;
  address: Address | undefined;
};

export type Provider = Party & { opSimpNac: Text; regApTribSN: Text };

/** The customer, another party, or no party that the note names. */
export type Recipient = { kind: 'customer' } | { kind: 'other'; party: Party } | { kind: 'none' };

/** What the DANFSe shows of an NFS-e. Fields of the layout keep their names. */
export type Note = {
  accessKey: string;
  nNFSe: string;
  dhProc: string;
  tpAmb: Text;
  ambGer: Text;
  cStat: Text;
  xLocEmi: Text;
  /** UF of the issuer's address. */
  UF: Text;
  dCompet: Text;
  nDPS: Text;
  serie: Text;
  dhEmi: Text;
  tpEmit: Text;
  finNFSe: Text;
  provider: Provider;
  customer: Party | undefined;
  recipient: Recipient;
  intermediary: Party | undefined;
  service: Service;
  issqn: Issqn;
  federal: Federal;
  ibsCbs: IbsCbs | undefined;
  totals: Totals;
  complement: Complement;
};

export type Service = {
  cTribNac: Text;
  cTribMun: Text;
  xTribNac: Text;
  xTribMun: Text;
  cNBS: Text;
  xDescServ: Text;
  xLocPrestacao: Text;
  cLocPrestacao: Text;
  cPaisPrestacao: Text;
};

export type Issqn = {
  tribISSQN: Text;
  cLocIncid: Text;
  xLocIncid: Text;
  cPaisResult: Text;
  regEspTrib: Text;
  tpImunidade: Text;
  tpSusp: Text;
  nProcesso: Text;
  tpBM: Text;
  vCalcBM: Text;
  vRedBCBM: Text;
  vDR: Text;
  vCalcDR: Text;
  vCalcReeRepRes: Text;
  vDescIncond: Text;
  vBC: Text;
  pAliqAplic: Text;
  tpRetISSQN: Text;
  vISSQN: Text;
};

export type Federal = {
  vRetIRRF: Text;
  vRetCP: Text;
  vRetCSLL: Text;
  vPis: Text;
  vCofins: Text;
  tpRetPisCofins: Text;
};

export type IbsCbs = {
  CST: Text;
  cClassTrib: Text;
  cIndOp: Text;
  cLocalidadeIncid: Text;
  xLocalidadeIncid: Text;
  vCalcReeRepRes: Text;
  vBC: Text;
  pRedAliqUF: Text;
  pRedAliqMun: Text;
  pRedAliqCBS: Text;
  pIBSUF: Text;
  pIBSMun: Text;
  pCBS: Text;
  pAliqEfetUF: Text;
  pAliqEfetMun: Text;
  pAliqEfetCBS: Text;
  vIBSUF: Text;
  vIBSMun: Text;
  vIBSTot: Text;
  vCBS: Text;
};

export type Totals = {
  vServ: Text;
  vDescIncond: Text;
  vDescCond: Text;
  vTotalRet: Text;
  vLiq: Text;
  vIBSTot: Text;
  vCBS: Text;
  vTotNF: Text;
};

export type Complement = {
  xInfComp: Text;
  chSubstda: Text;
  docRef: Text;
  cObra: Text;
  inscImobFisc: Text;
  idAtvEvt: Text;
  idDocTec: Text;
  xPed: Text;
  xItemPed: readonly string[];
  xOutInf: Text;
  approximateTaxes: ApproximateTaxes;
};

/** The choice of `totTrib` (Lei 12.741/2012): amounts, percentages, the one percentage of the Simples Nacional, or nothing. */
export type ApproximateTaxes =
  | { kind: 'amounts'; federal: Text; state: Text; municipal: Text }
  | { kind: 'percentages'; federal: Text; state: Text; municipal: Text }
  | { kind: 'simples'; pTotTribSN: string }
  | { kind: 'none' };

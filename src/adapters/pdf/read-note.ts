import { attributeAt, nodeAt, nodesAt, parseXml, textAt, type XmlParts } from '../../xml/parse.js';
import type {
  Address,
  ApproximateTaxes,
  Complement,
  Federal,
  IbsCbs,
  Issqn,
  Note,
  Party,
  Provider,
  Recipient,
  Service,
  Text,
  Totals,
} from './note.js';

/**
 * What the DANFSe shows of an authorized NFS-e (paths of NT 008, 2.4.5). Undefined for XML without access key, number or a valid `dhProc`, which
 * every NFS-e has. Everything else may be absent.
 */
export const readNote = (nfseXml: Buffer): Note | undefined => {
  const parsed = parseXml(nfseXml);
  if (!parsed.ok) return undefined;
  const inf = readerOf(parsed.root);
  const accessKey = /^NFS([0-9A-Z]{50})$/.exec(attributeAt(parsed.root, 'NFSe/infNFSe', 'Id') ?? '')?.[1];
  const nNFSe = inf.text('nNFSe');
  const dhProc = inf.text('dhProc');
  if (accessKey === undefined || nNFSe === undefined || dhProc === undefined || Number.isNaN(Date.parse(dhProc))) {
    return undefined;
  }
  return {
    accessKey,
    nNFSe,
    dhProc,
    tpAmb: inf.text('DPS/infDPS/tpAmb'),
    ambGer: inf.text('ambGer'),
    cStat: inf.text('cStat'),
    xLocEmi: inf.text('xLocEmi'),
    UF: inf.text('emit/enderNac/UF'),
    dCompet: inf.text('DPS/infDPS/dCompet'),
    nDPS: inf.text('DPS/infDPS/nDPS'),
    serie: inf.text('DPS/infDPS/serie'),
    dhEmi: inf.text('DPS/infDPS/dhEmi'),
    tpEmit: inf.text('DPS/infDPS/tpEmit'),
    finNFSe: inf.text('DPS/infDPS/IBSCBS/finNFSe'),
    provider: readProvider(inf),
    customer: readCustomer(inf),
    recipient: readRecipient(inf),
    intermediary: readIntermediary(inf),
    service: readService(inf),
    issqn: readIssqn(inf),
    federal: readFederal(inf),
    ibsCbs: readIbsCbs(inf),
    totals: readTotals(inf),
    complement: readComplement(inf, parsed.root),
  };
};

const INF = 'NFSe/infNFSe';

const readerOf = (root: XmlParts): XmlReader => ({
  text: (path) => printableText(textAt(root, `${INF}/${path}`)),
  has: (path) => nodeAt(root, `${INF}/${path}`) !== undefined,
});

/**
 * The text as it is printed. Letters are composed with their accents, because the font has glyphs for the composed characters. Further accents
 * would reach into the line above and are dropped. So are invisible characters, which take room and may turn the direction of the text after them.
 */
const printableText = (text: Text): Text =>
  text
    ?.replace(ACCENTED, (_all, letter: string) => letter.normalize('NFC'))
    .replace(INVISIBLE, '')
    .trim() || undefined;

/** Normalized letter by letter, because a text of accents alone takes minutes to normalize. */
const ACCENTED = /(\P{M}\p{M}{1,2})\p{M}*/gu;

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

const allOf = (...texts: readonly Text[]): Text =>
  Array.from(new Set(texts.filter((text) => text !== undefined))).join(', ') || undefined;

const readService = (inf: XmlReader): Service => ({
  cTribNac: inf.text('DPS/infDPS/serv/cServ/cTribNac'),
  cTribMun: inf.text('DPS/infDPS/serv/cServ/cTribMun'),
  xTribNac: inf.text('xTribNac'),
  xTribMun: inf.text('xTribMun'),
  cNBS: inf.text('DPS/infDPS/serv/cServ/cNBS'),
  xDescServ: inf.text('DPS/infDPS/serv/cServ/xDescServ'),
  xLocPrestacao: inf.text('xLocPrestacao'),
  cLocPrestacao: inf.text('DPS/infDPS/serv/locPrest/cLocPrestacao'),
  cPaisPrestacao: inf.text('DPS/infDPS/serv/locPrest/cPaisPrestacao'),
});

const readIssqn = (inf: XmlReader): Issqn => ({
  tribISSQN: inf.text('DPS/infDPS/valores/trib/tribMun/tribISSQN'),
  cLocIncid: inf.text('cLocIncid'),
  xLocIncid: inf.text('xLocIncid'),
  cPaisResult: inf.text('DPS/infDPS/valores/trib/tribMun/cPaisResult'),
  regEspTrib: inf.text('DPS/infDPS/prest/regTrib/regEspTrib'),
  tpImunidade: inf.text('DPS/infDPS/valores/trib/tribMun/tpImunidade'),
  tpSusp: inf.text('DPS/infDPS/valores/trib/tribMun/exigSusp/tpSusp'),
  nProcesso: inf.text('DPS/infDPS/valores/trib/tribMun/exigSusp/nProcesso'),
  tpBM: inf.text('valores/tpBM'),
  vCalcBM: inf.text('valores/vCalcBM'),
  vRedBCBM: inf.text('DPS/infDPS/valores/trib/tribMun/BM/vRedBCBM'),
  vDR: inf.text('DPS/infDPS/valores/vDedRed/vDR'),
  vCalcDR: inf.text('valores/vCalcDR'),
  vCalcReeRepRes: inf.text('IBSCBS/valores/vCalcReeRepRes'),
  vDescIncond: inf.text('DPS/infDPS/valores/vDescCondIncond/vDescIncond'),
  vBC: inf.text('valores/vBC'),
  pAliqAplic: inf.text('valores/pAliqAplic'),
  tpRetISSQN: inf.text('DPS/infDPS/valores/trib/tribMun/tpRetISSQN'),
  vISSQN: inf.text('valores/vISSQN'),
});

const readFederal = (inf: XmlReader): Federal => ({
  vRetIRRF: inf.text('DPS/infDPS/valores/trib/tribFed/vRetIRRF'),
  vRetCP: inf.text('DPS/infDPS/valores/trib/tribFed/vRetCP'),
  vRetCSLL: inf.text('DPS/infDPS/valores/trib/tribFed/vRetCSLL'),
  vPis: inf.text('DPS/infDPS/valores/trib/tribFed/piscofins/vPis'),
  vCofins: inf.text('DPS/infDPS/valores/trib/tribFed/piscofins/vCofins'),
  tpRetPisCofins: inf.text('DPS/infDPS/valores/trib/tribFed/piscofins/tpRetPisCofins'),
});

const readIbsCbs = (inf: XmlReader): IbsCbs | undefined => {
  if (!inf.has('IBSCBS') && !inf.has('DPS/infDPS/IBSCBS')) return undefined;
  return {
    CST: inf.text('DPS/infDPS/IBSCBS/valores/trib/gIBSCBS/CST'),
    cClassTrib: inf.text('DPS/infDPS/IBSCBS/valores/trib/gIBSCBS/cClassTrib'),
    cIndOp: inf.text('DPS/infDPS/IBSCBS/cIndOp'),
    cLocalidadeIncid: inf.text('IBSCBS/cLocalidadeIncid'),
    xLocalidadeIncid: inf.text('IBSCBS/xLocalidadeIncid'),
    vCalcReeRepRes: inf.text('IBSCBS/valores/vCalcReeRepRes'),
    vBC: inf.text('IBSCBS/valores/vBC'),
    pRedAliqUF: inf.text('IBSCBS/valores/uf/pRedAliqUF'),
    pRedAliqMun: inf.text('IBSCBS/valores/mun/pRedAliqMun'),
    pRedAliqCBS: inf.text('IBSCBS/valores/fed/pRedAliqCBS'),
    pIBSUF: inf.text('IBSCBS/valores/uf/pIBSUF'),
    pIBSMun: inf.text('IBSCBS/valores/mun/pIBSMun'),
    pCBS: inf.text('IBSCBS/valores/fed/pCBS'),
    pAliqEfetUF: inf.text('IBSCBS/valores/uf/pAliqEfetUF'),
    pAliqEfetMun: inf.text('IBSCBS/valores/mun/pAliqEfetMun'),
    pAliqEfetCBS: inf.text('IBSCBS/valores/fed/pAliqEfetCBS'),
    vIBSUF: inf.text('IBSCBS/totCIBS/gIBS/gIBSUFTot/vIBSUF'),
    vIBSMun: inf.text('IBSCBS/totCIBS/gIBS/gIBSMunTot/vIBSMun'),
    vIBSTot: inf.text('IBSCBS/totCIBS/gIBS/vIBSTot'),
    vCBS: inf.text('IBSCBS/totCIBS/gCBS/vCBS'),
  };
};

const readTotals = (inf: XmlReader): Totals => ({
  vServ: inf.text('DPS/infDPS/valores/vServPrest/vServ'),
  vDescIncond: inf.text('DPS/infDPS/valores/vDescCondIncond/vDescIncond'),
  vDescCond: inf.text('DPS/infDPS/valores/vDescCondIncond/vDescCond'),
  vTotalRet: inf.text('valores/vTotalRet'),
  vLiq: inf.text('valores/vLiq'),
  vIBSTot: inf.text('IBSCBS/totCIBS/gIBS/vIBSTot'),
  vCBS: inf.text('IBSCBS/totCIBS/gCBS/vCBS'),
  vTotNF: inf.text('IBSCBS/totCIBS/vTotNF'),
});

const readComplement = (inf: XmlReader, root: XmlParts): Complement => ({
  xInfComp: inf.text('DPS/infDPS/serv/infoCompl/xInfComp'),
  chSubstda: inf.text('DPS/infDPS/subst/chSubstda'),
  docRef: inf.text('DPS/infDPS/serv/infoCompl/docRef'),
  cObra: inf.text('DPS/infDPS/serv/obra/cObra'),
  inscImobFisc: allOf(inf.text('DPS/infDPS/serv/obra/inscImobFisc'), inf.text('DPS/infDPS/IBSCBS/imovel/inscImobFisc')),
  idAtvEvt: inf.text('DPS/infDPS/serv/atvEvento/idAtvEvt'),
  idDocTec: inf.text('DPS/infDPS/serv/infoCompl/idDocTec'),
  xPed: inf.text('DPS/infDPS/serv/infoCompl/xPed'),
  xItemPed: nodesAt(root, `${INF}/DPS/infDPS/serv/infoCompl/gItemPed/xItemPed`).flatMap((item) =>
    typeof item === 'string' ? (printableText(item) ?? []) : [],
  ),
  xOutInf: inf.text('xOutInf'),
  approximateTaxes: readApproximateTaxes(inf),
});

const readApproximateTaxes = (inf: XmlReader): ApproximateTaxes => {
  const path = 'DPS/infDPS/valores/trib/totTrib';
  const three = (prefix: string) => ({
    federal: inf.text(`${path}/${prefix}/${prefix}Fed`),
    state: inf.text(`${path}/${prefix}/${prefix}Est`),
    municipal: inf.text(`${path}/${prefix}/${prefix}Mun`),
  });
  const pTotTribSN = inf.text(`${path}/pTotTribSN`);
  if (inf.has(`${path}/vTotTrib`)) return { kind: 'amounts', ...three('vTotTrib') };
  if (inf.has(`${path}/pTotTrib`)) return { kind: 'percentages', ...three('pTotTrib') };
  return pTotTribSN === undefined ? { kind: 'none' } : { kind: 'simples', pTotTribSN };
};

/** Reads inside one element of the XML: the text at a path, and whether an element is present. */
type XmlReader = { text(path: string): Text; has(path: string): boolean };

/** The provider of a note. In this file `inf` reads below `infNFSe`. */
const readProvider = (inf: XmlReader): Provider => {
  const prest = readParty(inf, 'DPS/infDPS/prest');
  // A provider that issues its own note has no name or address in the DPS; the authorizer adds them in `emit`.
  const emit = inf.text('DPS/infDPS/tpEmit') === '1' ? readIssuer(inf) : undefined;
  return {
    taxId: prest?.taxId ?? emit?.taxId,
    NIF: prest?.NIF,
    IM: prest?.IM ?? emit?.IM,
    xNome: prest?.xNome ?? emit?.xNome,
    fone: prest?.fone ?? emit?.fone,
    email: prest?.email ?? emit?.email,
    address: prest?.address ?? emit?.address,
    opSimpNac: inf.text('DPS/infDPS/prest/regTrib/opSimpNac'),
    regApTribSN: inf.text('DPS/infDPS/prest/regTrib/regApTribSN'),
  };
};

const readCustomer = (inf: XmlReader): Party | undefined => readParty(inf, 'DPS/infDPS/toma');

const readIntermediary = (inf: XmlReader): Party | undefined => readParty(inf, 'DPS/infDPS/interm');

/** `indDest` 0 says that the recipient is the customer, which has a meaning only when there is a customer. */
const readRecipient = (inf: XmlReader): Recipient => {
  const party = readParty(inf, 'DPS/infDPS/IBSCBS/dest');
  if (party !== undefined) return { kind: 'other', party };
  const isCustomer = inf.text('DPS/infDPS/IBSCBS/indDest') === '0' && inf.has('DPS/infDPS/toma');
  return isCustomer ? { kind: 'customer' } : { kind: 'none' };
};

const readParty = (inf: XmlReader, path: string): Party | undefined =>
  inf.has(path) ? { ...readContact(inf, path), address: readAddress(inf, `${path}/end`) } : undefined;

const readIssuer = (inf: XmlReader): Party => ({
  ...readContact(inf, 'emit'),
  address: {
    cMun: inf.text('emit/enderNac/cMun'),
    CEP: inf.text('emit/enderNac/CEP'),
    abroad: undefined,
    ...readStreet(inf, 'emit/enderNac'),
  },
});

const readContact = (inf: XmlReader, path: string): Omit<Party, 'address'> => ({
  taxId: inf.text(`${path}/CNPJ`) ?? inf.text(`${path}/CPF`),
  NIF: inf.text(`${path}/NIF`),
  IM: inf.text(`${path}/IM`),
  xNome: inf.text(`${path}/xNome`),
  fone: inf.text(`${path}/fone`),
  email: inf.text(`${path}/email`),
});

const readAddress = (inf: XmlReader, path: string): Address | undefined => {
  if (!inf.has(path)) return undefined;
  return {
    cMun: inf.text(`${path}/endNac/cMun`),
    CEP: inf.text(`${path}/endNac/CEP`),
    abroad: inf.has(`${path}/endExt`)
      ? {
          xCidade: inf.text(`${path}/endExt/xCidade`),
          xEstProvReg: inf.text(`${path}/endExt/xEstProvReg`),
          cPais: inf.text(`${path}/endExt/cPais`),
          cEndPost: inf.text(`${path}/endExt/cEndPost`),
        }
      : undefined,
    ...readStreet(inf, path),
  };
};

const readStreet = (inf: XmlReader, path: string): Pick<Address, 'xLgr' | 'nro' | 'xCpl' | 'xBairro'> => ({
  xLgr: inf.text(`${path}/xLgr`),
  nro: inf.text(`${path}/nro`),
  xCpl: inf.text(`${path}/xCpl`),
  xBairro: inf.text(`${path}/xBairro`),
});

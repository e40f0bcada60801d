import type { Note } from '../../../../src/adapters/pdf/note.js';
import { readNote } from '../../../../src/adapters/pdf/read-note.js';
import type { PdfMarks } from '../../../../src/ports/pdf.js';

const NAMESPACE = 'xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"';

/** Groups of an `infNFSe` in the order of the layout; `processed` are the elements before `emit`. */
type Parts = { key: string; processed: string; place: string; amounts: string; dps: string };

/** Unsigned: the renderer does not look at signatures. */
const noteOfParts = ({ key, processed, place, amounts, dps }: Parts): string =>
  `<NFSe ${NAMESPACE}><infNFSe Id="NFS${key}">${processed}<emit><CNPJ>12345678000195</CNPJ>` +
  '<xNome>EMPRESA FICTICIA LTDA</xNome><enderNac><xLgr>RUA DO EXEMPLO</xLgr><nro>210</nro><xBairro>CENTRO</xBairro>' +
  `${place}</enderNac></emit>${amounts}<DPS ${NAMESPACE}><infDPS Id="DPS1">${dps}</infDPS></DPS></infNFSe></NFSe>`;

const SAO_LUIS = '<cMun>2111300</cMun><UF>MA</UF><CEP>65045215</CEP>';
const RIO = '<cMun>3304557</cMun><UF>RJ</UF><CEP>23095072</CEP>';
const ISSUED = '<ambGer>2</ambGer><tpEmis>1</tpEmis><procEmi>1</procEmi><cStat>100</cStat>';
const simples = (assessment: string): string =>
  `<regTrib><opSimpNac>3</opSimpNac><regApTribSN>${assessment}</regApTribSN><regEspTrib>0</regEspTrib></regTrib>`;

const notes = {
  /** Production, ME/EPP all inside the Simples, a person as customer. */
  production: noteOfParts({
    key: '21113002212345678000195000000000146726037032711027',
    processed:
      '<xLocEmi>São Luís</xLocEmi><xLocPrestacao>São Luís</xLocPrestacao><nNFSe>1467</nNFSe>' +
      '<cLocIncid>2111300</cLocIncid><xLocIncid>São Luís</xLocIncid><xTribNac>Funerais.</xTribNac>' +
      `${ISSUED}<dhProc>2026-03-03T12:17:37-03:00</dhProc>`,
    place: SAO_LUIS,
    amounts: '<valores><vLiq>51.60</vLiq></valores>',
    dps:
      '<tpAmb>1</tpAmb><dhEmi>2026-03-03T12:17:25-03:00</dhEmi><serie>3</serie><nDPS>5306</nDPS>' +
      '<dCompet>2026-03-03</dCompet><tpEmit>1</tpEmit><cLocEmi>2111300</cLocEmi><prest><CNPJ>12345678000195</CNPJ>' +
      `${simples('1')}</prest><toma><CPF>12345678909</CPF><xNome>Maria da Silva Exemplo</xNome><end><endNac>` +
      '<cMun>2111201</cMun><CEP>65117026</CEP></endNac><xLgr>Rua do Exemplo</xLgr><nro>233</nro><xBairro>Vila</xBairro>' +
      '</end></toma><serv><locPrest><cLocPrestacao>2111300</cLocPrestacao></locPrest><cServ>' +
      '<cTribNac>250101</cTribNac><xDescServ>Mensalidade do plano\n\nSegunda linha</xDescServ></cServ></serv><valores>' +
      '<vServPrest><vServ>51.60</vServ></vServPrest><trib><tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN>' +
      '</tribMun><totTrib><pTotTribSN>0</pTotTribSN></totTrib></trib></valores>',
  }),
  /** Test environment, ISSQN outside the Simples, federal taxes withheld, IBS and CBS of the reform. */
  reform: noteOfParts({
    key: '33045572212345678000195000000000014625124504258425',
    processed:
      '<xLocEmi>Rio de Janeiro</xLocEmi><xLocPrestacao>Rio de Janeiro</xLocPrestacao><nNFSe>146</nNFSe>' +
      '<cLocIncid>3304557</cLocIncid><xLocIncid>Rio de Janeiro</xLocIncid><xTribNac>Análise e desenvolvimento.</xTribNac>' +
      `<xTribMun>Análise de sistemas.</xTribMun>${ISSUED}<dhProc>2025-12-30T19:01:35-03:00</dhProc>`,
    place: RIO,
    amounts:
      '<valores><vBC>10000.00</vBC><pAliqAplic>5.00</pAliqAplic><vISSQN>500.00</vISSQN><vTotalRet>615.00</vTotalRet>' +
      '<vLiq>9385.00</vLiq></valores><IBSCBS><cLocalidadeIncid>3303302</cLocalidadeIncid>' +
      '<xLocalidadeIncid>Niterói</xLocalidadeIncid><valores><vBC>8740.00</vBC><vCalcReeRepRes>0.00</vCalcReeRepRes>' +
      '<uf><pIBSUF>0.10</pIBSUF><pAliqEfetUF>0.10</pAliqEfetUF></uf><mun><pIBSMun>0.00</pIBSMun>' +
      '<pAliqEfetMun>0.00</pAliqEfetMun></mun><fed><pCBS>0.90</pCBS><pAliqEfetCBS>0.90</pAliqEfetCBS></fed></valores>' +
      '<totCIBS><vTotNF>9385.00</vTotNF><gIBS><vIBSTot>8.74</vIBSTot><gIBSUFTot><vIBSUF>8.74</vIBSUF></gIBSUFTot>' +
      '<gIBSMunTot><vIBSMun>0.00</vIBSMun></gIBSMunTot></gIBS><gCBS><vCBS>78.66</vCBS></gCBS></totCIBS></IBSCBS>',
    dps:
      '<tpAmb>2</tpAmb><dhEmi>2025-12-30T19:00:06-03:00</dhEmi><serie>333</serie><nDPS>6</nDPS>' +
      '<dCompet>2025-12-30</dCompet><tpEmit>1</tpEmit><cLocEmi>3304557</cLocEmi><prest><CNPJ>12345678000195</CNPJ>' +
      `<fone>2100000000</fone><email>contato@exemplo.com.br</email>${simples('3')}</prest><toma>` +
      '<CNPJ>11111111000191</CNPJ><xNome>FICTICIA &amp; FILHOS</xNome><end><endNac><cMun>3303302</cMun>' +
      '<CEP>24020077</CEP></endNac><xLgr>AV DO EXEMPLO</xLgr><nro>123</nro><xBairro>CENTRO</xBairro></end></toma>' +
      '<serv><locPrest><cLocPrestacao>3304557</cLocPrestacao></locPrest><cServ><cTribNac>010101</cTribNac>' +
      '<cTribMun>001</cTribMun><xDescServ>Desenvolvimento de sistemas</xDescServ><cNBS>115021000</cNBS></cServ></serv>' +
      '<valores><vServPrest><vServ>10000.00</vServ></vServPrest><trib><tribMun><tribISSQN>1</tribISSQN>' +
      '<tpRetISSQN>1</tpRetISSQN></tribMun><tribFed><piscofins><vPis>0.00</vPis><vCofins>760.00</vCofins>' +
      '<tpRetPisCofins>2</tpRetPisCofins></piscofins><vRetIRRF>150.00</vRetIRRF><vRetCSLL>465.00</vRetCSLL></tribFed>' +
      '<totTrib><vTotTrib><vTotTribFed>760.00</vTotTribFed><vTotTribEst>0.00</vTotTribEst>' +
      '<vTotTribMun>500.00</vTotTribMun></vTotTrib></totTrib></trib></valores><IBSCBS><finNFSe>0</finNFSe>' +
      '<indFinal>1</indFinal><cIndOp>100301</cIndOp><indDest>0</indDest><valores><trib><gIBSCBS><CST>000</CST>' +
      '<cClassTrib>000001</cClassTrib></gIBSCBS></trib></valores></IBSCBS>',
  }),
  /** Test environment, a customer abroad. */
  exported: noteOfParts({
    key: '33045572212345678000195000000000014826082012345670',
    processed:
      '<xLocEmi>Rio de Janeiro</xLocEmi><xLocPrestacao>Rio de Janeiro</xLocPrestacao><nNFSe>148</nNFSe>' +
      `<xTribNac>Elaboração de programas.</xTribNac>${ISSUED}<dhProc>2026-08-28T14:37:08-03:00</dhProc>`,
    place: RIO,
    amounts: '<valores><vLiq>10000.00</vLiq></valores>',
    dps:
      '<tpAmb>2</tpAmb><dhEmi>2026-08-28T14:37:06-03:00</dhEmi><serie>1</serie><nDPS>7</nDPS>' +
      '<dCompet>2026-08-28</dCompet><tpEmit>1</tpEmit><cLocEmi>3304557</cLocEmi><prest><CNPJ>12345678000195</CNPJ>' +
      `${simples('1')}</prest><toma><cNaoNIF>1</cNaoNIF><xNome>ACME SOFTWARE CLIENT LLC</xNome><end><endExt>` +
      '<cPais>US</cPais><cEndPost>10001</cEndPost><xCidade>New York</xCidade><xEstProvReg>NY</xEstProvReg></endExt>' +
      '<xLgr>100 Main Street</xLgr><nro>100</nro><xBairro>Downtown</xBairro></end></toma><serv><locPrest>' +
      '<cLocPrestacao>3304557</cLocPrestacao></locPrest><cServ><cTribNac>010401</cTribNac>' +
      '<xDescServ>Desenvolvimento para cliente no exterior</xDescServ><cNBS>115022000</cNBS></cServ></serv><valores>' +
      '<vServPrest><vServ>10000.00</vServ></vServPrest><trib><tribMun><tribISSQN>3</tribISSQN>' +
      '<cPaisResult>US</cPaisResult><tpRetISSQN>1</tpRetISSQN></tribMun><totTrib><pTotTribSN>6.00</pTotTribSN>' +
      '</totTrib></trib></valores>',
  }),
} as const;

type NoteName = keyof typeof notes;

export const noteXml = (name: NoteName): Buffer => Buffer.from(notes[name], 'utf8');

/** The note with texts replaced. */
export const alteredXml = (name: NoteName, ...changes: readonly (readonly [string, string])[]): Buffer => {
  const altered = changes.reduce((xml, [from, to]) => {
    if (!xml.includes(from)) throw new Error(`the note has no ${from}`);
    return xml.replace(from, () => to);
  }, notes[name] as string);
  return Buffer.from(altered, 'utf8');
};

/** Names whose letters share glyphs, change each other or stand in other scripts. */
export const customerNames = {
  plain: 'ACME SOFTWARE CLIENT LLC',
  joined: 'A\uFE0F C\u200DM\u00ADE\u00A0SOFT\u2010WARE A\u0301C\u0327O',
  scripts: 'АКМЕ ΑΚΜΗ אקמה ⚫ 漢字 \u{1F600} LLC',
  numbers: '1/2 ½ H₂O №5 ﬁnal LLC',
} as const;

export type CustomerName = keyof typeof customerNames;

export const noteOfCustomer = (name: CustomerName): Buffer =>
  alteredXml('exported', [customerNames.plain, customerNames[name]]);

export const noteOf = (xml: Buffer): Note => {
  const note = readNote(xml);
  if (note === undefined) throw new Error('not read as a note');
  return note;
};

export const marks = (given: Partial<PdfMarks> = {}): PdfMarks => ({
  canceled: false,
  replaced: false,
  simulated: false,
  ...given,
});

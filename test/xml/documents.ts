import type { KeyAndCertificate } from '../../src/certificates/issue-certificate.js';
import { type SigningOptions, signDocument } from '../../src/xml/sign.js';

const NAMESPACE = 'xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"';

export const accessKey = '21113002212345678000195000000000146726037032711027';
export const dpsId = 'DPS211130021234567800019500001000000000000001';

/** A DPS of a ME/EPP with a customer and an address, before it is signed. */
export const unsignedDps =
  `<DPS ${NAMESPACE}><infDPS Id="${dpsId}"><tpAmb>2</tpAmb><dhEmi>2026-09-15T10:30:00-03:00</dhEmi>` +
  '<verAplic>Teste_1.0</verAplic><serie>1</serie><nDPS>1</nDPS><dCompet>2026-09-15</dCompet><tpEmit>1</tpEmit>' +
  '<cLocEmi>2111300</cLocEmi><prest><CNPJ>12345678000195</CNPJ><regTrib><opSimpNac>3</opSimpNac>' +
  '<regApTribSN>1</regApTribSN><regEspTrib>0</regEspTrib></regTrib></prest><toma><CNPJ>11111111000191</CNPJ>' +
  '<xNome>CLIENTE FICTICIO LTDA</xNome><end><endNac><cMun>3550308</cMun><CEP>01310100</CEP></endNac>' +
  '<xLgr>Rua das Flores</xLgr><nro>100</nro><xBairro>Centro</xBairro></end></toma><serv><locPrest>' +
  '<cLocPrestacao>2111300</cLocPrestacao></locPrest><cServ><cTribNac>010101</cTribNac>' +
  '<xDescServ>Desenvolvimento de sistema</xDescServ><cNBS>115022000</cNBS></cServ></serv><valores><vServPrest>' +
  '<vServ>1500.00</vServ></vServPrest><trib><tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN></tribMun>' +
  '<totTrib><pTotTribSN>6.00</pTotTribSN></totTrib></trib></valores></infDPS></DPS>';

/** A request to cancel the note of `accessKey`, before it is signed. */
export const unsignedRequest =
  `<pedRegEvento ${NAMESPACE}><infPedReg Id="PRE${accessKey}101101"><tpAmb>2</tpAmb><verAplic>Teste_1.0</verAplic>` +
  `<dhEvento>2026-03-04T13:34:49-03:00</dhEvento><CNPJAutor>12345678000195</CNPJAutor><chNFSe>${accessKey}</chNFSe>` +
  '<e101101><xDesc>Cancelamento de NFS-e</xDesc><cMotivo>1</cMotivo>' +
  '<xMotivo>Valor do serviço informado incorretamente</xMotivo></e101101></infPedReg></pedRegEvento>';

/** An NFS-e around a DPS, not signed by the Sefin. */
export const noteAround = (dps: string): string =>
  `<NFSe ${NAMESPACE}><infNFSe Id="NFS${accessKey}"><xLocEmi>São Luís</xLocEmi>` +
  '<xLocPrestacao>São Luís</xLocPrestacao><nNFSe>1467</nNFSe><cLocIncid>2111300</cLocIncid>' +
  '<xLocIncid>São Luís</xLocIncid><xTribNac>Análise e desenvolvimento de sistemas.</xTribNac>' +
  '<verAplic>Teste_1.0</verAplic><ambGer>2</ambGer><tpEmis>1</tpEmis><procEmi>1</procEmi><cStat>100</cStat>' +
  '<dhProc>2026-03-03T12:17:37-03:00</dhProc><nDFSe>2369908</nDFSe><emit><CNPJ>12345678000195</CNPJ>' +
  '<xNome>EMPRESA FICTICIA LTDA</xNome><enderNac><xLgr>RUA DO EXEMPLO</xLgr><nro>210</nro><xBairro>CENTRO</xBairro>' +
  '<cMun>2111300</cMun><UF>MA</UF><CEP>65045215</CEP></enderNac></emit><valores><vLiq>1500.00</vLiq></valores>' +
  `${withoutDeclaration(dps)}</infNFSe></NFSe>`;

/** A registered cancellation around its request, not signed by the Sefin. */
export const eventAround = (request: string): string =>
  `<evento ${NAMESPACE}><infEvento Id="EVT${accessKey}101101001"><verAplic>Teste_1.0</verAplic><ambGer>2</ambGer>` +
  '<nSeqEvento>1</nSeqEvento><dhProc>2026-03-04T13:34:50-03:00</dhProc><nDFSe>0</nDFSe>' +
  `${withoutDeclaration(request)}</infEvento></evento>`;

const withoutDeclaration = (xml: string): string => xml.replace(/^<\?xml[^>]*\?>/, '');

/** One signed document of each kind, the inner ones signed too. */
export const signedDocuments = (identity: KeyAndCertificate) => {
  const signed = (xml: string, signedElementName: string, algorithm: SigningOptions['algorithm']): Buffer => {
    const id = new RegExp(`<${signedElementName} Id="([^"]+)"`).exec(xml)?.[1] ?? '';
    return signDocument(xml, { ...identity, signedElementName, id, algorithm }).bytes;
  };
  const dps = signed(unsignedDps, 'infDPS', 'c14n');
  const request = signed(unsignedRequest, 'infPedReg', 'c14n');
  // What embeds another document is not canonical by itself; the Sefin signs it this way.
  const outer = 'exc-c14n-with-comments';
  return {
    DPS: dps,
    NFSe: signed(noteAround(dps.toString('utf8')), 'infNFSe', outer),
    pedRegEvento: request,
    evento: signed(eventAround(request.toString('utf8')), 'infEvento', outer),
  };
};

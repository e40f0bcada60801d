/** An invented NFS-e with the usual parts: threads that read or draw notes get ready with it. */
export const SAMPLE_NOTE =
  '<?xml version="1.0" encoding="utf-8"?><NFSe xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">' +
  '<infNFSe Id="NFS33045572200000000000000000000000000126110000000000"><xLocEmi>Rio de Janeiro</xLocEmi>' +
  '<xLocPrestacao>Rio de Janeiro</xLocPrestacao><nNFSe>1</nNFSe><cLocIncid>3304557</cLocIncid>' +
  '<xLocIncid>Rio de Janeiro</xLocIncid><xTribNac>Análise e desenvolvimento de sistemas.</xTribNac><ambGer>2</ambGer>' +
  '<tpEmis>1</tpEmis><procEmi>1</procEmi><cStat>100</cStat><dhProc>2026-11-21T10:00:00-03:00</dhProc><nDFSe>1</nDFSe>' +
  '<emit><CNPJ>00000000000000</CNPJ><xNome>EXEMPLO</xNome><enderNac><xLgr>Rua do Exemplo</xLgr><nro>1</nro>' +
  '<xBairro>Centro</xBairro><cMun>3304557</cMun><UF>RJ</UF><CEP>20000000</CEP></enderNac></emit>' +
  '<valores><vBC>1.00</vBC><pAliqAplic>5.00</pAliqAplic><vISSQN>0.05</vISSQN><vLiq>1.00</vLiq></valores>' +
  '<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infDPS Id="DPS330455720000000000000000001000000000000001">' +
  '<tpAmb>2</tpAmb><dhEmi>2026-11-21T09:59:00-03:00</dhEmi><verAplic>exemplo</verAplic><serie>1</serie><nDPS>1</nDPS>' +
  '<dCompet>2026-11-21</dCompet><tpEmit>1</tpEmit><cLocEmi>3304557</cLocEmi><prest><CNPJ>00000000000000</CNPJ><regTrib>' +
  '<opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib></regTrib></prest><toma><CNPJ>00000000000000</CNPJ>' +
  '<xNome>Exemplo de tomador</xNome></toma><serv><locPrest><cLocPrestacao>3304557</cLocPrestacao></locPrest><cServ>' +
  '<cTribNac>010101</cTribNac><xDescServ>Exemplo de serviço: ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz' +
  ' áâãàçéêíóôõúü 0123456789</xDescServ></cServ></serv><valores><vServPrest><vServ>1.00</vServ></vServPrest><trib>' +
  '<tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN></tribMun><totTrib><indTotTrib>0</indTotTrib></totTrib></trib>' +
  '</valores></infDPS></DPS></infNFSe></NFSe>';

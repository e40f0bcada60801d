import { alteredXml } from './notes.js';

const address = (street: string): string =>
  `<end><endNac><cMun>3303302</cMun><CEP>24020077</CEP></endNac><xLgr>${street}</xLgr><nro>1500</nro>` +
  '<xCpl>Bloco B, conjunto 1204</xCpl><xBairro>Jardim das Oliveiras</xBairro></end>';

const party = (tag: string, cnpj: string, name: string): string =>
  `<${tag}><CNPJ>${cnpj}</CNPJ>${tag === 'dest' ? '' : '<IM>987654</IM>'}<xNome>${name}</xNome>` +
  `${address('Avenida Presidente Juscelino Kubitschek de Oliveira')}<fone>21987654321</fone>` +
  `<email>financeiro@${tag}.exemplo.com.br</email></${tag}>`;

/** A word of `size` characters and more, cut to exactly `size`. */
const textOf = (size: number): string =>
  'Desenvolvimento e manutenção de sistema de gestão, conforme contrato 12/2026, com suporte de segunda a sexta. '
    .repeat(Math.ceil(size / 100))
    .slice(0, size);

/** A note in which every group of the layout that the DANFSe shows is filled. `described`, `added`: characters. */
export const fullXml = ({ described = 1300, added = 1500 } = {}): Buffer =>
  alteredXml(
    'reform',
    [
      'FICTICIA &amp; FILHOS',
      'Indústria e Comércio de Componentes Eletrônicos Ficticia &amp; Filhos do Rio de Janeiro Sociedade Anônima',
    ],
    ['<serv>', `${party('interm', '33445566000177', 'Plataforma de Intermediação Exemplo S.A.')}<serv>`],
    ['Desenvolvimento de sistemas', textOf(described)],
    [
      '</cServ>',
      '</cServ><obra><cObra>900012345678</cObra></obra><atvEvento><idAtvEvt>EVT-2026-77</idAtvEvt></atvEvento>' +
        '<infoCompl><idDocTec>ART-1234567</idDocTec><docRef>Contrato 12/2026</docRef><xPed>PED-889</xPed>' +
        `<gItemPed><xItemPed>10</xItemPed><xItemPed>20</xItemPed></gItemPed><xInfComp>${textOf(added)}</xInfComp></infoCompl>`,
    ],
    [
      '</vServPrest>',
      '</vServPrest><vDescCondIncond><vDescIncond>100.00</vDescIncond><vDescCond>50.00</vDescCond></vDescCondIncond>' +
        '<vDedRed><vDR>1200.50</vDR></vDedRed>',
    ],
    [
      '<tpRetISSQN>1</tpRetISSQN>',
      '<exigSusp><tpSusp>1</tpSusp><nProcesso>000123456789012345678901234567</nProcesso></exigSusp>' +
        '<BM><nBM>33045570000001</nBM><vRedBCBM>10.00</vRedBCBM></BM><tpRetISSQN>3</tpRetISSQN>',
    ],
    [
      '<valores><vBC>10000.00</vBC>',
      '<valores><vCalcDR>1200.50</vCalcDR><tpBM>3</tpBM><vCalcBM>10.00</vCalcBM><vBC>10000.00</vBC>',
    ],
    ['<vRetIRRF>', '<vRetCP>1100.00</vRetCP><vRetIRRF>'],
    ['<uf><pIBSUF>0.10</pIBSUF>', '<uf><pIBSUF>0.10</pIBSUF><pRedAliqUF>60.00</pRedAliqUF>'],
    ['<mun><pIBSMun>0.00</pIBSMun>', '<mun><pIBSMun>0.00</pIBSMun><pRedAliqMun>60.00</pRedAliqMun>'],
    ['<fed><pCBS>0.90</pCBS>', '<fed><pCBS>0.90</pCBS><pRedAliqCBS>60.00</pRedAliqCBS>'],
    ['<tpRetPisCofins>2<', '<tpRetPisCofins>4<'],
    [
      '<indDest>0</indDest>',
      `<indDest>1</indDest>${party('dest', '44556677000188', 'Filial Niterói da Ficticia &amp; Filhos')}`,
    ],
    [
      '<prest>',
      '<subst><chSubstda>33045572212345678000195000000000014525124504258420</chSubstda><cMotivo>99</cMotivo></subst><prest>',
    ],
  );

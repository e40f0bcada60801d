import { describe, expect, it } from 'vitest';
import { buildCancellation } from '../../../src/domain/dps/build-cancellation.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { address } from '../../support/fixture/company.js';
import { acceptedFacts } from '../../support/fixture/dps-facts.js';

const currencyCode = (iso: string): string | undefined => ({ USD: '220' })[iso];

const HEAD =
  '<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infDPS Id="DPS211130021234567800019500001000000000000009">';

describe('the whole DPS', () => {
  it('of a service in Brazil, word for word', () => {
    const accepted = acceptedFacts();
    expect(buildDps({ mode: 'test', series: '1', number: 9, accepted, currencyCode })).toEqual({
      id: 'DPS211130021234567800019500001000000000000009',
      xml:
        `${HEAD}<tpAmb>2</tpAmb><dhEmi>2026-09-15T10:30:00-03:00</dhEmi><verAplic>nfse-issuance_1</verAplic>` +
        '<serie>1</serie><nDPS>9</nDPS><dCompet>2026-09-15</dCompet><tpEmit>1</tpEmit><cLocEmi>2111300</cLocEmi>' +
        '<prest><CNPJ>12345678000195</CNPJ><IM>1234567</IM><regTrib><opSimpNac>3</opSimpNac><regApTribSN>1</regApTribSN><regEspTrib>0</regEspTrib></regTrib></prest>' +
        '<serv><locPrest><cLocPrestacao>2111300</cLocPrestacao></locPrest><cServ><cTribNac>060401</cTribNac><xDescServ>Aula avulsa de natação</xDescServ></cServ></serv>' +
        '<valores><vServPrest><vServ>80.00</vServ></vServPrest><trib><tribMun><tribISSQN>1</tribISSQN><tpRetISSQN>1</tpRetISSQN></tribMun><totTrib><pTotTribSN>6.00</pTotTribSN></totTrib></trib></valores>' +
        '</infDPS></DPS>',
    });
  });

  it('of an export says so in every group that must', () => {
    const accepted = acceptedFacts({
      customer: { type: 'foreign', name: 'ACME', taxId: '12-3', address },
      foreignAmount: { currency: 'USD', amountInCents: 500 },
      issuer: { ...acceptedFacts().issuer, taxRegime: 'normal', specialRegime: 6 },
    });
    const { xml } = buildDps({ mode: 'live', series: '1', number: 9, accepted, currencyCode });
    expect(xml).toContain('<tpAmb>1</tpAmb>');
    expect(xml).toContain('<regTrib><opSimpNac>1</opSimpNac><regEspTrib>0</regEspTrib></regTrib>');
    expect(xml).toContain('<toma><NIF>12-3</NIF><xNome>ACME</xNome>');
    expect(xml).toContain('<comExt><mdPrestacao>1</mdPrestacao><vincPrest>0</vincPrest><tpMoeda>220</tpMoeda>');
    expect(xml).toContain('<tribISSQN>3</tribISSQN><cPaisResult>US</cPaisResult>');
  });
});

describe('the whole request to cancel', () => {
  const accessKey = '21113002212345678000195000000000146726037032711027';

  it('is a minute behind the authorizer’s clock, word for word', () => {
    const { id, xml } = buildCancellation({
      mode: 'live',
      companyId: '12345678000195',
      accessKey,
      reason: 'other',
      description: 'O cliente desistiu – “tudo bem”',
      requestedAt: '2026-03-04T16:35:49.000Z',
    });
    expect(id).toBe(`PRE${accessKey}101101`);
    expect(xml).toBe(
      `<pedRegEvento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infPedReg Id="PRE${accessKey}101101">` +
        '<tpAmb>1</tpAmb><verAplic>nfse-issuance_1</verAplic><dhEvento>2026-03-04T13:34:49-03:00</dhEvento>' +
        `<CNPJAutor>12345678000195</CNPJAutor><chNFSe>${accessKey}</chNFSe>` +
        '<e101101><xDesc>Cancelamento de NFS-e</xDesc><cMotivo>9</cMotivo><xMotivo>O cliente desistiu - "tudo bem"</xMotivo></e101101>' +
        '</infPedReg></pedRegEvento>',
    );
  });
});

import { describe, expect, it } from 'vitest';
import { complementText } from '../../../src/adapters/pdf/blocks/complement.js';
import { layoutOf } from '../../../src/adapters/pdf/layout.js';
import { fullXml } from './support/full-note.js';
import { alteredXml, noteOf } from './support/notes.js';

const STREET = '<xLgr>RUA DO EXEMPLO</xLgr><nro>55</nro><xBairro>CENTRO</xBairro>';
const IN_BRAZIL = `<end><CEP>20040002</CEP>${STREET}</end>`;
const ABROAD =
  '<end><endExt><cEndPost>10001</cEndPost><xCidade>New York</xCidade><xEstProvReg>NY</xEstProvReg></endExt>' +
  `${STREET}</end>`;
const DAYS = '<dtIni>2026-01-10</dtIni><dtFim>2026-01-12</dtFim>';

const ofService = (group: string): string =>
  complementText(noteOf(alteredXml('reform', ['</cServ>', `</cServ>${group}`])).complement, 2000);

const ofProperty = (content: string): string =>
  complementText(noteOf(alteredXml('reform', ['<indDest>', `<imovel>${content}</imovel><indDest>`])).complement, 2000);

describe('works, properties and events in the complement', () => {
  it.each([
    ['<obra><cObra>900012345678</cObra></obra>', 'Cod. Obra: 900012345678'],
    ['<obra><cCIB>12345678</cCIB></obra>', 'Cod. Obra: CIB 12345678'],
    [`<obra>${IN_BRAZIL}</obra>`, 'Cod. Obra: RUA DO EXEMPLO, 55, CENTRO, CEP 20.040-002'],
    [`<obra>${ABROAD}</obra>`, 'Cod. Obra: RUA DO EXEMPLO, 55, CENTRO, New York, NY, 10001'],
    [
      '<obra><inscImobFisc>IPTU-1</inscImobFisc><cCIB>12345678</cCIB></obra>',
      'Cod. Obra: CIB 12345678 | Insc. Imob.: IPTU-1',
    ],
  ])('have what identifies the work: %s', (group, printed) => {
    expect(ofService(group)).toBe(printed);
  });

  it.each([
    ['<inscImobFisc>IPTU-1</inscImobFisc><cCIB>12345678</cCIB>', 'Insc. Imob.: IPTU-1, CIB 12345678'],
    [IN_BRAZIL, 'Insc. Imob.: RUA DO EXEMPLO, 55, CENTRO, CEP 20.040-002'],
  ])('have what identifies the property: %s', (content, printed) => {
    expect(ofProperty(content)).toBe(printed);
  });

  it.each([
    [
      `<xNome>Festival</xNome>${DAYS}<idAtvEvt>EVT-77</idAtvEvt>`,
      'Cod. Evt.: EVT-77, Festival, 10/01/2026 a 12/01/2026',
    ],
    [
      `<xNome>Festival</xNome>${DAYS}${IN_BRAZIL}`,
      'Cod. Evt.: Festival, 10/01/2026 a 12/01/2026, RUA DO EXEMPLO, 55, CENTRO, CEP 20.040-002',
    ],
    ['<xNome>Show</xNome><dtIni>2026-01-10</dtIni><dtFim>2026-01-10</dtFim>', 'Cod. Evt.: Show, 10/01/2026'],
  ])('have code, name, days and address of the event: %s', (content, printed) => {
    expect(ofService(`<atvEvento>${content}</atvEvento>`)).toBe(printed);
  });
});

const textOf = (size: number): string => 'Cláusula do contrato de prestação continuada. '.repeat(50).slice(0, size);

const MUNICIPALITY = '<xOutInf>ISSQN recolhido conforme decreto 123/2026</xOutInf>';

const printed = (xml: Buffer): string =>
  layoutOf(noteOf(xml), false)
    .texts.map(({ text }) => text)
    .join(' ');

const withMunicipality = (xml: Buffer): Buffer =>
  Buffer.from(xml.toString('utf8').replace('<DPS ', `${MUNICIPALITY}<DPS `));

describe('the parts of the complement that NT 008 demands', () => {
  it.each([100, 1900])(
    'are all there where the page has the room, whatever the free text: %i characters of the municipality',
    (size) => {
      const further =
        '<idDocTec>ART-1</idDocTec><xPed>P-4711</xPed><gItemPed><xItemPed>10</xItemPed></gItemPed>' +
        `<xInfComp>${textOf(1990)} FIM</xInfComp>`;
      const page = printed(
        alteredXml(
          'production',
          ['</cServ>', `</cServ><infoCompl>${further}</infoCompl>`],
          ['<DPS ', `<xOutInf>${textOf(size)} FIM DO MUNICIPIO</xOutInf><DPS `],
        ),
      );
      for (const part of [' FIM |', 'ART-1', 'P-4711', 'Item Ped.: 10', 'FIM DO MUNICIPIO'])
        expect(page).toContain(part);
      expect(page).toContain('Totais Aproximados dos Tributos');
    },
  );

  it('are kept on a full page, where the free text of the issuer is cut', () => {
    const page = printed(withMunicipality(fullXml({ described: 2000, added: 2000 })));
    expect(page).toMatch(/\.\.\. \| NFS-e Subst/);
    expect(page).toMatch(
      /Item Ped\.: 10, 20 \| Inf\. A\. T\. Mun\.: ISSQN recolhido conforme decreto 123\/2026 Totais/,
    );
  });

  it('are kept where a list of items is too long for the page, which is cut', () => {
    const items = Array.from({ length: 99 }, (_, index) => `<xItemPed>${index} ${textOf(56)}</xItemPed>`).join('');
    const page = printed(
      withMunicipality(
        Buffer.from(
          fullXml()
            .toString('utf8')
            .replace(/<gItemPed>.*<\/gItemPed>/, `<gItemPed>${items}</gItemPed>`),
        ),
      ),
    );
    expect(page).toMatch(/\.\.\. \| Inf\. A\. T\. Mun\.: ISSQN recolhido conforme decreto 123\/2026 Totais/);
  });
});

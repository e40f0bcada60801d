import { describe, expect, it } from 'vitest';
import { complementText } from '../../../src/adapters/pdf/blocks/complement.js';
import { issqn } from '../../../src/adapters/pdf/blocks/service-and-taxes.js';
import { alteredXml, noteOf } from './support/notes.js';

const XMLNS = 'xmlns="http://www.sped.fazenda.gov.br/nfse"';

/** `<NFSe>` and `<DPS>` with these layouts; undefined leaves the attribute out. */
const noteIn = (
  { nfse, dps }: { nfse: string; dps: string | undefined },
  ...changes: readonly (readonly [string, string])[]
) =>
  noteOf(
    alteredXml(
      'production',
      [`<NFSe ${XMLNS} versao="1.01">`, `<NFSe ${XMLNS} versao="${nfse}">`],
      [`<DPS ${XMLNS} versao="1.01">`, dps === undefined ? `<DPS ${XMLNS}>` : `<DPS ${XMLNS} versao="${dps}">`],
      ...changes,
    ),
  );

/** What the page says of a `tribISSQN`: its description, or the line that replaces the block. */
const taxationOf = (layouts: Parameters<typeof noteIn>[0], code: string): string | undefined => {
  const block = issqn(noteIn(layouts, ['<tribISSQN>1<', `<tribISSQN>${code}<`]));
  const cells = block.rows.flatMap((each) => each.cells);
  return block.instead ?? cells.find(({ label }) => label === 'Tipo de Tributação do ISSQN')?.value;
};

const OUTSIDE = 'TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN';

describe('the taxation of the ISSQN', () => {
  it.each([
    ['1.00', '1', 'Operação tributável'],
    ['1.00', '2', 'Exportação de serviço'],
    ['1.00', '3', OUTSIDE],
    ['1.00', '4', 'Imunidade'],
    ['1.01', '1', 'Operação tributável'],
    ['1.01', '2', 'Imunidade'],
    ['1.01', '3', 'Exportação de serviço'],
    ['1.01', '4', OUTSIDE],
  ])('of layout %s: %s is %s', (layout, code, printed) => {
    expect(taxationOf({ nfse: layout, dps: layout }, code)).toBe(printed);
  });

  it('has the numbers of the layout of the DPS, where the note around the DPS has another one', () => {
    expect(taxationOf({ nfse: '1.01', dps: '1.00' }, '2')).toBe('Exportação de serviço');
  });

  it('has the numbers of the layout of the note, where the DPS names none', () => {
    expect(taxationOf({ nfse: '1.00', dps: undefined }, '2')).toBe('Exportação de serviço');
  });
});

describe('the complement', () => {
  it('has what layout 1.00 writes at another path: the event and the text of the municipality', () => {
    const note = noteIn(
      { nfse: '1.00', dps: '1.00' },
      ['</vLiq>', '</vLiq><xOutInf>Decreto 123</xOutInf>'],
      ['</cServ>', '</cServ><atvEvento><desc>Show</desc><id>EVT-77</id></atvEvento>'],
    );
    expect(complementText(note.complement, 2000)).toBe('Cod. Evt.: EVT-77, Show | Inf. A. T. Mun.: Decreto 123');
  });
});

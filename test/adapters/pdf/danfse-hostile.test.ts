import { describe, expect, it } from 'vitest';
import { renderDanfse } from '../../../src/adapters/pdf/danfse.js';
import { layoutOf } from '../../../src/adapters/pdf/layout.js';
import { CONTENT, centimetres } from '../../../src/adapters/pdf/page.js';
import { readNote } from '../../../src/adapters/pdf/read-note.js';
import { widthOf } from '../../../src/adapters/pdf/text-width.js';
import { XML_BOUNDS } from '../../../src/xml/bounds.js';
import { describeWith } from '../../support/needs.js';
import { fullXml } from './support/full-note.js';
import { alteredXml, marks, noteOf, noteXml } from './support/notes.js';
import { infoOf } from './support/poppler.js';

/** Notes that no validator has checked: of another issuer, or of an attacker. */
const withTexts = (texts: Readonly<Record<string, string>>): Buffer => {
  let xml = fullXml().toString('utf8');
  for (const [name, text] of Object.entries(texts)) {
    xml = xml.replace(new RegExp(`<${name}>[^<]*<`, 'g'), () => `<${name}>${text}<`);
  }
  return Buffer.from(xml, 'utf8');
};

const textsOf = (xml: Buffer): readonly string[] => layoutOf(noteOf(xml), false).texts.map(({ text }) => text);

const customer = (name: string): readonly string[] =>
  textsOf(alteredXml('production', ['Maria da Silva Exemplo', name]));

/** Far above the time of any of these, and far below the time of an algorithm that is quadratic in the size. */
const SOON = { timeout: 60_000 };

const CODES = ['nNFSe', 'ambGer', 'tpAmb', 'cStat', 'tpEmit', 'serie', 'nDPS', 'opSimpNac', 'tribISSQN', 'CST', 'UF'];

describe('the note of another issuer', () => {
  it.each([
    ['words', 'desconhecido '.repeat(40)],
    ['one word', 'W'.repeat(400)],
  ])('stays inside the page with codes that are %s', (_name, code) => {
    const { texts } = layoutOf(noteOf(withTexts(Object.fromEntries(CODES.map((name) => [name, code])))), false);
    const outside = texts.filter(
      ({ left, text, style }) => left + centimetres(widthOf(text, style)) > CONTENT.right + 0.01,
    );
    expect(outside).toEqual([]);
  });

  it.each(['constructor', '__proto__', 'toString'])('shows a code named %s as it is', (code) => {
    const texts = textsOf(withTexts({ cStat: code, tpRetISSQN: code, cMun: code }));
    expect(texts.filter((text) => text === code)).toHaveLength(2);
  });

  it('has the foreign number of somebody abroad as it is, even if it has the length of a CPF or a CNPJ', () => {
    for (const number of ['12345678901', '12345678901234']) {
      expect(textsOf(alteredXml('exported', ['<cNaoNIF>1</cNaoNIF>', `<NIF>${number}</NIF>`]))).toContain(number);
    }
  });

  it('shows no sum of which one amount is none', () => {
    const texts = textsOf(withTexts({ vCBS: '-78.66' }));
    expect(texts[texts.indexOf('Total do IBS/CBS') + 1]).toBe('-');
  });

  it('never cuts an amount, nor the sum of the largest ones', () => {
    const xml = fullXml()
      .toString('utf8')
      .replace(/<(v[A-Z]\w*)>[\d.]+</g, '<$1>999999999999999.99<');
    const texts = textsOf(Buffer.from(xml));
    expect(texts).toContain('R$ 4.999.999.999.999.999,95');
    expect(texts.filter((text) => /^R\$.*\.\.\.$/.test(text))).toEqual([]);
  });

  it('has the registrations of the building and of the land, once if they are the same', () => {
    const withBoth = (land: string) =>
      textsOf(
        alteredXml(
          'reform',
          ['</cServ>', '</cServ><obra><inscImobFisc>ABC-1</inscImobFisc></obra>'],
          ['<indDest>0</indDest>', `<indDest>0</indDest><imovel><inscImobFisc>${land}</inscImobFisc></imovel>`],
        ),
      );
    expect(withBoth('DEF-2')).toContain('Insc. Imob.: ABC-1, DEF-2');
    expect(withBoth('ABC-1')).toContain('Insc. Imob.: ABC-1');
  });
});

describe('a name of letters that are not plain', () => {
  it('has accents and letters in one', () => {
    expect(customer('Jose\u0301 da Conceic\u0327a\u0303o')).toContain('José da Conceição');
  });

  it('has nothing that is not seen or turns what follows around', () => {
    expect(customer('AC\u200DME\uFE0F \u202EADTL\u202C \u00ADOK')).toContain('ACME ADTL OK');
  });

  it('has two accents on a letter and not a tower of them', () => {
    const shown = customer(`Z${'\u0302\u0306'.repeat(20)}`).find(
      (text) => text.startsWith('Z') || text.startsWith('Ẑ'),
    );
    expect(shown?.normalize('NFD')).toBe('Z\u0302\u0306');
  });

  it('keeps the three dots together wherever the line ends', () => {
    const names = Array.from({ length: 81 }, (_, narrow) => 'i'.repeat(narrow) + 'W'.repeat(81 - narrow));
    const lines = names.flatMap(customer);
    expect(lines.filter((text) => text === '...').length).toBeGreaterThan(0);
    expect(lines.filter((text) => text === '.' || text === '..')).toEqual([]);
  });
});

describe('what is no note', () => {
  const entities = (declared: string, used: string): Buffer =>
    Buffer.from(`<!DOCTYPE x [${declared}]>${alteredXml('reform', ['FICTICIA &amp; FILHOS', used])}`);
  it.each([
    ['entities of its own', entities('<!ENTITY a "b">', '&a;')],
    ['a file as entity', entities('<!ENTITY a SYSTEM "file:///etc/hostname">', '&a;')],
    [
      '10,000 elements in each other',
      alteredXml('reform', ['<tpAmb>', `${'<x>'.repeat(10_000)}${'</x>'.repeat(10_000)}<tpAmb>`]),
    ],
    [
      'prefixes, which the national system refuses (E1228)',
      Buffer.from(
        noteXml('reform')
          .toString()
          .replace(/<(\/?)(\w)/g, '<$1n:$2')
          .replaceAll('xmlns=', 'xmlns:n='),
      ),
    ],
    ['letters that are no UTF-8', Buffer.from(withTexts({ xNome: 'Conceição' }).toString('utf8'), 'latin1')],
  ])('is known soon by %s', SOON, (_name, xml) => {
    expect(readNote(xml)).toBeUndefined();
  });
});

/** With one more byte in a text, the document exceeds `XML_BOUNDS` and is not read. */
describeWith('poppler', 'a note with the longest text that is read', () => {
  const SIZE = XML_BOUNDS.text;
  it.each([
    ['words', { xDescServ: 'palavra longa '.repeat(Math.floor(SIZE / 14)) }],
    ['one word', { xDescServ: 'x'.repeat(SIZE) }],
    ['lines', { xDescServ: 'a\n'.repeat(SIZE / 2) }],
    ['accents alone', { xDescServ: `a${'\u0301\u0323'.repeat(SIZE / 4 - 1)}` }],
    ['an amount of digits', { vServ: '9'.repeat(SIZE) }],
  ] satisfies [string, Record<string, string>][])('of %s is one page, soon', SOON, async (_name, texts) => {
    expect(infoOf(await renderDanfse(noteOf(withTexts(texts)), marks()), 'Pages')).toBe('1');
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { parseXml } from '../../../src/xml/document.js';
import { describeWith } from '../../support/needs.js';
import { openRenderer } from './support/drawing.js';
import { alteredXml, customerNames, marks, noteOfCustomer, noteXml } from './support/notes.js';
import { objectsOf, objectsWith, pageContentOf } from './support/objects.js';
import { paragraphsOf } from './support/poppler.js';

const renderer = openRenderer({ workers: 1, timeoutMs: 240_000 });

afterAll(() => renderer.close());

const everyMark = marks({ canceled: true, replaced: true, simulated: true });

describe('the PDF for those who listen to it', () => {
  it('says its language and shows its title in place of a file name', async () => {
    const pdf = await renderer.render(noteXml('reform'), marks());
    const [catalog] = objectsWith(pdf, '/Type /Catalog');
    expect(catalog?.dictionary).toContain('/Lang (pt-BR)');
    expect(pdf.toString('latin1')).toContain('/DisplayDocTitle true');
    expect(pdf.toString('latin1')).toContain('(DANFSe da NFS-e 146)');
  });

  it('is tagged: whatever is drawn is a paragraph, a named picture or an artifact', async () => {
    const pdf = await renderer.render(noteXml('reform'), everyMark);
    expect(objectsWith(pdf, '/Marked true')).toHaveLength(1);
    expect(objectsWith(pdf, '/S /Document')[0]?.dictionary).toContain('/Lang (pt-BR)');
    expect(objectsWith(pdf, '/S /P').length).toBeGreaterThan(100);
    for (const { dictionary } of objectsWith(pdf, '/S /Figure')) expect(dictionary).toContain('/Alt (');
    const open: string[] = [];
    for (const operator of pageContentOf(pdf).split('\n')) {
      if (/ (BDC|BMC)$/.test(operator)) open.push(operator);
      if (operator === 'EMC') expect(open.pop()).toBeDefined();
      if (/(TJ| Do|^f|^S|^B)$/.test(operator)) expect(open, operator).toHaveLength(1);
    }
    expect(open).toEqual([]);
  });
});

describeWith('poppler', 'the paragraphs of the PDF', () => {
  const paragraphs = async (xml: Buffer, given = marks()) => paragraphsOf(await renderer.render(xml, given));

  it('are one for each word across the page', async () => {
    const [first, second, third] = await paragraphs(noteXml('reform'), everyMark);
    expect([first, second, third]).toEqual([['CANCELADA'], ['SUBSTITUÍDA'], ['SIMULADO']]);
  });

  it('are one for all lines of a text, with the space between them, and one for each line of a list', async () => {
    const sentence = 'Desenvolvimento de sistemas conforme o contrato, com suporte. '.repeat(9).trim();
    const xml = alteredXml('reform', ['Desenvolvimento de sistemas', `${sentence}\nItem 1\nItem 2`]);
    const all = await paragraphs(xml);
    const at = all.findIndex(([text]) => text === 'Descrição do Serviço');
    const [described = [], ...others] = all.slice(at + 1, at + 4);
    expect(described.length).toBeGreaterThan(2);
    expect(described.join('')).toBe(sentence);
    expect(others).toEqual([['Item 1'], ['Item 2']]);
    expect(all.map((texts) => texts.join(''))).toContain(
      'A autenticidade desta NFS-e pode ser verificada pela leitura deste código QR ou pela consulta da chave de acesso no portal nacional da NFS-e',
    );
  });
});

/** The demands of ISO 19005-2 on level B that a file of this kind could miss; the numbers are its clauses. */
describe('the PDF as PDF/A-2b', () => {
  const render = () => renderer.render(noteXml('reform'), everyMark);

  it('has a binary header, an id and no encryption, and ends with %%EOF (6.1.2, 6.1.3)', async () => {
    const text = (await render()).toString('latin1');
    expect(text).toMatch(/^%PDF-1\.7\n%[\x80-\xff]{4}\n/);
    expect(text).toMatch(/\/ID \[<[0-9a-f]{32}> <[0-9a-f]{32}>\]/);
    expect(text).not.toContain('/Encrypt');
    expect(text).toMatch(/%%EOF\n$/);
  });

  it('has a table of all objects at their places (6.1.4)', async () => {
    const pdf = await render();
    const text = pdf.toString('latin1');
    const places = [...text.slice(text.lastIndexOf('\nxref\n')).matchAll(/^(\d{10}) 00000 n $/gm)];
    expect(places).toHaveLength(objectsOf(pdf).length);
    places.forEach(([, place], index) => {
      expect(text.slice(Number(place))).toMatch(new RegExp(`^${index + 1} 0 obj\\n`));
    });
  });

  it('has streams of the length they state, compressed by Flate or not at all (6.1.7)', async () => {
    const withStream = objectsOf(await render()).filter(({ stream }) => stream !== undefined);
    expect(withStream.length).toBeGreaterThan(0);
    for (const { dictionary, storedLength } of withStream) {
      expect(dictionary).toContain(`/Length ${storedLength}`);
      expect(dictionary.match(/\/Filter .*/g) ?? ['/Filter /FlateDecode']).toEqual(['/Filter /FlateDecode']);
      expect(dictionary).not.toMatch(/\/F |\/FFilter|\/FDecodeParms/);
    }
  });

  it('has one output intent with a display profile of sRGB, and no colours but RGB and grey (6.2.3, 6.2.4)', async () => {
    const pdf = await render();
    const intents = objectsWith(pdf, '/Type /OutputIntent');
    expect(intents.map(({ dictionary }) => dictionary)).toEqual([expect.stringContaining('/S /GTS_PDFA1')]);
    const [profile] = objectsWith(pdf, '/N 3');
    expect(profile?.stream?.toString('latin1', 12, 20)).toBe('mntrRGB ');
    expect(pdf.toString('latin1')).not.toContain('DeviceCMYK');
    expect(pageContentOf(pdf)).not.toMatch(/ [kK]$/m);
  });

  it('uses no transfer function, halftone, alternate image or blend mode (6.2.5, 6.2.8, 6.2.10)', async () => {
    const text = (await render()).toString('latin1');
    expect(text).not.toMatch(/\/(TR2?|HTP|HTO|Alternates|OPI|Interpolate|BM|Ref|PS) /);
  });

  it.each(Object.keys(customerNames) as (keyof typeof customerNames)[])(
    'embeds every font with its true widths, and never shows the missing glyph: %s (6.2.11)',
    async (name) => {
      const pdf = await renderer.render(noteOfCustomer(name), everyMark);
      const fonts = objectsWith(pdf, '/Subtype /Type0');
      expect(fonts).toHaveLength(2);
      for (const { dictionary } of fonts) {
        expect(dictionary).toContain('/Encoding /Identity-H');
        expect(dictionary).toContain('/ToUnicode ');
      }
      const descendants = objectsWith(pdf, '/Subtype /CIDFontType2');
      expect(descendants).toHaveLength(2);
      for (const { dictionary } of descendants) expect(dictionary).toContain('/CIDToGIDMap /Identity');
      const [stated, embedded] = [statedWidths(pdf), embeddedWidths(pdf)];
      expect(stated).toHaveLength(2);
      stated.forEach((widths, font) => {
        // Glyph 0 is the missing one.
        widths.slice(1).forEach((width, index) => {
          expect(Math.abs(width - (embedded[font]?.[index + 1] ?? Number.NaN))).toBeLessThan(1);
        });
      });
      const shown = [...pageContentOf(pdf).matchAll(/<([0-9a-f]+)> [-\d.]+/g)].flatMap(
        ([, glyphs]) => glyphs?.match(/.{4}/g) ?? [],
      );
      expect(shown.length).toBeGreaterThan(500);
      expect(shown).not.toContain('0000');
    },
  );

  it('has nothing that acts, asks or hides (6.3 to 6.5, 6.8 to 6.11)', async () => {
    const text = (await render()).toString('latin1');
    expect(text).not.toMatch(
      /\/(Annots|AcroForm|OpenAction|AA|JS|JavaScript|EmbeddedFiles|OCProperties|PresSteps|Requirements)\b/,
    );
  });

  it('describes itself in plain XML, also when the number of the note is none (6.6)', async () => {
    const pdf = await renderer.render(alteredXml('reform', ['<nNFSe>146<', '<nNFSe>1&lt;4&amp;6<']), marks());
    const [metadata] = objectsWith(pdf, '/Type /Metadata');
    expect(metadata?.dictionary).not.toContain('/Filter');
    const xmp = metadata?.stream ?? Buffer.alloc(0);
    expect(parseXml(xmp).ok).toBe(true);
    expect(xmp.toString('utf8')).toMatch(/^<\?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"\?>/);
    expect(xmp.toString('utf8')).toContain('<pdfaid:part>2</pdfaid:part>');
    expect(xmp.toString('utf8')).toContain('<pdfaid:conformance>B</pdfaid:conformance>');
  });
});

/** Widths that the PDF states for the glyphs of each font, in thousandths, by number of the glyph. */
const statedWidths = (pdf: Buffer): readonly (readonly number[])[] =>
  objectsWith(pdf, '/Subtype /CIDFontType2').map(({ dictionary }) =>
    (/\/W \[0 \[([^\]]*)\]\]/.exec(dictionary)?.[1] ?? '').split(' ').map(Number),
  );

/** The same as the embedded font programs have them. */
const embeddedWidths = (pdf: Buffer): readonly (readonly number[])[] => {
  const objects = new Map(objectsOf(pdf).map((object) => [object.id, object]));
  return objectsWith(pdf, '/Subtype /CIDFontType2').map(({ dictionary }) => {
    const descriptor = objects.get(/\/FontDescriptor (\d+) 0 R/.exec(dictionary)?.[1] ?? '');
    const file = objects.get(/\/FontFile2 (\d+) 0 R/.exec(descriptor?.dictionary ?? '')?.[1] ?? '')?.stream;
    if (file === undefined) throw new Error('a font is not embedded');
    return advancesOf(file);
  });
};

const advancesOf = (font: Buffer): readonly number[] => {
  const tables = new Map(
    Array.from({ length: font.readUInt16BE(4) }, (_, index) => 12 + 16 * index).map((at) => [
      font.toString('latin1', at, at + 4),
      font.readUInt32BE(at + 8),
    ]),
  );
  const place = (tag: string): number => {
    const at = tables.get(tag);
    if (at === undefined) throw new Error(`the embedded font has no ${tag}`);
    return at;
  };
  const unitsPerEm = font.readUInt16BE(place('head') + 18);
  const count = font.readUInt16BE(place('hhea') + 34);
  const metrics = place('hmtx');
  return Array.from({ length: count }, (_, glyph) => (font.readUInt16BE(metrics + 4 * glyph) * 1000) / unitsPerEm);
};

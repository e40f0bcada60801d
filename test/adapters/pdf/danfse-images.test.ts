import { readFileSync } from 'node:fs';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { renderDanfse } from '../../../src/adapters/pdf/danfse.js';
import { describeWith, itWith } from '../../support/needs.js';
import { type Case, otherCases, sampleCases } from './support/cases.js';
import { fullXml } from './support/full-note.js';
import { difference, packed, pageOf, referenceFile } from './support/images.js';
import { marks, noteOf, noteXml } from './support/notes.js';
import { imageOf, textOf } from './support/poppler.js';

/**
 * Share of the pixels. A block that is missing or moved is much more; letters drawn a little otherwise are less, and so
 * is a single field, whose place and content have tests of their own.
 */
const TOLERANCE = 0.001;

const looksAsBefore = async (each: Case): Promise<void> => {
  const seen = PNG.sync.read(readFileSync(referenceFile(each.name)));
  const now = PNG.sync.read(packed(await pageOf(each)));
  expect(difference(now, seen)).toBeLessThan(TOLERANCE);
};

describeWith('poppler', 'the page as somebody looked at it', () => {
  for (const each of sampleCases) itWith('samples', `is as before: ${each.name}`, () => looksAsBefore(each));
  for (const each of otherCases) it(`is as before: ${each.name}`, () => looksAsBefore(each));

  it('differs from the reference picture when one party is missing', async () => {
    const xml = () =>
      Buffer.from(
        fullXml()
          .toString('utf8')
          .replace(/<interm>.*<\/interm>/s, ''),
      );
    const page = await pageOf({ name: 'changed', xml, marks: marks() });
    expect(difference(page, PNG.sync.read(readFileSync(referenceFile('every-group'))))).toBeGreaterThan(TOLERANCE);
  });
});

const DPI = 150;

/** The corner of the page where the QR code is, in centimetres. */
const CORNER = { left: 16.5, top: 1.5, width: 3.6, height: 1.8 };

const toCm = (pixels: number): number => (pixels * 2.54) / DPI;

const qrOf = (pdf: Buffer) => {
  const { data, width, height } = imageOf(pdf, DPI, CORNER);
  return jsqr.default(new Uint8ClampedArray(data), width, height);
};

describeWith('poppler', 'the QR code of the page', () => {
  const readsBack = async (each: Case): Promise<void> => {
    const note = noteOf(each.xml());
    expect(qrOf(await renderDanfse(note, each.marks))?.data).toBe(
      `https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${note.accessKey}`,
    );
  };
  for (const each of sampleCases) itWith('samples', `is read back from the image: ${each.name}`, () => readsBack(each));
  for (const each of otherCases) it(`is read back from the image: ${each.name}`, () => readsBack(each));

  it('is 15.2 mm wide or more and begins at 17.48 and 1.67 cm', async () => {
    const location = qrOf(await renderDanfse(noteOf(noteXml('production')), marks()))?.location;
    const left = CORNER.left + toCm(location?.topLeftCorner.x ?? 0);
    const top = CORNER.top + toCm(location?.topLeftCorner.y ?? 0);
    const right = CORNER.left + toCm(location?.topRightCorner.x ?? 0);
    const bottom = CORNER.top + toCm(location?.bottomLeftCorner.y ?? 0);
    expect([left, top]).toEqual([expect.closeTo(17.48, 1), expect.closeTo(1.67, 1)]);
    expect(right - left).toBeGreaterThan(1.52);
    expect(bottom - top).toBeGreaterThan(1.52);
    // The caption begins below it.
    expect(bottom).toBeLessThan(3.36);
  });
});

describeWith('poppler', 'the colours of the page', () => {
  const has = async (given: Case, [red, green, blue]: readonly [number, number, number]): Promise<boolean> => {
    const { data } = imageOf(await renderDanfse(noteOf(given.xml()), given.marks), DPI);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) found += 1;
    }
    return found > (red === blue ? OF_SOFT_EDGES : 100);
  };
  /** More than the soft edges of black letters make in grey. */
  const OF_SOFT_EDGES = 2_000;
  const RED = [255, 0, 0] as const;
  const K35 = [166, 166, 166] as const;
  const K5 = [242, 242, 242] as const;
  const production: Case = { name: '', xml: () => noteXml('production'), marks: marks() };

  it('are red for the warning of the test environment only', async () => {
    expect(await has({ ...production, xml: () => noteXml('reform') }, RED)).toBe(true);
    expect(await has(production, RED)).toBe(false);
  });

  it('are 35 % of black for a word across the page, and 5 % behind titles', async () => {
    expect(await has({ ...production, marks: marks({ canceled: true }) }, K35)).toBe(true);
    expect(await has(production, K35)).toBe(false);
    expect(await has(production, K5)).toBe(true);
  });
});

describe('the text of the page', () => {
  for (const each of sampleCases) {
    itWith(['poppler', 'samples'], `holds access key, number and amount: ${each.name}`, async () => {
      const note = noteOf(each.xml());
      const text = textOf(await renderDanfse(note, each.marks));
      expect(text).toContain(note.accessKey);
      expect(text).toMatch(new RegExp(`NÚMERO DA NFS-E.*\\n\\s*${note.nNFSe}\\s`));
      const cents = note.totals.vLiq?.replace(/\D/g, '');
      expect(Array.from(text.matchAll(/R\$ ([\d.]+,\d\d)/g), ([, shown]) => shown?.replace(/\D/g, ''))).toContain(
        cents,
      );
    });
  }
});

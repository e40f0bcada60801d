import fc from 'fast-check';
import { fullXml } from './full-note.js';

/** Wide and narrow letters, accents that reach high, words without a break, and characters that the font lacks. */
const text = (longest: number): fc.Arbitrary<string> =>
  fc
    .record({
      pieces: fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'grapheme-composite', maxLength: 6 })), {
        minLength: 1,
        maxLength: 12,
      }),
      // Half of the texts have the greatest length.
      size: fc.oneof(fc.constant(longest), fc.integer({ min: 1, max: longest })),
    })
    .map(({ pieces, size }) => {
      const words = withoutControls(pieces.join('')) || 'x';
      return (
        words
          .repeat(Math.ceil(size / words.length))
          .slice(0, size)
          .trim() || 'x'
      );
    });

const PIECES = [
  'W'.repeat(40),
  'WWW ',
  'Ç',
  'ÃÕÉ ',
  'gjpqy ',
  'i',
  'il.',
  ' ',
  '\n',
  'Serviço ',
  '/',
  '1234567890',
  'ção, ',
  '中文',
  '&',
  '<',
];

// Neither what XML 1.0 cannot hold, nor halves of a character that the cut left. Nor the hook of rhotic vowels (U+02DE), no mark and no letter, which the
// font draws half a point higher behind a letter: its box then reaches into that of the line above, and its ink does not.
const withoutControls = (words: string): string =>
  words.replace(/[^\t\n\r\u0020-\u02DD\u02DF-\uD7FF\uE000-\uFFFD]/g, '');

const escaped = (words: string): string => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const amount = fc
  .bigInt({ min: 0n, max: 99_999_999_999_999_999n })
  .map((cents) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`);

/** Longest text of each element by the schema; every element with one of these names gets a different text. */
const LONGEST: Readonly<Record<string, number>> = {
  xNome: 300,
  xLgr: 255,
  nro: 60,
  xCpl: 156,
  xBairro: 60,
  email: 80,
  IM: 15,
  xDescServ: 2000,
  xInfComp: 2000,
  xTribMun: 600,
  xLocEmi: 150,
  xLocIncid: 150,
  xLocPrestacao: 150,
  xLocalidadeIncid: 150,
  nProcesso: 30,
  docRef: 255,
  xPed: 60,
};

const OPTIONAL = ['toma', 'interm', 'dest', 'infoCompl', 'exigSusp', 'BM', 'vDescCondIncond', 'tribFed', 'subst'];

/** A note whose texts and amounts are anything that the schema lets through, with groups missing here and there. */
export const anyNoteXml: fc.Arbitrary<string> = fc
  .record({
    texts: fc.record(Object.fromEntries(Object.entries(LONGEST).map(([name, size]) => [name, text(size)]))),
    amounts: fc.array(amount, { minLength: 5, maxLength: 5 }),
    missing: fc.subarray(OPTIONAL),
    competence: fc.constantFrom('2026-05-01', '2027-05-01'),
    tribISSQN: fc.constantFrom('1', '2', '3', '4'),
    abroad: fc.option(text(60), { nil: undefined }),
    municipality: fc.option(text(2000), { nil: undefined }),
  })
  .map(({ texts, amounts, missing, competence, tribISSQN, abroad, municipality }) => {
    let xml = fullXml().toString('utf8');
    for (const name of missing) xml = xml.replace(new RegExp(`<${name}>.*?</${name}>`, 's'), '');
    for (const [name, words] of Object.entries(texts)) {
      xml = xml.replace(new RegExp(`<${name}>[^<]*<`, 'g'), () => `<${name}>${escaped(words)}<`);
    }
    let next = 0;
    xml = xml.replace(/<(v[A-Z]\w*)>[\d.]+</g, (_all, name: string) => `<${name}>${amounts[next++ % amounts.length]}<`);
    if (abroad !== undefined) {
      const place = escaped(abroad);
      xml = xml.replace(
        /<endNac>.*?<\/endNac>/gs,
        () =>
          `<endExt><cPais>US</cPais><cEndPost>${'9'.repeat(11)}</cEndPost><xCidade>${place}</xCidade><xEstProvReg>${place}</xEstProvReg></endExt>`,
      );
    }
    if (municipality !== undefined) {
      xml = xml.replace('<DPS ', () => `<xOutInf>${escaped(municipality)}</xOutInf><DPS `);
    }
    xml = xml
      .replace(/<dCompet>[^<]*</, `<dCompet>${competence}<`)
      .replace(/<tribISSQN>.</, `<tribISSQN>${tribISSQN}<`);
    return xml;
  });

import { describe, expect, it } from 'vitest';
import { SCHEMAS, schemaSentence } from '../../src/simulator/schema-sentence.js';
import { parseXml, withXmlDocument } from '../../src/xml/document.js';
import { schemaFaultsWithValues } from '../../src/xml/schema.js';
import { customer, dpsXml, testClock } from '../support/harness/simulator.js';

const NS = 'http://www.sped.fazenda.gov.br/nfse';

const good = dpsXml(testClock('2026-11-20T12:00:00.000Z'), { toma: customer() });

const sentenceOf = (xml: string) => {
  const bytes = Buffer.from(xml);
  const parsed = parseXml(bytes);
  if (!parsed.ok) throw new Error(parsed.reason);
  const faults = withXmlDocument(bytes, (document) => schemaFaultsWithValues(SCHEMAS, 'DPS', document));
  if (!faults.ok) throw new Error(faults.reason);
  return schemaSentence('DPS', faults.value, parsed.root);
};

describe('the sentence about a schema fault', () => {
  it('is absent for a valid document', () => {
    expect(sentenceOf(good)).toBeUndefined();
  });

  const usual: [string, (xml: string) => string, string][] = [
    [
      'an element at a wrong place',
      (xml) => xml.replace(/(<dCompet>.*<\/dCompet>)(<tpEmit>1<\/tpEmit>)/, '$2$1'),
      `The element 'infDPS' in namespace '${NS}' has invalid child element 'tpEmit' in namespace '${NS}'. List of possible elements expected: 'dCompet' in namespace '${NS}'.`,
    ],
    [
      'a missing element at the end of a group',
      (xml) => xml.replace(/<totTrib>.*<\/totTrib>/, ''),
      `The element 'trib' in namespace '${NS}' has incomplete content. List of possible elements expected: 'tribFed, totTrib' in namespace '${NS}'.`,
    ],
    [
      'a value of another form',
      (xml) => xml.replace(/<serie>[^<]*/, '<serie>UNICA'),
      `The '${NS}:serie' element is invalid - The value 'UNICA' is invalid according to its datatype '${NS}:TSSerieDPS' - The Pattern constraint failed.`,
    ],
    [
      'a value outside of a list',
      (xml) => xml.replace(/<tpEmit>[^<]*/, '<tpEmit>7'),
      `The '${NS}:tpEmit' element is invalid - The value '7' is invalid according to its datatype '${NS}:TSEmitenteDPS' - The Enumeration constraint failed.`,
    ],
    [
      'a value that is too long',
      (xml) => xml.replace(/<xNome>[^<]*/, `<xNome>${'x'.repeat(301)}`),
      `The '${NS}:xNome' element is invalid - The value '${'x'.repeat(301)}' is invalid according to its datatype '${NS}:TSNomeRazaoSocial' - The actual length is greater than the MaxLength value.`,
    ],
    [
      'an id of another form',
      (xml) => xml.replace(/Id="[^"]*/, 'Id="DPS1'),
      `The 'Id' attribute is invalid - The value 'DPS1' is invalid according to its datatype '${NS}:TSIdDPS' - The Pattern constraint failed.`,
    ],
    ['no id', (xml) => xml.replace(/ Id="[^"]*"/, ''), "The required attribute 'Id' is missing."],
    ['another name space', (xml) => xml.replace(NS, 'urn:other'), "The 'urn:other:DPS' element is not declared."],
  ];

  it.each(usual)('is the one of .NET for %s', (_fault, spoil, sentence) => {
    expect(sentenceOf(spoil(good))).toBe(sentence);
  });

  it('names the group of the element that is meant when its name stands at several places', () => {
    const sentence = sentenceOf(good.replace(/(<toma>)(<CNPJ>.*?<\/CNPJ>)(<xNome>)/, '$1$3'));
    expect(sentence).toContain("The element 'toma'");
    expect(sentenceOf(good.replace(/(<toma><CNPJ>)[^<]*/, '$1123'))).toContain("The value '123'");
  });

  it('stays the one of libxml2 for another fault', () => {
    expect(sentenceOf(good.replace('<tpAmb>', 'x<tpAmb>'))).toContain('Character content');
  });
});

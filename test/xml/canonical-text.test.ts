import fc from 'fast-check';
import type { XmlElement } from 'libxml2-wasm';
import { describe, expect, it } from 'vitest';
import { canonicalizations, FULL_FORM } from '../../src/xml/algorithms.js';
import { canonicalElements, readCanonicalText, type TextElement, textElements } from '../../src/xml/canonical-text.js';
import { canonicalForm, type Elements, exactElements, withXmlDocument } from '../../src/xml/document.js';
import { parseWellFormed, textAt, type XmlParts, type XmlValue } from '../../src/xml/parse.js';
import { sample } from '../support/fixture/samples.js';
import { itWith } from '../support/needs.js';

/** Everything that a reader can learn of an element and of those below it. */
const shown = <E>(elements: Elements<E>, element: E): unknown => ({
  name: elements.name(element),
  namespaceUri: elements.namespaceUri(element),
  attributes: ['Id', 'versao', 'a', 'xmlns'].map((name) => (name === 'xmlns' ? '' : elements.attribute(element, name))),
  text: elements.text(element),
  forms: Object.values(canonicalizations).map((form) => String(elements.canonical(element, form))),
  children: elements.children(element).map((child) => shown(elements, child)),
});

/** Texts of leaves that are alone in their parent, by their path. */
const leaves = (
  element: TextElement,
  canonical: Buffer,
  path = element.name,
): readonly (readonly [string, string])[] =>
  element.children.length === 0
    ? [[path, textElements(canonical).text(element)]]
    : element.children.flatMap((child) =>
        element.children.some((other) => other !== child && other.name === child.name)
          ? []
          : leaves(child, canonical, `${path}/${child.name}`),
      );

/** Parts without name spaces, which the canonical text declares once only. */
const withoutNamespaces = (value: XmlValue): unknown => {
  if (typeof value === 'string') return value;
  if (isList(value)) return value.map(withoutNamespaces);
  const { '@xmlns': _namespace, ...parts } = value;
  const names = Object.keys(parts);
  if (names.length === 0) return '';
  if (names.length === 1 && parts['#text'] !== undefined) return parts['#text'];
  return Object.fromEntries(Object.entries(parts).map(([part, inner]) => [part, withoutNamespaces(inner)]));
};

const isList = (value: XmlParts | readonly XmlValue[]): value is readonly XmlValue[] => Array.isArray(value);

type Compared = {
  text: unknown;
  exact: unknown;
  values: unknown;
  parsed: unknown;
  parts: unknown;
  parsedParts: unknown;
};

/** `undefined` for text that is not well-formed, `not settled` for what only libxml2 can tell. */
const compare = (xml: string): Compared | 'not settled' | undefined => {
  const opened = withXmlDocument(Buffer.from(xml), (document): Compared | 'not settled' => {
    const canonical = canonicalForm(document, FULL_FORM);
    const root = readCanonicalText(canonical);
    if (root === undefined) return 'not settled';
    const parsed = parseWellFormed(Buffer.from(xml));
    const values = leaves(root, canonical);
    return {
      text: shown(textElements(canonical), root),
      exact: shown<XmlElement>(exactElements, document.root),
      values,
      parsed: values.map(([path]) => [path, parsed.ok ? (textAt(parsed.root, path) ?? '') : 'unreadable']),
      parts: withoutNamespaces(canonicalElements(document)?.parts() ?? ''),
      parsedParts: parsed.ok ? withoutNamespaces(parsed.root) : 'unreadable',
    };
  });
  return opened.ok ? opened.value : undefined;
};

const expectSame = (compared: ReturnType<typeof compare>): void => {
  if (compared === undefined || compared === 'not settled') return;
  expect(compared.text).toEqual(compared.exact);
  expect(compared.values).toEqual(compared.parsed);
  expect(compared.parts).toEqual(compared.parsedParts);
};

const NS = 'http://www.sped.fazenda.gov.br/nfse';

describe('a document of the usual shape', () => {
  it.each([
    [
      'the layout',
      `<NFSe xmlns="${NS}" versao="1.01"><infNFSe Id="N1"><a>São &amp; &lt;x&gt; "q"</a></infNFSe></NFSe>`,
    ],
    ['a repeated name space', `<NFSe xmlns="${NS}"><DPS xmlns="${NS}" versao="1.01"><a>1</a></DPS></NFSe>`],
    ['another name space inside', `<NFSe xmlns="${NS}"><Signature xmlns="u:s"><a Id="1"/></Signature></NFSe>`],
    ['no name space', '<NFSe><a Id="2" versao="3">x</a><b></b></NFSe>'],
    ['empty elements', `<?xml version="1.0"?><NFSe xmlns='${NS}'><a Id='1' /><b/><a/></NFSe>`],
    ['line breaks and references', '<NFSe><a>1\r\n2&#13;3&#x20AC;&#65;</a></NFSe>'],
    ['a section of characters', '<NFSe><a>x<![CDATA[<&amp;]]>y</a></NFSe>'],
    ['blanks in a tag', '<NFSe  b="1"\n a="2" ><a  Id="1"></a ></NFSe >'],
  ])('shows its elements as libxml2 does, in every form: %s', (_name, xml) => {
    const compared = compare(xml);
    expect(compared).toBeTypeOf('object');
    expectSame(compared);
  });

  for (const name of [
    'nfse-07-producao-me-epp-cpf.xml',
    'nfse-08-restrita-ibscbs.xml',
    'evento-12-cancelamento-e101101.xml',
  ]) {
    itWith('samples', `is that of the national system: ${name}`, () => {
      const compared = compare(String(sample(name)));
      expect(compared).toBeTypeOf('object');
      expectSame(compared);
    });
  }
});

describe('what only libxml2 can tell', () => {
  it.each([
    ['a prefix', '<p:a xmlns:p="u:p"/>'],
    ['a prefix that nothing uses', '<a xmlns:p="u:p"/>'],
    ['an attribute of the xml name space', '<a xml:lang="pt"><b/></a>'],
    ['a name space that is taken back', '<a xmlns="u:a"><b xmlns=""/></a>'],
    ['a comment', '<a><!-- c --></a>'],
    ['a comment behind the root', '<a/><!-- c -->'],
    ['an instruction', '<a><?i d?></a>'],
    ['text beside elements', '<a>x<b/></a>'],
    ['blanks beside elements', '<a> <b/></a>'],
    ['a reference in an attribute', '<a Id="&lt;"/>'],
    ['a line break in an attribute', '<a Id="1\n2"/>'],
    ['an attribute without a value', '<a Id=""/>'],
    ['a letter beyond ASCII in an attribute', '<a Id="é"/>'],
    ['a letter beyond ASCII in a name', '<é/>'],
    ['the name of a prototype', '<a><constructor/></a>'],
  ])('is not read by its text: %s', (_name, xml) => {
    expect(compare(xml)).toBe('not settled');
  });
});

const name = fc.constantFrom('NFSe', 'DPS', 'infDPS', 'Signature', 'a', 'b', 'p:c', 'x-y', '_d', 'constructor');
const value = fc.oneof(
  fc.constantFrom('1', '', 'a b', '&#10;', '\n', '&amp;', 'é', '>', '&quot;', "'"),
  fc.stringMatching(/^[\w:/#.-]{1,8}$/),
);
const attribute = fc.oneof(
  fc.tuple(fc.constantFrom('Id', 'versao', 'a', 'xml:lang', 'p:a', 'xml:id'), value),
  fc.tuple(fc.constantFrom('xmlns', 'xmlns', 'xmlns:p', 'xmlns:q'), fc.constantFrom(NS, NS, 'u:1', 'u:2', '')),
);
const characters = fc.oneof(
  fc.constantFrom('x', '', ' ', '\r\n', '\r', '&amp;', '&lt;', '&#xD;', '&#65;', 'ção', '😀', '\uFEFF', '"'),
  fc.constantFrom('<!-- c -->', '<?i d?>', '<![CDATA[<y>&]]>', ']]>'),
);

/** Mostly well-formed, mostly of the usual shape, and everything that might make the two readings differ. */
const { xml: anyXml } = fc.letrec<{ xml: string }>((tie) => ({
  xml: fc
    .tuple(
      name,
      fc.uniqueArray(attribute, { selector: ([key]) => key, maxLength: 3 }),
      fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.array(characters, { maxLength: 2 }),
        fc.array(tie('xml'), { maxLength: 3 }),
        fc.array(fc.oneof({ arbitrary: tie('xml'), weight: 4 }, characters), { maxLength: 3 }),
      ),
    )
    .map(([tag, attributes, inner]) => {
      const pairs = attributes.map(([key, one]) => ` ${key}="${one}"`).join('');
      return inner.length === 0 ? `<${tag}${pairs}/>` : `<${tag}${pairs}>${inner.join('')}</${tag}>`;
    }),
}));

describe('any document', () => {
  it('is shown as libxml2 shows it, or not at all', () => {
    let settled = 0;
    fc.assert(
      fc.property(anyXml, (xml) => {
        const compared = compare(xml);
        expectSame(compared);
        if (typeof compared === 'object') settled += 1;
      }),
      { numRuns: 3_000 },
    );
    // The generator reaches both.
    expect(settled).toBeGreaterThan(100);
  });
});

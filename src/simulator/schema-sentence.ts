import { nodesAt, textAt, type XmlParts, type XmlValue } from '../xml/parse.js';
import { schemaText } from '../xml/schema.js';

type Root = 'DPS' | 'pedRegEvento';

/** The schemas by which this authorizer judges every document. */
export const SCHEMAS = 'v1.01';

const NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

/**
 * The first of a document's `faults` by the official schema, in the words of the .NET validator that Sefin runs
 * (docs/national-system.md#order-of-checks); undefined when it is valid. Faults that are met seldom keep the words of libxml2.
 */
export const schemaSentence = (root: Root, faults: readonly string[], parts: XmlParts): string | undefined => {
  const [first] = faults;
  if (first === undefined) return undefined;
  // .NET looks at the pattern of a value before its length and its list.
  const about = /^Element '[^']*'/.exec(first)?.[0] ?? first;
  const fault = faults.find((one) => one.startsWith(about) && one.includes("[facet 'pattern']")) ?? first;
  for (const [pattern, write] of SENTENCES) {
    const found = pattern.exec(fault)?.groups;
    if (found !== undefined) return write(found, { root, parts });
  }
  return fault;
};

type Document = { root: Root; parts: XmlParts };

type Groups = { readonly [group: string]: string | undefined };

type Sentence = readonly [RegExp, (found: Groups, document: Document) => string];

const FACETS: Readonly<Record<string, string>> = {
  pattern: 'The Pattern constraint failed.',
  enumeration: 'The Enumeration constraint failed.',
  maxLength: 'The actual length is greater than the MaxLength value.',
  minLength: 'The actual length is less than the MinLength value.',
};

const SENTENCES: readonly Sentence[] = [
  [
    /^Element '(?<name>[^']*)': This element is not expected\.(?: Expected is (?:one of )?\( (?<expected>.*) \)\.)?$/s,
    ({ name = '', expected = '' }, document) => {
      const { path } = placeOf(document, local(name), undefined, local(expected.split(', ')[0] ?? ''));
      return `The element ${inNamespace(`{${NAMESPACE}}${path.at(-2)}`)} has invalid child element ${inNamespace(name)}.${listOf(expected)}`;
    },
  ],
  [
    /^Element '(?<name>[^']*)': Missing child element\(s\)\.(?: Expected is (?:one of )?\( (?<expected>.*) \)\.)?$/s,
    ({ name = '', expected = '' }) => `The element ${inNamespace(name)} has incomplete content.${listOf(expected)}`,
  ],
  [
    /^Element '(?<name>[^']*)': \[facet '(?<facet>pattern|enumeration|maxLength|minLength)'\] The value (?:'(?<value>.*?)' )?(?:is not|has)/s,
    ({ name = '', facet = '', value }, document) => {
      const { path, text } = placeOf(document, local(name), value);
      return `The '${NAMESPACE}:${local(name)}' element is invalid - ${invalid(value ?? text, datatypeOf(path), facet)}`;
    },
  ],
  [
    /^Element '(?<name>[^']*)', attribute '(?<attribute>[^']*)': \[facet '(?<facet>pattern|enumeration|maxLength|minLength)'\] The value (?:'(?<value>.*?)' )?(?:is not|has)/s,
    ({ name = '', attribute = '', facet = '', value = '' }, document) => {
      const type = datatypeOf([...placeOf(document, local(name)).path, `@${attribute}`]);
      return `The '${attribute}' attribute is invalid - ${invalid(value, type, facet)}`;
    },
  ],
  [
    /^Element '[^']*': The attribute '(?<attribute>[^']*)' is required but missing\.$/,
    ({ attribute = '' }) => `The required attribute '${attribute}' is missing.`,
  ],
  [
    /^Element '\{(?<namespace>.*)\}(?<name>.*)': No matching global declaration/,
    ({ namespace = '', name = '' }) => `The '${namespace}:${name}' element is not declared.`,
  ],
];

const invalid = (value: string, type: string | undefined, facet: string): string =>
  `The value '${value}' is invalid according to its datatype '${type === undefined ? 'String' : `${NAMESPACE}:${type}`}' - ${FACETS[facet] ?? ''}`;

const local = (name: string): string => name.replace(/^\{.*\}/, '');

/** `{ns}name` as .NET writes it. */
const inNamespace = (name: string): string => {
  const [, namespace = '', own = name] = /^\{(.*)\}(.*)$/.exec(name) ?? [];
  return `'${own}' in namespace '${namespace}'`;
};

const listOf = (expected: string): string => {
  if (expected === '') return '';
  const names = expected.split(', ');
  const namespace = /^\{(.*)\}/.exec(names[0] ?? '')?.[1] ?? NAMESPACE;
  return ` List of possible elements expected: '${names.map(local).join(', ')}' in namespace '${namespace}'.`;
};

type Place = { path: readonly string[]; text: string };

/** The first element of that name, with that text and a parent that may hold `sibling`, as far as they are given. */
const placeOf = ({ parts, root }: Document, name: string, text?: string, sibling?: string): Place => {
  const all = [...placesIn(parts, [])].filter(({ path }) => path.at(-1) === name);
  const fitting = all.find(
    (place) =>
      (text === undefined || place.text === text) &&
      (sibling === undefined || datatypeOf([...place.path.slice(0, -1), sibling]) !== undefined),
  );
  return fitting ?? all[0] ?? { path: [root, name], text: '' };
};

function* placesIn(parts: XmlParts, above: readonly string[]): Generator<Place> {
  for (const name of Object.keys(parts)) {
    if (/^[@#]/.test(name)) continue;
    for (const value of nodesAt(parts, name)) {
      const path = [...above, name];
      yield { path, text: textAt({ value }, 'value') ?? '' };
      if (isParts(value)) yield* placesIn(value, path);
    }
  }
}

const isParts = (value: XmlValue): value is XmlParts => typeof value === 'object' && !Array.isArray(value);

/** The type that the schema gives to the element or `@attribute` at a path; undefined for one that the schema does not know. */
const datatypeOf = ([root = '', ...path]: readonly string[]): string | undefined =>
  path.reduce<string | undefined>(
    (type, name) => (type === undefined ? undefined : typesOf(type).get(name)),
    ROOT_TYPES[root],
  );

const ROOT_TYPES: Readonly<Record<string, string>> = { DPS: 'TCDPS', pedRegEvento: 'TCPedRegEvt' };

/** The types of the children and `@attributes` of a complex type, by name. */
const typesOf = (complexType: string): ReadonlyMap<string, string> => {
  complexTypes ??= readComplexTypes();
  return complexTypes.get(complexType) ?? new Map();
};

let complexTypes: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;

const readComplexTypes = (): ReadonlyMap<string, ReadonlyMap<string, string>> => {
  const types = new Map<string, ReadonlyMap<string, string>>();
  for (const file of ['tiposComplexos', 'tiposEventos']) {
    for (const [, name = '', body = ''] of schemaText(SCHEMAS, file).matchAll(
      /<xs:complexType name="(\w+)">(.*?)<\/xs:complexType>/gs,
    )) {
      types.set(name, new Map([...body.matchAll(/<xs:(element|attribute) ([^>]*)>/g)].flatMap(entryOf)));
    }
  }
  return types;
};

const entryOf = ([, kind, attributes = '']: RegExpExecArray): readonly (readonly [string, string])[] => {
  const name = /\bname="(\w+)"/.exec(attributes)?.[1];
  const type = /\btype="(\w+)"/.exec(attributes)?.[1];
  return name === undefined || type === undefined ? [] : [[kind === 'attribute' ? `@${name}` : name, type]];
};

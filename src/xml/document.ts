import { ParseOption, XmlDocument, XmlElement, XmlParseError } from 'libxml2-wasm';
import type { Canonicalization } from './algorithms.js';
import { refusedUnparsed } from './bounds.js';
import { type Parsed, parseWellFormed, textAt } from './parse.js';

type Opened<T> = { ok: true; value: T } | { ok: false; reason: string };

/**
 * Parses strictly, lends the document to `use` and frees it, because WebAssembly memory is not collected. Documents with a DTD are refused before
 * they are parsed, so only the five predefined entities exist. Other encodings than UTF-8 and documents beyond `XML_BOUNDS` are refused too.
 * `reason` never quotes the document. Rethrows what `use` throws.
 */
export const withXmlDocument = <T>(xml: Buffer, use: (document: XmlDocument) => T): Opened<T> => {
  const refused = refusedUnparsed(xml);
  if (refused !== undefined) return { ok: false, reason: refused };
  const document = parse(xml);
  if (document === undefined) return { ok: false, reason: 'not well-formed' };
  try {
    const encoding = document.encoding?.toLowerCase() ?? 'utf-8';
    if (encoding !== 'utf-8') return { ok: false, reason: 'the encoding is not UTF-8' };
    return { ok: true, value: use(document) };
  } finally {
    document.dispose();
  }
};

/** Parses a received document that libxml2 finds well-formed. */
export const parseXml = (xml: Buffer): Parsed => {
  const wellFormed = withXmlDocument(xml, () => true);
  return wellFormed.ok ? parseWellFormed(xml) : wellFormed;
};

/** Reads texts by their paths; undefined for a document that cannot be parsed. */
export const textsOf = (xml: Buffer): ((path: string) => string | undefined) | undefined => {
  const parsed = parseXml(xml);
  return parsed.ok ? (path) => textAt(parsed.root, path) : undefined;
};

/** Looks at the elements of a received document, however they are kept. Names are local names. */
export type Elements<Element> = {
  name(element: Element): string;
  namespaceUri(element: Element): string;
  /** Child elements in document order, without text, comments and instructions. */
  children(element: Element): readonly Element[];
  /** The value of an attribute without a name space. */
  attribute(element: Element, name: string): string | undefined;
  /** All text below the element. */
  text(element: Element): string;
  canonical(element: Element, form: Canonicalization): Buffer;
};

/** The elements as libxml2 shows them. */
export const exactElements: Elements<XmlElement> = {
  name: ({ name }) => name,
  namespaceUri: ({ namespaceUri }) => namespaceUri,
  children: (element) => childElements(element),
  attribute: (element, name) => element.attr(name)?.value,
  text: ({ content }) => content,
  canonical: (element, form) => canonicalForm(element, form),
};

const childElements = (parent: XmlElement): readonly XmlElement[] => {
  const children: XmlElement[] = [];
  for (let node = parent.firstChild; node !== null; node = node.next) {
    // libxml2-wasm gives a processing instruction no sibling; a search passes over the instruction.
    if (!('next' in node)) return parent.find('*').filter((one) => one instanceof XmlElement);
    if (node instanceof XmlElement) children.push(node);
  }
  return children;
};

/** The canonical form of an element or a document, as bytes: `canonicalizeToString` would decode pieces that may end inside a character. */
export const canonicalForm = (node: Pick<XmlDocument | XmlElement, 'canonicalize'>, form: Canonicalization): Buffer => {
  const pieces: Buffer[] = [];
  // libxml2 writes every piece to the same memory.
  const write = (piece: Uint8Array): number => pieces.push(Buffer.from(piece)) && piece.byteLength;
  node.canonicalize({ write, close: () => true }, form);
  return Buffer.concat(pieces);
};

export const childrenNamed = <E>({ children, name }: Elements<E>, parent: E, wanted: string): readonly E[] =>
  children(parent).filter((child) => name(child) === wanted);

/** The child of that name when there is exactly one. */
export const onlyChild = <E>(elements: Elements<E>, parent: E | undefined, name: string): E | undefined => {
  const [first, ...others] = parent === undefined ? [] : childrenNamed(elements, parent, name);
  return others.length === 0 ? first : undefined;
};

/** The element at the end of a path of only children. */
export const onlyAt = <E>(elements: Elements<E>, root: E, path: readonly string[]): E | undefined => {
  let found: E | undefined = root;
  for (const name of path) found = onlyChild(elements, found, name);
  return found;
};

const parse = (xml: Buffer): XmlDocument | undefined => {
  try {
    return XmlDocument.fromBuffer(xml, { option: ParseOption.XML_PARSE_NONET | ParseOption.XML_PARSE_NO_XXE });
  } catch (error) {
    if (error instanceof XmlParseError) return undefined;
    throw error;
  }
};

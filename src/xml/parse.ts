import { XMLParser } from 'fast-xml-parser';

/** An element: its text when it has no children and no attributes, else its parts by name (attributes begin with `@`). */
export type XmlValue = string | XmlParts | readonly XmlValue[];

export type XmlParts = { readonly [name: string]: XmlValue };

export type Parsed = { ok: true; root: XmlParts } | { ok: false; reason: string };

/**
 * Parses a document that libxml2 has read before, at the latest when the document came: fast-xml-parser accepts unclosed tags and two roots. Values
 * stay text: a 50-digit access key never becomes a number. Without a DTD only the predefined entities exist.
 */
export const parseWellFormed = (xml: Buffer): Parsed => {
  try {
    const root: unknown = parser.parse(withoutSections(xml.toString('utf8')));
    return isParts(root) ? { ok: true, root } : { ok: false, reason: 'not a document' };
  } catch {
    // The parser refuses names such as __proto__ by throwing.
    return { ok: false, reason: 'a name that is not allowed' };
  }
};

/** The node at `path` (`NFSe/infNFSe/nNFSe`); undefined when it is absent or a step before it is repeated. */
export const nodeAt = (node: XmlValue | undefined, path: string): XmlValue | undefined => {
  let current = node;
  for (const name of path.split('/')) {
    if (current === undefined || !isParts(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
};

/** All elements at `path`, for elements that may repeat; an empty list when absent. */
export const nodesAt = (node: XmlValue | undefined, path: string): readonly XmlValue[] => {
  const found = nodeAt(node, path);
  return found === undefined ? [] : isList(found) ? found : [found];
};

/** Text of the only element at `path`. */
export const textAt = (node: XmlValue | undefined, path: string): string | undefined => textOf(nodeAt(node, path));

/** Text of an element that was found; undefined for a list of elements. */
export const textOf = (found: XmlValue | undefined): string | undefined => {
  if (typeof found === 'string') return found;
  const text = found !== undefined && isParts(found) ? found['#text'] : undefined;
  return typeof text === 'string' ? text : undefined;
};

/** Attribute of the only element at `path`. */
export const attributeAt = (node: XmlValue | undefined, path: string, name: string): string | undefined => {
  const value = nodeAt(node, `${path}/@${name}`);
  return typeof value === 'string' ? value : undefined;
};

const isList = (value: XmlValue): value is readonly XmlValue[] => Array.isArray(value);

const isParts = (value: unknown): value is XmlParts =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Removes comments and instructions and turns CDATA into escaped text, so that one decoding fits every value. Well-formed text has these openers
 * nowhere else.
 */
const withoutSections = (xml: string): string =>
  xml.replace(/<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>/gs, (_section, characters: string | undefined) =>
    (characters ?? '').replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  );

/** Decodes character references, which fast-xml-parser leaves as they are. */
export const decoded = (value: string): string =>
  value.replace(
    /&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([a-z]+));/g,
    (reference, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return PREDEFINED[name] ?? reference;
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );

const PREDEFINED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  tagValueProcessor: (_name, value) => decoded(value),
  attributeValueProcessor: (_name, value) => decoded(value),
});

import { XMLParser } from 'fast-xml-parser';
import { withXmlDocument } from './document.js';

/** An element: its text when it has no children and no attributes, else its parts by name (attributes begin with `@`). */
export type XmlValue = string | XmlParts | readonly XmlValue[];

export type XmlParts = { readonly [name: string]: XmlValue };

export type Parsed = { ok: true; root: XmlParts } | { ok: false; reason: string };

/**
 * Reads a document from outside. Well-formedness is checked by libxml2 first, because the parser accepts unclosed tags
 * and two roots. Values stay text: a 50-digit key is never a number. No DTD, hence no entities but the predefined ones.
 */
export const parseXml = (xml: Buffer): Parsed => {
  const wellFormed = withXmlDocument(xml, () => true);
  return wellFormed.ok ? parseWellFormed(xml) : wellFormed;
};

/** The same for a document that libxml2 has read already. */
export const parseWellFormed = (xml: Buffer): Parsed => {
  try {
    const root: unknown = parser.parse(withoutSections(xml.toString('utf8')));
    return isParts(root) ? { ok: true, root } : { ok: false, reason: 'not a document' };
  } catch {
    // The parser refuses names such as __proto__ by throwing.
    return { ok: false, reason: 'a name that is not allowed' };
  }
};

/** What `path` (`NFSe/infNFSe/nNFSe`) leads to; undefined when absent or when a step on the way is repeated. */
export const nodeAt = (node: XmlValue | undefined, path: string): XmlValue | undefined => {
  let current = node;
  for (const name of path.split('/')) {
    if (current === undefined || !isParts(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
};

/** Every element that `path` leads to, an empty list when there is none: for elements that may repeat. */
export const nodesAt = (node: XmlValue | undefined, path: string): readonly XmlValue[] => {
  const found = nodeAt(node, path);
  return found === undefined ? [] : isList(found) ? found : [found];
};

/** Text of the only element at `path`. */
export const textAt = (node: XmlValue | undefined, path: string): string | undefined => {
  const found = nodeAt(node, path);
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
 * Comments and instructions go, CDATA becomes escaped text, so that one decoding fits every value. In well-formed text
 * the openers stand nowhere else.
 */
const withoutSections = (xml: string): string =>
  xml.replace(/<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>/gs, (_section, characters: string | undefined) =>
    (characters ?? '').replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  );

/** The parser itself leaves character references as they are. */
const decoded = (value: string): string =>
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

import { type XmlDocument, XmlError } from 'libxml2-wasm';
import { FULL_FORM } from './algorithms.js';
import { canonicalForm, type Elements } from './document.js';
import { decoded, type XmlParts, type XmlValue } from './parse.js';

/** A document by its canonical text. `parts` are those of `parseWellFormed`, without a name space that an element declares again. */
export type CanonicalDocument = { elements: Elements<TextElement>; root: TextElement; parts(): XmlParts };

/** Undefined where the canonical text does not say what an element's own form is. */
export const canonicalElements = (document: XmlDocument): CanonicalDocument | undefined => {
  const canonical = canonicalOrNone(document);
  const root = canonical === undefined ? undefined : readCanonicalText(canonical);
  if (canonical === undefined || root === undefined) return undefined;
  return { elements: textElements(canonical), root, parts: () => ({ [root.name]: partsOf(root, canonical) }) };
};

/** Undefined for what libxml2 refuses to canonicalize. */
const canonicalOrNone = (document: XmlDocument): Buffer | undefined => {
  try {
    return canonicalForm(document, FULL_FORM);
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
};

/**
 * The root of a document, read from its canonical form (C14N 1.0 with comments) as libxml2 wrote it. Undefined where an element's own canonical
 * form may differ from its part of the text by more than the inherited name space: prefixes, comments, instructions, an undeclared name space.
 * Undefined too for text beside elements and for tags that no document of the layout has. Then libxml2 must say what an element's form is.
 */
export const readCanonicalText = (canonical: Buffer): TextElement | undefined => {
  // One character for each byte, so that places in the text are places in the bytes.
  const text = canonical.toString('latin1');
  const open: TextElement[] = [];
  let at = 0;
  while (at < text.length) {
    const parent = open.at(-1);
    if (text.startsWith('</', at)) {
      if (parent === undefined || !text.startsWith(`${parent.name}>`, at + 2)) return undefined;
      open.pop();
      parent.innerEnd = at;
      parent.end = at + parent.name.length + 3;
      at = parent.end;
      if (open.length === 0) return at === text.length ? parent : undefined;
      continue;
    }
    START_TAG.lastIndex = at;
    const [tag, name, attributes = ''] = START_TAG.exec(text) ?? [];
    if (tag === undefined || name === undefined) return undefined;
    const namespace = NAMESPACE.exec(attributes)?.[1] ?? parent?.namespace ?? '';
    const inner = at + tag.length;
    const element = { name, attributes, namespace, start: at, inner, innerEnd: inner, end: inner, children: [] };
    parent?.children.push(element);
    open.push(element);
    at = text.indexOf('<', inner);
    if (at < 0 || (at > inner && !text.startsWith('</', at))) return undefined;
  }
  return undefined;
};

/** `start` and `end` enclose the element, `inner` and `innerEnd` its content. */
export type TextElement = {
  name: string;
  /** As they stand in the tag, each after a space; `xmlns` comes first. */
  attributes: string;
  /** The default name space, the only one in scope. */
  namespace: string;
  start: number;
  inner: number;
  innerEnd: number;
  end: number;
  children: TextElement[];
};

/** Without a colon there is no prefix. Without reference, blank and letter beyond ASCII an attribute's value is its text. */
const START_TAG = /<(?!(?:constructor|prototype)[ >])([A-Za-z]\w*)((?: [A-Za-z]\w*="[!#-%'-~]+")*)>/y;

const NAMESPACE = /^ xmlns="([^"]+)"/;

/** The elements of `readCanonicalText`, which holds no bytes itself. */
export const textElements = (canonical: Buffer): Elements<TextElement> => ({
  name: ({ name }) => name,
  namespaceUri: ({ namespace }) => namespace,
  children: ({ children }) => children,
  attribute: attributeOf,
  text: (element) => textOf(element, canonical),
  canonical: (element) => canonicalOf(element, canonical),
});

const attributeOf = ({ attributes }: TextElement, name: string): string | undefined => {
  const begin = attributes.indexOf(` ${name}="`);
  if (begin < 0) return undefined;
  const value = begin + name.length + 3;
  return attributes.slice(value, attributes.indexOf('"', value));
};

const textOf = ({ children, inner, innerEnd }: TextElement, canonical: Buffer): string =>
  children.length === 0
    ? decoded(canonical.toString('utf8', inner, innerEnd))
    : children.map((child) => textOf(child, canonical)).join('');

const partsOf = (element: TextElement, canonical: Buffer): XmlValue => {
  const { attributes, children } = element;
  const text = children.length === 0 ? textOf(element, canonical) : '';
  if (attributes === '' && children.length === 0) return text;
  const parts: Record<string, XmlValue | XmlValue[]> = {};
  for (const child of children) {
    const value = partsOf(child, canonical);
    const before = parts[child.name];
    if (before === undefined) parts[child.name] = value;
    else if (Array.isArray(before)) before.push(value);
    else parts[child.name] = [before, value];
  }
  if (text !== '') parts['#text'] = text;
  for (const [, name, value] of attributes.matchAll(ATTRIBUTE)) if (value !== undefined) parts[`@${name}`] = value;
  return parts;
};

const ATTRIBUTE = / (\w+)="([^"]*)"/g;

/** The same bytes by every algorithm that we know, because only the default name space is in scope. */
const canonicalOf = ({ name, attributes, namespace, start, end }: TextElement, canonical: Buffer): Buffer => {
  const whole = canonical.subarray(start, end);
  if (namespace === '' || attributes.startsWith(' xmlns=')) return whole;
  const behindName = name.length + 1;
  const inherited = Buffer.from(` xmlns="${namespace}"`, 'latin1');
  return Buffer.concat([whole.subarray(0, behindName), inherited, whole.subarray(behindName)]);
};

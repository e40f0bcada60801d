/** A piece of XML in canonical form (C14N 20010315), without declaration, comments or prefixes. */
export type Canonical = string & { readonly __brand: 'Canonical' };

type Attributes = Readonly<Record<string, string>>;

/** Content of an element; undefined means an element that the layout leaves out. */
type Child = Canonical | undefined;

/**
 * One element around results of `text`, `field` and `element`. Throws for an element without content: the layout forbids empty elements
 * (docs/national-system.md#texts), so callers must leave out optional ones.
 */
export const element = (name: string, ...children: readonly Child[]): Canonical =>
  elementWith(name, NO_ATTRIBUTES, ...children);

/** As `element`, with attributes in the order of C14N: `xmlns` first, the others by name. */
export const elementWith = (name: string, attributes: Attributes, ...children: readonly Child[]): Canonical => {
  let content = '';
  for (const child of children) if (child !== undefined) content += child;
  if (content === '') throw new Error(`the element ${name} would be empty`);
  return `<${name}${attributesText(attributes)}>${content}</${name}>` as Canonical;
};

/** Escaped character data. Throws for a character that XML 1.0 cannot carry; the message never holds the text. */
export const text = (value: string): Canonical => {
  if (!NOT_PLAIN.test(value)) return value as Canonical;
  if (!isXmlText(value)) throw new Error('the text holds a character that XML 1.0 cannot carry');
  return value.replace(/[&<>\r]/g, (character) => TEXT_ESCAPES[character] ?? character) as Canonical;
};

/** `<name>value</name>`, the most common case; undefined for an undefined value. */
export function field(name: string, value: string): Canonical;
export function field(name: string, value: string | undefined): Canonical | undefined;
export function field(name: string, value: string | undefined): Canonical | undefined {
  return value === undefined ? undefined : element(name, text(value));
}

/** True when every character is a `Char` of XML 1.0: no control characters except tab and line breaks, no half surrogate. */
export const isXmlText = (value: string): boolean => !FORBIDDEN.test(value);

const attributesText = (attributes: Attributes): string =>
  attributes === NO_ATTRIBUTES
    ? ''
    : Object.keys(attributes)
        .sort((a, b) => (a === 'xmlns' ? -1 : b === 'xmlns' ? 1 : a < b ? -1 : 1))
        .map((name) => ` ${name}="${attributeValue(attributes[name] ?? '')}"`)
        .join('');

const attributeValue = (value: string): string => {
  if (!isXmlText(value)) throw new Error('the attribute holds a character that XML 1.0 cannot carry');
  return value.replace(/[&<"\t\n\r]/g, (character) => ATTRIBUTE_ESCAPES[character] ?? character);
};

const NO_ATTRIBUTES: Attributes = {};

/** Characters that may need escaping or refusal. Almost no value has any, so one pass is usually enough. */
const NOT_PLAIN = /[^ -%'-;=?-~]/;

const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

const TEXT_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

const ATTRIBUTE_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

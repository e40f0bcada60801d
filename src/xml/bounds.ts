import { countsWithin } from '../lib/counts-within.js';

/**
 * Limits of a received document (ADR 31). A note of the national system has some 200 elements, 10 attributes, 5 name space declarations and a depth
 * of 12; the largest that its schema allows lists 1,000 documents of deduction with 15 elements each.
 */
export const XML_BOUNDS = {
  elements: 20_000,
  /** Comments, processing instructions and CDATA sections together: a note has one instruction at most. */
  sections: 200,
  attributesOfOneElement: 32,
  attributes: 20_000,
  /** Declarations in the whole document. */
  namespaces: 200,
  depth: 32,
  /** Bytes of one text, attribute, comment or section: a chain of certificates fits. */
  text: 64 * 1024,
  /** Bytes of one name with its prefix, or of the text between two attributes. */
  name: 256,
} as const;

/**
 * Why a received document is refused before any parser reads it, without quoting it; undefined for any other document. Bytes that are no UTF-8 are left
 * to the parser.
 */
export const refusedUnparsed = (xml: Buffer): string | undefined => {
  if (xml.includes('<!DOCTYPE')) return 'a document type declaration is not allowed';
  if (!isUtf8Text(xml)) return 'the encoding is not UTF-8';
  const { exceededLimit } = countXml(xml);
  return exceededLimit === undefined ? undefined : `more than a document may hold: ${exceededLimit}`;
};

/** True without a zero byte and without the name of another encoding. `countXml` reads bytes as UTF-8, so its counts are right only then. */
const isUtf8Text = (xml: Buffer): boolean => {
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)["']/.exec(
    xml.toString('latin1', 0, LONGEST_DECLARATION),
  )?.[1];
  return !xml.includes(0) && (declared === undefined || declared.toLowerCase() === 'utf-8');
};

const LONGEST_DECLARATION = 200;

type XmlCounts = Record<keyof typeof XML_BOUNDS, number> & {
  /** Bytes read: never more than the document has. */
  bytesRead: number;
  exceededLimit: keyof typeof XML_BOUNDS | undefined;
};

/**
 * Counts in one pass over the bytes what a parser would have to build, and stops at the first limit that is exceeded. It does not check
 * well-formedness. The counts are right for UTF-8 only, so other encodings are refused before.
 */
export const countXml = (xml: Buffer): XmlCounts => {
  const { counts, raise, exceededLimit } = countsWithin(XML_BOUNDS);
  let at = 0;
  let depth = 0;

  /** Moves `at` after the next `end`, one byte or a text of ASCII, or to the end of the document. */
  const skipTo = (end: number | string): void => {
    const found = xml.indexOf(end, at, 'latin1');
    const next = found < 0 ? xml.length : found + (typeof end === 'number' ? 1 : end.length);
    raise('text', next - at);
    at = next;
  };

  /** Counts an element and its attributes from its name on, and moves `at` after its `>`. */
  const tag = (): void => {
    raise('elements', counts.elements + 1);
    let own = 0;
    let began = at;
    let last = 0;
    while (at < xml.length && exceededLimit() === undefined) {
      const byte = xml[at] ?? 0;
      at += 1;
      if (byte === GREATER) break;
      if (byte === QUOTE || byte === APOSTROPHE) {
        own += 1;
        raise('name', at - began);
        raise('attributesOfOneElement', own);
        raise('attributes', counts.attributes + 1);
        if (xml.subarray(began, at).includes('xmlns')) raise('namespaces', counts.namespaces + 1);
        skipTo(byte);
        began = at;
      }
      last = byte;
    }
    raise('name', at - began);
    if (last === SLASH) return;
    depth += 1;
    raise('depth', depth);
  };

  while (at < xml.length && exceededLimit() === undefined) {
    const open = xml.indexOf(LESS, at);
    raise('text', (open < 0 ? xml.length : open) - at);
    if (open < 0) {
      at = xml.length;
      break;
    }
    at = open + 1;
    const next = xml[at];
    if (next === SLASH) {
      depth -= 1;
      skipTo(GREATER);
    } else if (next === QUESTION || next === EXCLAMATION) {
      raise('sections', counts.sections + 1);
      skipTo(endOf(xml, at));
    } else tag();
  }
  return { ...counts, bytesRead: at, exceededLimit: exceededLimit() };
};

/** The end of a comment, a CDATA section, an instruction or anything else that begins with `!`. */
const endOf = (xml: Buffer, at: number): string => {
  if (xml[at] === QUESTION) return '?>';
  const begin = xml.toString('latin1', at, at + 8);
  if (begin.startsWith('!--')) return '-->';
  return begin.startsWith('![CDATA[') ? ']]>' : '>';
};

const LESS = 0x3c;
const GREATER = 0x3e;
const SLASH = 0x2f;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const QUESTION = 0x3f;
const EXCLAMATION = 0x21;

/**
 * What a document from outside may hold. A note of the national system has some 200 elements, 10 attributes, 5 name space
 * declarations and a depth of 12; the largest that its schema allows lists 1,000 documents of deduction with 15 elements each.
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
  /** Bytes of one name with its prefix, or of what stands between attributes. */
  name: 256,
} as const;

export type XmlCounts = Record<keyof typeof XML_BOUNDS, number> & {
  /** Bytes looked at: never more than the document has. */
  looked: number;
};

/**
 * Counts what a parser would have to build, without building it, in one pass over the bytes; stops at the first bound that is
 * passed. Says nothing about well-formedness. UTF-8 alone is counted rightly, so other encodings are refused before.
 */
export const countXml = (xml: Buffer): XmlCounts & { exceeds: keyof typeof XML_BOUNDS | undefined } => {
  const counts: XmlCounts = {
    ...{ elements: 0, sections: 0, attributesOfOneElement: 0, attributes: 0, namespaces: 0 },
    ...{ depth: 0, text: 0, name: 0, looked: 0 },
  };
  let exceeds: keyof typeof XML_BOUNDS | undefined;
  const reach = (what: keyof typeof XML_BOUNDS, value: number): void => {
    if (value > counts[what]) counts[what] = value;
    if (value > XML_BOUNDS[what]) exceeds ??= what;
  };

  let at = 0;
  let depth = 0;

  /** Behind the next `end`, or behind everything. */
  const skipTo = (end: string): void => {
    const found = xml.indexOf(end, at, 'latin1');
    const behind = found < 0 ? xml.length : found + end.length;
    reach('text', behind - at);
    at = behind;
  };

  /** `at` stands behind `<` and the name's first byte; the element's attributes are counted up to its `>`. */
  const tag = (): void => {
    reach('elements', counts.elements + 1);
    let own = 0;
    let began = at;
    let last = 0;
    while (at < xml.length && exceeds === undefined) {
      const byte = xml[at] ?? 0;
      at += 1;
      if (byte === GREATER) break;
      if (byte === QUOTE || byte === APOSTROPHE) {
        own += 1;
        reach('name', at - began);
        reach('attributesOfOneElement', own);
        reach('attributes', counts.attributes + 1);
        if (xml.subarray(began, at).includes('xmlns')) reach('namespaces', counts.namespaces + 1);
        skipTo(byte === QUOTE ? '"' : "'");
        began = at;
      }
      last = byte;
    }
    reach('name', at - began);
    if (last === SLASH) return;
    depth += 1;
    reach('depth', depth);
  };

  while (at < xml.length && exceeds === undefined) {
    const open = xml.indexOf(LESS, at);
    reach('text', (open < 0 ? xml.length : open) - at);
    if (open < 0) {
      at = xml.length;
      break;
    }
    at = open + 1;
    const next = xml[at];
    if (next === SLASH) {
      depth -= 1;
      skipTo('>');
    } else if (next === QUESTION || next === EXCLAMATION) {
      reach('sections', counts.sections + 1);
      skipTo(endOf(xml, at));
    } else tag();
  }
  return { ...counts, looked: at, exceeds };
};

/** Of a comment, a CDATA section, an instruction or anything else that begins with `!`. */
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

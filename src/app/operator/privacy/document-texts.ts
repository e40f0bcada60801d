import { isSameDocument, mentions, type PersonalDocument } from './document.js';

/**
 * Whether an XML document of the national system names the person: as CPF, CNPJ or NIF of somebody, or in a text that a person typed. Ids, access keys,
 * digests and signatures are no such texts: an access key holds a CNPJ, and eleven digits of a key may be a CPF by chance.
 */
export const xmlNames = (xml: string, document: PersonalDocument): boolean => {
  const plain = xml.replace(SECTION, (_section, characters: string | undefined) =>
    (characters ?? '').replaceAll('<', '&lt;'),
  );
  for (const [, name = '', found = ''] of plain.matchAll(LEAF)) {
    const text = withoutReferences(found);
    if (NUMBER_OF_PERSON.test(name) ? isSameDocument(text, document) : TYPED.test(name) && mentions(text, document))
      return true;
  }
  return false;
};

/** A comment, an instruction or a section of characters. */
const SECTION = /<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>/gs;

/** An element without elements in it: its name without prefix, and its text. */
const LEAF = /<(?:[\w.-]+:)?([\w.-]+)(?:\s[^<>]*)?>([^<]+)</g;

/** Also those of the author of an event, as `CPFAutor`. */
const NUMBER_OF_PERSON = /^(?:CPF|CNPJ|NIF)(?:[A-Z]\w*)?$/;

/** By the names of the schemas (docs/national-system.md): all texts begin with `x`, and an address has more of them. */
const TYPED = /^(?:x[A-Z]\w*|nro|email|docRef|idDocTec|cEndPost)$/;

/** XML names only five characters, all of them punctuation: such a reference becomes a space. */
const withoutReferences = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|\w+);/gi, (_reference, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal ?? 32) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
  });

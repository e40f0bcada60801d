import { createHmac } from 'node:crypto';
import { revealsStream } from '../../../domain/audit/events.js';
import type { Clock } from '../../../ports/clock.js';
import type { SealingKeys } from '../../../ports/sealing-keys.js';

/** The document of a data subject; `text` is in capitals and without punctuation. */
export type PersonalDocument = { kind: 'cpf' | 'cnpj' | 'nif'; text: string };

/** Undefined for a text without letters and digits. A text that has the form of neither CPF nor CNPJ is taken for a foreign NIF. */
export const readDocument = (typed: string): PersonalDocument | undefined => {
  const text = withoutPunctuation(typed);
  if (text === '') return undefined;
  if (/^\d{11}$/.test(text)) return { kind: 'cpf', text };
  return { kind: /^[0-9A-Z]{12}\d{2}$/.test(text) ? 'cnpj' : 'nif', text };
};

export const isSameDocument = (found: string | undefined, { text }: PersonalDocument): boolean =>
  found !== undefined && withoutPunctuation(found) === text;

/**
 * Whether a free text holds the document, with up to three signs of punctuation or spaces between its characters. Always false for a NIF, which may
 * be any short word.
 */
export const mentions = (text: string, { kind, text: document }: PersonalDocument): boolean =>
  kind !== 'nif' &&
  (text.match(/[0-9A-Za-z](?:[\p{P}\p{S}\s]{0,3}[0-9A-Za-z])*/gu) ?? []).some((word) =>
    withoutPunctuation(word).includes(document),
  );

/**
 * A mark of the document that only a holder of the master key can compare with a document: HMAC-SHA256. A plain hash of eleven digits could be
 * found by trying them all.
 */
export const documentMark = async ({ text }: PersonalDocument, keys: SealingKeys, clock: Clock): Promise<string> => {
  const { generation, key } = await keys.forSealing('live', revealsStream, clock.now());
  return `hmac-sha256:${generation}:${createHmac('sha256', key).update(`privacy|${text}`).digest('hex')}`;
};

const withoutPunctuation = (typed: string): string => typed.toUpperCase().replace(/[^0-9A-Z]/g, '');

/**
 * Whether an XML document of the national system names the person: as a CPF, CNPJ or NIF, or in a text that a person typed. Ids, access keys,
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

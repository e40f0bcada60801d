import { canonicalElements } from '../xml/canonical-text.js';
import { withXmlDocument } from '../xml/document.js';
import { gunzipBase64 } from '../xml/packing.js';
import { parseWellFormed, type XmlParts } from '../xml/parse.js';
import { schemaFaultsWithValues } from '../xml/schema.js';
import { verifyIn } from '../xml/verify.js';
import { type Refusal, refusal } from './refusal.js';
import { SCHEMAS, schemaSentence } from './schema-sentence.js';

/** A document that passed every check before the business rules. */
export type Received = {
  /** From the root's start tag to its end tag, exactly as sent. */
  text: string;
  root: XmlParts;
  signerDer: Buffer;
};

type Intake = { ok: true; received: Received } | { ok: false; refusal: Refusal; id?: string };

type Kind = {
  root: 'DPS' | 'pedRegEvento';
  signed: 'infDPS' | 'infPedReg';
  unsigned: 'E0717' | 'E1989';
  wrongSignature: 'E0714' | 'E1980';
};

export const DPS_KIND: Kind = { root: 'DPS', signed: 'infDPS', unsigned: 'E0717', wrongSignature: 'E0714' };

export const EVENT_KIND: Kind = {
  root: 'pedRegEvento',
  signed: 'infPedReg',
  unsigned: 'E1989',
  wrongSignature: 'E1980',
};

const MAX_DOCUMENT = 4 * 1024 * 1024;

/** The declaration that certainly passes, and any that names UTF-8, as real servers took it (docs/national-system.md#document-form). */
const SURE_DECLARATION = /^<\?xml version="1\.0" encoding="UTF-8"\?>/;
const ANY_DECLARATION =
  /^<\?xml\s+version\s*=\s*(?:"1\.0"|'1\.0')\s+encoding\s*=\s*(?:"utf-8"|'utf-8')(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>/i;

const PREFIX = /<\/?[A-Za-z_][\w.-]*:|<[^<>]*\sxmlns:/;

/** The checks before the business rules, in the observed order (docs/national-system.md#order-of-checks). The first failure is the answer. */
export const takeIn = (base64: string, kind: Kind, { strict }: { strict: boolean }): Intake => {
  const unpacked = gunzipBase64(base64, MAX_DOCUMENT);
  if (!unpacked.ok) return { ok: false, refusal: refusal('E1225') };
  const { bytes } = unpacked;
  const text = bytes.toString('utf8');
  const id = new RegExp(`<${kind.signed} Id="([0-9A-Z]{1,62})"`).exec(text)?.[1];
  const refuse = (code: Parameters<typeof refusal>[0], complement?: string): Intake => ({
    ok: false,
    refusal: refusal(code, complement),
    ...(id !== undefined && { id }),
  });
  if (!(strict ? SURE_DECLARATION : ANY_DECLARATION).test(text)) return refuse('E1229');
  if (PREFIX.test(text)) return refuse('E1228');
  const opened = withXmlDocument(bytes, (document): Intake => {
    const read = canonicalElements(document);
    // The canonical text is at hand for the signature, and a second parser would take a tenth of all work on a document.
    const root = read === undefined ? partsIn(bytes) : read.parts();
    if (root === undefined) return refuse('E1226');
    if (!Object.hasOwn(root, kind.root)) return refuse('E1242');
    const fault = schemaSentence(kind.root, schemaFaultsWithValues(SCHEMAS, kind.root, document), root);
    if (fault !== undefined) return refuse('E1235', fault);
    const signature = verifyIn(document, kind.signed, read);
    if (!signature.ok) return refuse(signature.reason === 'missing' ? kind.unsigned : kind.wrongSignature);
    const received = { text: rootOf(text, kind.root), root, signerDer: signature.certificateDer };
    return { ok: true, received };
  });
  return opened.ok ? opened.value : refuse('E1226');
};

const partsIn = (bytes: Buffer): XmlParts | undefined => {
  const parsed = parseWellFormed(bytes);
  return parsed.ok ? parsed.root : undefined;
};

/** The root element of a well-formed text. Comments and instructions around the root may contain text that looks like tags. */
const rootOf = (text: string, name: string): string => {
  const tagsOnly = text.replace(/<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>/gs, (section) => ' '.repeat(section.length));
  const end = tagsOnly.indexOf('>', tagsOnly.lastIndexOf(`</${name}`)) + 1;
  return text.slice(tagsOnly.indexOf(`<${name}`), end);
};

import type { XmlDocument } from 'libxml2-wasm';
import { sha256 } from '../lib/sha256.js';
import { EXCLUSIVE_FORM } from './algorithms.js';
import { canonicalElements, type TextElement } from './canonical-text.js';
import { type Elements, exactElements, onlyAt, withXmlDocument } from './document.js';
import { attributeAt, parseWellFormed, textAt } from './parse.js';
import { type SignatureFault, verifySigned } from './verify.js';

/** `signed` is the element that the authorizer signed. `embedded` is the path below the root to the element that we signed. */
export type AuthorizerDocumentKind = {
  root: 'NFSe' | 'evento';
  signed: 'infNFSe' | 'infEvento';
  embedded: readonly [string, string, string];
};

export const NOTE: AuthorizerDocumentKind = {
  root: 'NFSe',
  signed: 'infNFSe',
  embedded: ['infNFSe', 'DPS', 'infDPS'],
};
export const EVENT: AuthorizerDocumentKind = {
  root: 'evento',
  signed: 'infEvento',
  embedded: ['infEvento', 'pedRegEvento', 'infPedReg'],
};

type Values = {
  /** Text of the only element at a path from the root, `NFSe/infNFSe/nNFSe`. */
  text(path: string): string | undefined;
  /** Attribute of the only element at such a path. */
  attribute(path: string, name: string): string | undefined;
};

export type AuthorizerDocument = Values & {
  /** Digest of the embedded element, as we compute it; empty unless it occurs exactly once. */
  embeddedDigest: string;
  /** The digest that the signature of the embedded document names; empty without one. */
  claimedDigest: string;
  /** Why the authorizer's signature does not hold; undefined when it does, by whatever certificate (ADR 27). */
  signatureFault: SignatureFault | undefined;
};

/**
 * Reads a document of the authorizer: its values, the digest of our embedded document as we compute it, and whether its signature holds. Undefined
 * when it cannot be parsed. `sent` is the document that it should embed, from its first to its last tag. Throws only for faults of the libraries.
 *
 * The document is parsed once. Its canonical text settles the usual case: it embeds `sent` byte for byte, both digests are as they should be and the
 * signature holds. Everything else is read and judged a second time by libxml2 alone, element by element, which takes five times as long (ADR 40).
 */
export const readAuthorizerDocument = (
  xml: Buffer,
  kind: AuthorizerDocumentKind,
  sent?: Uint8Array,
): AuthorizerDocument | undefined => {
  const opened = withXmlDocument(xml, (document) => {
    const quick = sent === undefined || embeds(xml, sent) ? readByText(document, kind) : undefined;
    return quick !== undefined && isUsualCase(quick) ? quick : readExactly(document, xml, kind);
  });
  return opened.ok ? opened.value : undefined;
};

/**
 * Whether the bytes are there and their root is the only element that begins like it. In a well-formed document such an element can then be nothing
 * but these bytes, which bring their name space along.
 */
const embeds = (xml: Buffer, sent: Uint8Array): boolean => {
  const opening = sent.subarray(0, sent.indexOf(SPACE));
  const at = xml.indexOf(opening);
  return at >= 0 && xml.indexOf(opening, at + 1) < 0 && xml.subarray(at, at + sent.length).equals(sent);
};

const SPACE = 0x20;

const isUsualCase = ({ embeddedDigest, claimedDigest, signatureFault }: AuthorizerDocument): boolean =>
  signatureFault === undefined && embeddedDigest !== '' && embeddedDigest === claimedDigest;

const readByText = (document: XmlDocument, kind: AuthorizerDocumentKind): AuthorizerDocument | undefined => {
  const read = canonicalElements(document);
  return read && judged(read.elements, read.root, valuesOf(read.elements, read.root), kind);
};

const valuesOf = (elements: Elements<TextElement>, root: TextElement): Values => {
  const at = (path: string): TextElement | undefined => {
    const [first, ...others] = path.split('/');
    return first === root.name ? onlyAt(elements, root, others) : undefined;
  };
  return {
    text: (path) => {
      const found = at(path);
      return found?.children.length === 0 ? elements.text(found) : undefined;
    },
    attribute: (path, name) => {
      const found = at(path);
      return found === undefined ? undefined : elements.attribute(found, name);
    },
  };
};

const readExactly = (
  document: XmlDocument,
  xml: Buffer,
  kind: AuthorizerDocumentKind,
): AuthorizerDocument | undefined => {
  const parsed = parseWellFormed(xml);
  if (!parsed.ok) return undefined;
  const values: Values = {
    text: (path) => textAt(parsed.root, path),
    attribute: (path, name) => attributeAt(parsed.root, path, name),
  };
  return judged(exactElements, document.root, values, kind);
};

const judged = <E>(
  elements: Elements<E>,
  root: E,
  values: Values,
  kind: AuthorizerDocumentKind,
): AuthorizerDocument => {
  const verified = verifySigned(elements, root, kind.signed);
  const document = `${kind.root}/${kind.embedded[0]}/${kind.embedded[1]}`;
  return {
    ...values,
    embeddedDigest: embeddedDigestIn(elements, root, kind.embedded),
    claimedDigest: values.text(`${document}/Signature/SignedInfo/Reference/DigestValue`)?.replace(/\s/g, '') ?? '',
    signatureFault: verified.ok ? undefined : verified.reason,
  };
};

/** Our digest of the document that we sent inside the authorizer's; empty when it is absent or cannot be read. */
export const embeddedDigest = (xml: Buffer, signed: AuthorizerDocumentKind['signed']): string => {
  const { embedded } = signed === 'infNFSe' ? NOTE : EVENT;
  const opened = withXmlDocument(xml, ({ root }) => embeddedDigestIn(exactElements, root, embedded));
  return opened.ok ? opened.value : '';
};

/**
 * SHA-256 in base64 over the exclusive canonical form, whatever algorithms the document names (ADR 30). For the text of our signer both forms give
 * the same bytes. Only the exclusive form keeps them inside a document with further name spaces.
 */
const embeddedDigestIn = <E>(elements: Elements<E>, root: E, path: readonly string[]): string => {
  const found = onlyAt(elements, root, path);
  return found === undefined ? '' : sha256(elements.canonical(found, EXCLUSIVE_FORM), 'base64');
};

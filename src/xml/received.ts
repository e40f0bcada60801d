import { createHash } from 'node:crypto';
import type { XmlElement } from 'libxml2-wasm';
import { canonicalizations, EXCLUSIVE } from './algorithms.js';
import { onlyChild, withXmlDocument } from './document.js';
import { parseWellFormed, type XmlParts } from './parse.js';
import { type SignatureFault, verifySigned } from './verify.js';

/** `signed` is the element that the authorizer signed. `embedded` is the path below the root to the element that we signed. */
export type AuthorizerDocumentKind = { signed: 'infNFSe' | 'infEvento'; embedded: readonly string[] };

export const NOTE: AuthorizerDocumentKind = { signed: 'infNFSe', embedded: ['infNFSe', 'DPS', 'infDPS'] };
export const EVENT: AuthorizerDocumentKind = {
  signed: 'infEvento',
  embedded: ['infEvento', 'pedRegEvento', 'infPedReg'],
};

export type AuthorizerDocument = {
  root: XmlParts;
  /** `digestOfContent` of the embedded element; empty unless it occurs exactly once. */
  embeddedDigest: string;
  /** Why the authorizer's signature does not hold; undefined when it does, by whatever certificate (ADR 27). */
  signatureFault: SignatureFault | undefined;
};

/**
 * Reads a document of the authorizer: its parts, the digest of our embedded document as we compute it, and whether its signature holds. Undefined
 * when it cannot be parsed. Throws only for faults of the libraries.
 */
export const readAuthorizerDocument = (xml: Buffer, kind: AuthorizerDocumentKind): AuthorizerDocument | undefined => {
  const opened = withXmlDocument(xml, ({ root }) => {
    const verified = verifySigned(root, kind.signed);
    return {
      embeddedDigest: embeddedDigestIn(root, kind.embedded),
      signatureFault: verified.ok ? undefined : verified.reason,
    };
  });
  const parsed = opened.ok ? parseWellFormed(xml) : undefined;
  return opened.ok && parsed?.ok ? { root: parsed.root, ...opened.value } : undefined;
};

/** `digestOfContent` of our document inside the authorizer's; empty when it is absent or cannot be read. */
export const embeddedDigest = (xml: Buffer, signed: AuthorizerDocumentKind['signed']): string => {
  const { embedded } = signed === 'infNFSe' ? NOTE : EVENT;
  const opened = withXmlDocument(xml, ({ root }) => embeddedDigestIn(root, embedded));
  return opened.ok ? opened.value : '';
};

const embeddedDigestIn = (root: XmlElement, path: readonly string[]): string => {
  const found = path.reduce<XmlElement | undefined>((parent, name) => onlyChild(parent, name), root);
  return found === undefined ? '' : digestOfContent(found);
};

/**
 * SHA-256 in base64 over the exclusive canonical form, whatever algorithms the document names (ADR 30). For the text of our signer both forms give
 * the same bytes. Only the exclusive form keeps them inside a document with further name spaces.
 */
const digestOfContent = (element: XmlElement): string =>
  createHash('sha256').update(element.canonicalizeToString(canonicalizations[EXCLUSIVE])).digest('base64');

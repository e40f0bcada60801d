import { createHash } from 'node:crypto';
import type { XmlElement } from 'libxml2-wasm';
import { canonicalizations, EXCLUSIVE } from './algorithms.js';
import { onlyChild, withXmlDocument } from './document.js';
import { parseWellFormed, type XmlParts } from './parse.js';
import { type SignatureFault, verifySigned } from './verify.js';

/** Where a document of the authorizer holds ours: names below the root, the last of them the element that we signed. */
export type ReceivedKind = { signed: 'infNFSe' | 'infEvento'; embedded: readonly string[] };

export const NOTE: ReceivedKind = { signed: 'infNFSe', embedded: ['infNFSe', 'DPS', 'infDPS'] };
export const EVENT: ReceivedKind = { signed: 'infEvento', embedded: ['infEvento', 'pedRegEvento', 'infPedReg'] };

export type Received = {
  root: XmlParts;
  /** `digestOfContent` of the embedded element; empty when it does not stand there exactly once. */
  embeddedDigest: string;
  /** Why the authorizer's own signature does not hold; undefined when it does, by whatever certificate (ADR 27). */
  signatureFault: SignatureFault | undefined;
};

/**
 * Reads a document of the authorizer: its parts, the digest of ours inside of it as we compute it, and what its own signature is
 * worth. Undefined for what is no document. Throws only for faults of the libraries.
 */
export const readReceived = (xml: Buffer, kind: ReceivedKind): Received | undefined => {
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

/** `digestOfContent` of our document inside of the authorizer's; empty when there is none or what it is in cannot be read. */
export const embeddedDigest = (xml: Buffer, signed: ReceivedKind['signed']): string => {
  const { embedded } = signed === 'infNFSe' ? NOTE : EVENT;
  const opened = withXmlDocument(xml, ({ root }) => embeddedDigestIn(root, embedded));
  return opened.ok ? opened.value : '';
};

const embeddedDigestIn = (root: XmlElement, path: readonly string[]): string => {
  const found = path.reduce<XmlElement | undefined>((parent, name) => onlyChild(parent, name), root);
  return found === undefined ? '' : digestOfContent(found);
};

/**
 * SHA-256 in base64 over the exclusive canonical form, whatever algorithms the document names (ADR 30). For what our signer writes
 * the exclusive and the inclusive form are the same bytes; the exclusive one stays so inside of a document with further name spaces.
 */
const digestOfContent = (element: XmlElement): string =>
  createHash('sha256').update(element.canonicalizeToString(canonicalizations[EXCLUSIVE])).digest('base64');

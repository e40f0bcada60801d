import type { XmlElement } from 'libxml2-wasm';
import { onlyChild, withXmlDocument } from './document.js';
import { digestFaultIn, type SignatureFault, verifySignature } from './verify.js';

/**
 * False when a document of the authorizer is proven not to be what was signed: its signature is missing or does not hold
 * (design section 9). Whose certificate signed is not asked, it is none of ICP-Brasil (domain.md section 6); what an
 * algorithm of tomorrow says cannot be told, and counts as intact.
 */
export const isIntact = (xml: Buffer, signedElementName: 'infNFSe' | 'infEvento'): boolean => {
  const verified = verifySignature(xml, signedElementName);
  return verified.ok || CANNOT_BE_TOLD.has(verified.reason);
};

/**
 * Whether the signed document that `path` leads to from the root still has the content of its own digest: the DPS inside of
 * an NFS-e, the request inside of an event. False for one without a signature.
 */
export const embeddedDigestFits = (xml: Buffer, path: readonly string[], signedElementName: string): boolean => {
  const fault = withXmlDocument(xml, ({ root }) => faultInside(root, path, signedElementName));
  return fault.ok && (fault.value === undefined || CANNOT_BE_TOLD.has(fault.value));
};

const CANNOT_BE_TOLD = new Set<SignatureFault>(['algorithm', 'certificate']);

const faultInside = (root: XmlElement, path: readonly string[], signed: string): SignatureFault | undefined => {
  const found = path.reduce<XmlElement | undefined>((parent, name) => onlyChild(parent, name), root);
  return found === undefined ? 'structure' : digestFaultIn(found, signed);
};

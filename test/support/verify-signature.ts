import { withXmlDocument } from '../../src/xml/document.js';
import { verifyIn } from '../../src/xml/verify.js';

type Verified = ReturnType<typeof verifyIn> | { ok: false; reason: 'malformed' };

/** `verifyIn` for the bytes of a document. */
export const verifySignature = (xml: Buffer, signedElementName: string): Verified => {
  const opened = withXmlDocument(xml, (document) => verifyIn(document, signedElementName));
  return opened.ok ? opened.value : { ok: false, reason: 'malformed' };
};

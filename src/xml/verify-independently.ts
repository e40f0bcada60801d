import { SignedXml } from 'xml-crypto';
import { withXmlDocument } from './document.js';

type SecondOpinion =
  | { holds: true; digest: string; reference: string }
  /** Never quotes the document. */
  | { holds: false; reason: 'none' | 'not well-formed' | 'of another element' | 'does not hold' };

/**
 * Checks a document's outer signature with xml-crypto. The signed text must begin as an element `signedElement`; that this is a child of the root is
 * checked by `verifyIn` alone. The two share no code. This check takes some milliseconds a document. `digest` is base64, `reference` the Id. The
 * owner of the certificate is not checked.
 */
export const verifyIndependently = (xml: Buffer, signedElement: string): SecondOpinion => {
  // Checked first, because the parser of xml-crypto prints what it cannot read.
  const opened = withXmlDocument(xml, ({ root }) => root.name);
  if (!opened.ok) return { holds: false, reason: 'not well-formed' };
  const text = withLineEndsKept(xml.toString('utf8'));
  const signature = outerSignature(text, opened.value);
  if (signature === undefined) return { holds: false, reason: 'none' };
  const verifier = new SignedXml({ getCertFromKeyInfo: SignedXml.getCertFromKeyInfo });
  if (!holds(verifier, text, signature)) return { holds: false, reason: 'does not hold' };
  const [reference, ...others] = verifier.getReferences();
  const [signed = ''] = verifier.getSignedReferences();
  if (reference === undefined || others.length > 0 || !signed.startsWith(`<${signedElement} `)) {
    return { holds: false, reason: 'of another element' };
  }
  return { holds: true, digest: String(reference.digestValue), reference: reference.uri?.slice(1) ?? '' };
};

/**
 * The parser of xml-crypto reads U+0085 and U+2028 as line feeds, which only XML 1.1 does. A reference to such a character keeps the character, and
 * has the same canonical form. References mean nothing inside of CDATA, so such a section is parted there. What begins like
 * one in a comment may not end; without the `$` each such beginning would be searched to the end of the document.
 */
const withLineEndsKept = (xml: string): string =>
  xml.replace(/<!\[CDATA\[.*?(?:\]\]>|$)|[\u0085\u2028]/gs, (found) =>
    found.length === 1 ? referenceTo(found) : found.replace(LINE_END, (end) => `]]>${referenceTo(end)}<![CDATA[`),
  );

const LINE_END = /[\u0085\u2028]/g;

const referenceTo = (character: string): string => `&#${character.charCodeAt(0)};`;

/** The signature, when it is the last child of the root. */
const outerSignature = (text: string, root: string): string | undefined => {
  const end = text.lastIndexOf(`</${root}>`);
  const start = text.lastIndexOf('<Signature ', end);
  const signature = start === -1 ? '' : text.slice(start, end).trimEnd();
  return signature.endsWith('</Signature>') ? signature : undefined;
};

const holds = (verifier: SignedXml, text: string, signature: string): boolean => {
  try {
    verifier.loadSignature(signature);
    return verifier.checkSignature(text);
  } catch {
    return false;
  }
};

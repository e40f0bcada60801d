import { DSIG_NAMESPACE } from './algorithms.js';

/** A document of ours taken apart: what was signed, and the certificate (base64 of its DER) that it names. */
export type SignedParts = { unsigned: string; certificate: string };

/**
 * The inverse of `signDocument`, for the text that it writes: declaration, root, and `Signature` as the root's last child. No
 * text of a document can look like it, because `<` is escaped there. Undefined for any other shape.
 */
export const signedParts = (signed: string): SignedParts | undefined => {
  const root = /^<\?xml [^>]*\?>/.exec(signed)?.[0];
  const begin = signed.indexOf(`<Signature xmlns="${DSIG_NAMESPACE}">`);
  const end = signed.lastIndexOf(CLOSE);
  if (root === undefined || begin < 0 || end < begin) return undefined;
  const certificate = /<X509Certificate>([^<]+)<\/X509Certificate>/.exec(signed.slice(begin, end))?.[1];
  if (certificate === undefined) return undefined;
  return { unsigned: signed.slice(root.length, begin) + signed.slice(end + CLOSE.length), certificate };
};

const CLOSE = '</Signature>';

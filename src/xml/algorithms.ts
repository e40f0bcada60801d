import { XmlC14NMode } from 'libxml2-wasm';

export const DSIG_NAMESPACE = 'http://www.w3.org/2000/09/xmldsig#';

export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

export type Canonicalization = {
  mode: (typeof XmlC14NMode)[keyof typeof XmlC14NMode];
  withComments: boolean;
};

/** The form in which we compute our own digest (ADR 30). */
export const EXCLUSIVE_FORM: Canonicalization = { mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0, withComments: false };

/** The form that keeps the most of a document: every name space and every comment. */
export const FULL_FORM: Canonicalization = { mode: XmlC14NMode.XML_C14N_1_0, withComments: true };

/** C14N 1.0 and exclusive C14N, the only ones seen on the national system (docs/national-system.md#algorithms). */
export const canonicalizations: Readonly<Record<string, Canonicalization>> = {
  'http://www.w3.org/TR/2001/REC-xml-c14n-20010315': { mode: XmlC14NMode.XML_C14N_1_0, withComments: false },
  'http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments': FULL_FORM,
  'http://www.w3.org/2001/10/xml-exc-c14n#': EXCLUSIVE_FORM,
  'http://www.w3.org/2001/10/xml-exc-c14n#WithComments': {
    mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0,
    withComments: true,
  },
};

/**
 * The form of an element that a Reference names by its Id. XMLDSig selects such an element without its comments, so an algorithm with comments finds
 * none in it (docs/national-system.md#algorithms).
 */
export const referencedForm = (algorithm: string): Canonicalization | undefined => {
  const form = canonicalizations[algorithm];
  return form && { mode: form.mode, withComments: false };
};

/** Hash of node:crypto per signature algorithm, and the digest that goes with it. Every other algorithm is refused. */
export const signatureAlgorithms: Readonly<Record<string, { hash: 'sha1' | 'sha256'; digestMethod: string }>> = {
  'http://www.w3.org/2000/09/xmldsig#rsa-sha1': {
    hash: 'sha1',
    digestMethod: 'http://www.w3.org/2000/09/xmldsig#sha1',
  },
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': {
    hash: 'sha256',
    digestMethod: 'http://www.w3.org/2001/04/xmlenc#sha256',
  },
};

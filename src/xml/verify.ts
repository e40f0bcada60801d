import { createHash, verify, X509Certificate } from 'node:crypto';
import type { XmlElement } from 'libxml2-wasm';
import {
  type Canonicalization,
  canonicalizations,
  DSIG_NAMESPACE,
  ENVELOPED,
  signatureAlgorithms,
} from './algorithms.js';
import { childElements, childrenNamed, onlyChild, withXmlDocument } from './document.js';

/** Why a signature does not hold. Sefin answers `missing` with E0717 or E1989, the others with E0714 or E1980. */
export type SignatureFault =
  | 'malformed'
  | 'missing'
  | 'structure'
  | 'algorithm'
  | 'reference'
  | 'certificate'
  | 'digest'
  | 'signature_value';

type Verification =
  | { ok: true; certificateDer: Buffer; digest: string; reference: string }
  | { ok: false; reason: SignatureFault };

/**
 * Checks the enveloped signature of the root's child `signedElementName`, which the only Reference must name by its `Id`. Accepts C14N 1.0 and
 * exclusive, with or without comments, rsa-sha1 with sha1 and rsa-sha256 with sha256 (docs/national-system.md#algorithms). The owner of the
 * certificate is not checked. `digest` is base64, `reference` the Id.
 */
export const verifySignature = (xml: Buffer, signedElementName: string): Verification => {
  const opened = withXmlDocument(xml, (document) => verifySigned(document.root, signedElementName));
  return opened.ok ? opened.value : fault('malformed');
};

/** The same for the root of a document that is already open. */
export const verifySigned = (root: XmlElement, signedElementName: string): Verification => {
  const read = readSigned(root, signedElementName);
  if (typeof read === 'string') return fault(read);
  const { parts, algorithm, signedInfoForm } = read;
  if (!digestFits(read, read.contentForm)) return fault('digest');
  const certificate = readCertificate(parts.certificate);
  if (certificate === undefined) return fault('certificate');
  const signedInfo = Buffer.from(parts.signedInfo.canonicalizeToString(signedInfoForm), 'utf8');
  const value = Buffer.from(parts.signatureValue, 'base64');
  if (!verify(algorithm.hash, signedInfo, certificate.publicKey, value)) return fault('signature_value');
  const digest = Buffer.from(parts.digestValue, 'base64').toString('base64');
  return { ok: true, certificateDer: certificate.raw, digest, reference: parts.uri.slice(1) };
};

type Signed = {
  signed: XmlElement;
  parts: Parts;
  algorithm: { hash: 'sha1' | 'sha256' };
  signedInfoForm: Canonicalization;
  contentForm: Canonicalization;
};

/** The signature and the signed element of `parent`, or the fault that shows without computing a digest. */
const readSigned = (parent: XmlElement, signedElementName: string): Signed | SignatureFault => {
  const signatures = childrenNamed(parent, 'Signature').filter((child) => child.namespaceUri === DSIG_NAMESPACE);
  const [signature, ...others] = signatures;
  if (signature === undefined) return 'missing';
  const signed = onlyChild(parent, signedElementName);
  const parts = readParts(signature);
  if (others.length > 0 || signed === undefined || parts === undefined) return 'structure';
  const algorithm = signatureAlgorithms[parts.signatureMethod];
  const signedInfoForm = canonicalizations[parts.canonicalizationMethod];
  const contentForm = contentCanonicalization(parts.transforms);
  if (algorithm === undefined || signedInfoForm === undefined || contentForm === undefined) return 'algorithm';
  if (parts.digestMethod !== algorithm.digestMethod) return 'algorithm';
  const id = signed.attr('Id')?.value;
  if (id === undefined || parts.uri !== `#${id}`) return 'reference';
  return { signed, parts, algorithm, signedInfoForm, contentForm };
};

const digestFits = ({ signed, parts, algorithm }: Signed, form: Canonicalization): boolean =>
  createHash(algorithm.hash)
    .update(signed.canonicalizeToString(form))
    .digest()
    .equals(Buffer.from(parts.digestValue, 'base64'));

const fault = (reason: SignatureFault): Verification => ({ ok: false, reason });

type Parts = {
  signedInfo: XmlElement;
  canonicalizationMethod: string;
  signatureMethod: string;
  digestMethod: string;
  transforms: readonly string[];
  uri: string;
  digestValue: string;
  signatureValue: string;
  /** Base64 of the first certificate. */
  certificate: string;
};

/** Undefined unless each part occurs exactly once. A Transform with parameters is refused, because its meaning is unknown here. */
const readParts = (signature: XmlElement): Parts | undefined => {
  const signedInfo = onlyChild(signature, 'SignedInfo');
  const reference = onlyChild(signedInfo, 'Reference');
  const transforms = onlyChild(reference, 'Transforms');
  const value = onlyChild(signature, 'SignatureValue');
  const digestValue = onlyChild(reference, 'DigestValue');
  const x509 = onlyChild(onlyChild(signature, 'KeyInfo'), 'X509Data');
  const certificate = x509 === undefined ? undefined : childrenNamed(x509, 'X509Certificate')[0];
  if (signedInfo === undefined || reference === undefined || transforms === undefined) return undefined;
  if (value === undefined || digestValue === undefined || certificate === undefined) return undefined;
  const steps = childElements(transforms);
  if (steps.some((step) => childElements(step).length > 0)) return undefined;
  return {
    signedInfo,
    canonicalizationMethod: algorithmOf(onlyChild(signedInfo, 'CanonicalizationMethod')),
    signatureMethod: algorithmOf(onlyChild(signedInfo, 'SignatureMethod')),
    digestMethod: algorithmOf(onlyChild(reference, 'DigestMethod')),
    transforms: steps.map(algorithmOf),
    uri: reference.attr('URI')?.value ?? '',
    digestValue: digestValue.content,
    signatureValue: value.content,
    certificate: certificate.content,
  };
};

const algorithmOf = (element: XmlElement | undefined): string => element?.attr('Algorithm')?.value ?? '';

/** Enveloped, then at most one canonicalization; without one the standard's default is C14N 1.0. */
const contentCanonicalization = (transforms: readonly string[]): Canonicalization | undefined => {
  const [enveloped, canonicalization = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315', ...others] = transforms;
  return enveloped === ENVELOPED && others.length === 0 ? canonicalizations[canonicalization] : undefined;
};

const readCertificate = (base64: string): X509Certificate | undefined => {
  try {
    const certificate = new X509Certificate(Buffer.from(base64, 'base64'));
    return certificate.publicKey.asymmetricKeyType === 'rsa' ? certificate : undefined;
  } catch {
    return undefined;
  }
};

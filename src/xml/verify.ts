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
  const { signed, contentForm, signedInfo, signedInfoForm, hash, digest } = read;
  const computed = createHash(hash).update(signed.canonicalizeToString(contentForm)).digest();
  if (!computed.equals(digest)) return fault('digest');
  const certificate = readCertificate(read.certificate);
  if (certificate === undefined) return fault('certificate');
  const canonical = Buffer.from(signedInfo.canonicalizeToString(signedInfoForm), 'utf8');
  if (!verify(hash, canonical, certificate.publicKey, read.signatureValue)) return fault('signature_value');
  return { ok: true, certificateDer: certificate.raw, digest: digest.toString('base64'), reference: read.id };
};

type Signed = {
  signed: XmlElement;
  id: string;
  contentForm: Canonicalization;
  signedInfo: XmlElement;
  signedInfoForm: Canonicalization;
  hash: 'sha1' | 'sha256';
  digest: Buffer;
  signatureValue: Buffer;
  /** Base64 of the first certificate. */
  certificate: string;
};

/** The signature and the signed element of `parent`, each part of which must occur exactly once, or the fault that shows without computing a digest. */
const readSigned = (parent: XmlElement, signedElementName: string): Signed | SignatureFault => {
  const signatures = childrenNamed(parent, 'Signature').filter((child) => child.namespaceUri === DSIG_NAMESPACE);
  const [signature, ...others] = signatures;
  if (signature === undefined) return 'missing';
  const signed = onlyChild(parent, signedElementName);
  const signedInfo = onlyChild(signature, 'SignedInfo');
  const reference = onlyChild(signedInfo, 'Reference');
  const transforms = onlyChild(reference, 'Transforms');
  const digest = onlyChild(reference, 'DigestValue');
  const value = onlyChild(signature, 'SignatureValue');
  const x509 = onlyChild(onlyChild(signature, 'KeyInfo'), 'X509Data');
  const certificate = x509 === undefined ? undefined : childrenNamed(x509, 'X509Certificate')[0];
  if (others.length > 0 || signed === undefined || signedInfo === undefined || reference === undefined)
    return 'structure';
  if (transforms === undefined || digest === undefined || value === undefined || certificate === undefined)
    return 'structure';
  const steps = childElements(transforms);
  // A Transform with parameters is refused, because its meaning is unknown here.
  if (steps.some((step) => childElements(step).length > 0)) return 'structure';
  const algorithm = signatureAlgorithms[algorithmOf(onlyChild(signedInfo, 'SignatureMethod'))];
  const signedInfoForm = canonicalizations[algorithmOf(onlyChild(signedInfo, 'CanonicalizationMethod'))];
  const contentForm = contentCanonicalization(steps.map(algorithmOf));
  if (algorithm === undefined || signedInfoForm === undefined || contentForm === undefined) return 'algorithm';
  if (algorithmOf(onlyChild(reference, 'DigestMethod')) !== algorithm.digestMethod) return 'algorithm';
  const id = signed.attr('Id')?.value;
  if (id === undefined || reference.attr('URI')?.value !== `#${id}`) return 'reference';
  return {
    signed,
    id,
    contentForm,
    signedInfo,
    signedInfoForm,
    hash: algorithm.hash,
    digest: Buffer.from(digest.content, 'base64'),
    signatureValue: Buffer.from(value.content, 'base64'),
    certificate: certificate.content,
  };
};

const fault = (reason: SignatureFault): Verification => ({ ok: false, reason });

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

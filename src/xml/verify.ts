import { createHash, type KeyObject, verify, X509Certificate } from 'node:crypto';
import type { XmlDocument } from 'libxml2-wasm';
import { LRUCache } from 'lru-cache';
import { sha256 } from '../lib/sha256.js';
import {
  type Canonicalization,
  canonicalizations,
  DSIG_NAMESPACE,
  ENVELOPED,
  referencedForm,
  signatureAlgorithms,
} from './algorithms.js';
import { type CanonicalDocument, canonicalElements } from './canonical-text.js';
import { childrenNamed, type Elements, exactElements, onlyChild } from './document.js';

/** Why a signature does not hold. Sefin answers `missing` with E0717 or E1989, the others with E0714 or E1980. */
export type SignatureFault =
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
 * certificate is not checked. `digest` is base64, `reference` the Id. The canonical text (`read`) can only say that the signature holds; libxml2 judges
 * all else (ADR 40).
 */
export const verifyIn = (
  document: XmlDocument,
  signedElementName: string,
  read: CanonicalDocument | undefined = canonicalElements(document),
): Verification => {
  const quick = read && verifySigned(read.elements, read.root, signedElementName);
  return quick?.ok === true ? quick : verifySigned(exactElements, document.root, signedElementName);
};

/** The same for the root of a document that is already open. */
export const verifySigned = <E>(elements: Elements<E>, root: E, signedElementName: string): Verification => {
  const read = readSigned(elements, root, signedElementName);
  if (typeof read === 'string') return fault(read);
  const { signed, contentForm, signedInfo, signedInfoForm, hash, digest } = read;
  const computed = createHash(hash).update(elements.canonical(signed, contentForm)).digest();
  if (!computed.equals(digest)) return fault('digest');
  const certificate = readCertificate(read.certificate);
  if (certificate === undefined) return fault('certificate');
  const canonical = elements.canonical(signedInfo, signedInfoForm);
  if (!verify(hash, canonical, certificate.publicKey, read.signatureValue)) return fault('signature_value');
  return { ok: true, certificateDer: certificate.der, digest: digest.toString('base64'), reference: read.id };
};

type Signed<E> = {
  signed: E;
  id: string;
  contentForm: Canonicalization;
  signedInfo: E;
  signedInfoForm: Canonicalization;
  hash: 'sha1' | 'sha256';
  digest: Buffer;
  signatureValue: Buffer;
  /** Base64 of the first certificate. */
  certificate: string;
};

/** The signature and the signed element of `parent`, each part of which must occur exactly once, or the fault that shows without computing a digest. */
const readSigned = <E>(elements: Elements<E>, parent: E, signedElementName: string): Signed<E> | SignatureFault => {
  const only = (element: E | undefined, name: string): E | undefined => onlyChild(elements, element, name);
  const algorithmOf = (element: E | undefined): string =>
    (element === undefined ? undefined : elements.attribute(element, 'Algorithm')) ?? '';
  const signatures = childrenNamed(elements, parent, 'Signature').filter(
    (child) => elements.namespaceUri(child) === DSIG_NAMESPACE,
  );
  const [signature, ...others] = signatures;
  if (signature === undefined) return 'missing';
  const signed = only(parent, signedElementName);
  const signedInfo = only(signature, 'SignedInfo');
  const reference = only(signedInfo, 'Reference');
  const transforms = only(reference, 'Transforms');
  const digest = only(reference, 'DigestValue');
  const value = only(signature, 'SignatureValue');
  const x509 = only(only(signature, 'KeyInfo'), 'X509Data');
  const certificate = x509 === undefined ? undefined : childrenNamed(elements, x509, 'X509Certificate')[0];
  if (others.length > 0 || signed === undefined || signedInfo === undefined || reference === undefined)
    return 'structure';
  if (transforms === undefined || digest === undefined || value === undefined || certificate === undefined)
    return 'structure';
  const steps = elements.children(transforms);
  // A Transform with parameters is refused, because its meaning is unknown here.
  if (steps.some((step) => elements.children(step).length > 0)) return 'structure';
  const algorithm = signatureAlgorithms[algorithmOf(only(signedInfo, 'SignatureMethod'))];
  const signedInfoForm = canonicalizations[algorithmOf(only(signedInfo, 'CanonicalizationMethod'))];
  const contentForm = contentCanonicalization(steps.map(algorithmOf));
  if (algorithm === undefined || signedInfoForm === undefined || contentForm === undefined) return 'algorithm';
  if (algorithmOf(only(reference, 'DigestMethod')) !== algorithm.digestMethod) return 'algorithm';
  const id = elements.attribute(signed, 'Id');
  if (id === undefined || elements.attribute(reference, 'URI') !== `#${id}`) return 'reference';
  return {
    signed,
    id,
    contentForm,
    signedInfo,
    signedInfoForm,
    hash: algorithm.hash,
    digest: Buffer.from(elements.text(digest), 'base64'),
    signatureValue: Buffer.from(elements.text(value), 'base64'),
    certificate: elements.text(certificate),
  };
};

const fault = (reason: SignatureFault): Verification => ({ ok: false, reason });

/** Enveloped, then at most one canonicalization; without one the standard's default is C14N 1.0. */
const contentCanonicalization = (transforms: readonly string[]): Canonicalization | undefined => {
  const [enveloped, canonicalization = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315', ...others] = transforms;
  return enveloped === ENVELOPED && others.length === 0 ? referencedForm(canonicalization) : undefined;
};

/** A certificate with an RSA key. */
type Certificate = { der: Buffer; publicKey: KeyObject };

/** By fingerprint, because parsing takes five times as long as checking a signature and few certificates sign. */
const certificates = new LRUCache<string, Certificate>({ max: 256 });

const readCertificate = (base64: string): Certificate | undefined => {
  const der = Buffer.from(base64, 'base64');
  const fingerprint = sha256(der, 'base64');
  const known = certificates.get(fingerprint);
  if (known !== undefined) return known;
  const certificate = parseCertificate(der);
  if (certificate !== undefined) certificates.set(fingerprint, certificate);
  return certificate;
};

const parseCertificate = (der: Buffer): Certificate | undefined => {
  try {
    const { raw, publicKey } = new X509Certificate(der);
    return publicKey.asymmetricKeyType === 'rsa' ? { der: raw, publicKey } : undefined;
  } catch {
    return undefined;
  }
};

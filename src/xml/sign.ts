import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { KEPT_CERTIFICATES } from '../lib/kept-certificates.js';
import { sha256 } from '../lib/sha256.js';
import { DSIG_NAMESPACE, ENVELOPED, referencedForm } from './algorithms.js';
import { canonicalElements } from './canonical-text.js';
import { type Elements, exactElements, onlyChild, withXmlDocument } from './document.js';

/**
 * `c14n` is for a taxpayer's documents, whose text must be canonical by construction (ADR 4). `exc-c14n-with-comments` is for documents of Sefin.
 * Their digest needs a real canonicalization, because an NFS-e embeds a foreign DPS verbatim.
 */
type SigningAlgorithm = 'c14n' | 'exc-c14n-with-comments';

export type SigningOptions = {
  /** Local name of the root's child that gets signed: `infDPS`, `infNFSe`, `infPedReg`, `infEvento`. */
  signedElementName: string;
  /** Its `Id`. */
  id: string;
  privateKeyPem: string;
  /** The leaf; only its first certificate is put into `KeyInfo`. */
  certificatePem: string;
  algorithm: SigningAlgorithm;
};

type Signed = { bytes: Buffer; digest: string; signatureMark: string };

/**
 * Enveloped XMLDSig, RSA-SHA256 over SHA-256: declaration, then the document with `Signature` as the root's last child
 * (docs/national-system.md#signature-shape). `unsigned` starts with its root, which declares the default namespace as its first attribute, and
 * whose child begins `<name Id="...">`. `digest` is the DigestValue. Throws when the text has another shape.
 */
export const signDocument = (unsigned: string, options: SigningOptions): Signed => {
  const { signedInfo, key, around } = prepare(unsigned, options);
  return around(sign('sha256', signedInfo, key));
};

/** The same with the RSA operation in libuv's pool, which spares the event loop 0.3 ms with 2048 bits and 5 ms with 4096 (ADR 17). */
export const signDocumentOffLoop = async (unsigned: string, options: SigningOptions): Promise<Signed> => {
  const { signedInfo, key, around } = prepare(unsigned, options);
  return around(await signOffLoop(signedInfo, key));
};

const signOffLoop = (signedInfo: Buffer, key: KeyObject): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign('sha256', signedInfo, key, (error, value) => (error === null ? resolve(value) : reject(error)));
  });

type Prepared = { signedInfo: Buffer; key: KeyObject; around(signatureValue: Buffer): Signed };

/** Everything but the RSA operation. */
const prepare = (unsigned: string, options: SigningOptions): Prepared => {
  const digest = sha256(canonicalContent(unsigned, options), 'base64');
  const { declaration, opening, transforms } = FRAMES[options.algorithm];
  const signedInfo = `${opening}<Reference URI="#${options.id}">${transforms}<DigestValue>${digest}</DigestValue></Reference></SignedInfo>`;
  // Inside Signature the namespace is inherited; only the digested form of SignedInfo has it.
  const inner = signedInfo.replace(` xmlns="${DSIG_NAMESPACE}"`, '');
  const keyInfo = `<KeyInfo><X509Data><X509Certificate>${leafBase64(options.certificatePem)}</X509Certificate></X509Data></KeyInfo>`;
  const rootEnd = unsigned.lastIndexOf('</');
  const around = (signatureValue: Buffer): Signed => {
    const base64 = signatureValue.toString('base64');
    const value = `<SignatureValue>${base64}</SignatureValue>`;
    const block = `<Signature xmlns="${DSIG_NAMESPACE}">${inner}${value}${keyInfo}</Signature>`;
    const signed = `${declaration}${unsigned.slice(0, rootEnd)}${block}${unsigned.slice(rootEnd)}`;
    return { bytes: Buffer.from(signed, 'utf8'), digest, signatureMark: signatureMark(digest, base64) };
  };
  return { signedInfo: Buffer.from(signedInfo), key: keys.memo(options.privateKeyPem), around };
};

const algorithm = (name: string, uri: string): string => `<${name} Algorithm="${uri}"></${name}>`;

/** What is the same in every document of one kind, written once. */
const frame = (encoding: string, canonicalization: string) => ({
  declaration: `<?xml version="1.0" encoding="${encoding}"?>`,
  canonicalization,
  opening:
    `<SignedInfo xmlns="${DSIG_NAMESPACE}">${algorithm('CanonicalizationMethod', canonicalization)}` +
    algorithm('SignatureMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'),
  transforms:
    `<Transforms>${algorithm('Transform', ENVELOPED)}${algorithm('Transform', canonicalization)}</Transforms>` +
    algorithm('DigestMethod', 'http://www.w3.org/2001/04/xmlenc#sha256'),
});

/** Sefin writes the encoding in small letters. */
const FRAMES = {
  c14n: frame('UTF-8', 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'),
  'exc-c14n-with-comments': frame('utf-8', 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments'),
} as const satisfies Record<SigningAlgorithm, unknown>;

/** The canonical form of the root's child with the name and the `Id`. Throws unless there is exactly one such child. */
const canonicalContent = (unsigned: string, options: SigningOptions): string | Buffer => {
  const canonical = options.algorithm === 'c14n' ? inheritNamespace(unsigned, options) : computed(unsigned, options);
  if (canonical === undefined)
    throw new Error(`the document has no element ${options.signedElementName} of that Id below its root`);
  return canonical;
};

/** The digest covers the signed child with the inherited `xmlns` written on it. */
const inheritNamespace = (unsigned: string, { signedElementName, id }: SigningOptions): string | undefined => {
  const namespace = /^<[A-Za-z]+ xmlns="([^"]+)"/.exec(unsigned)?.[1];
  const open = `<${signedElementName} Id="${id}">`;
  const close = `</${signedElementName}>`;
  const start = unsigned.indexOf(open);
  const end = unsigned.lastIndexOf(close);
  if (namespace === undefined || start < 0 || end < start) return undefined;
  const rest = unsigned.slice(start + open.length, end + close.length);
  return `<${signedElementName} xmlns="${namespace}" Id="${id}">${rest}`;
};

const computed = (unsigned: string, { signedElementName, id, algorithm }: SigningOptions): Buffer | undefined => {
  const form = referencedForm(FRAMES[algorithm].canonicalization);
  if (form === undefined) return undefined;
  const childIn = <E>(elements: Elements<E>, root: E): Buffer | undefined => {
    const child = onlyChild(elements, root, signedElementName);
    return child !== undefined && elements.attribute(child, 'Id') === id ? elements.canonical(child, form) : undefined;
  };
  const opened = withXmlDocument(Buffer.from(unsigned, 'utf8'), (document) => {
    const read = canonicalElements(document);
    return read === undefined ? childIn(exactElements, document.root) : childIn(read.elements, read.root);
  });
  return opened.ok ? opened.value : undefined;
};

/** The first certificate of the PEM text, as `KeyInfo` holds it. Throws for text without a certificate. */
export const leafBase64 = (pem: string): string => leaves.memo(pem);

/** Parsed keys and certificates by PEM, because parsing a key costs as much as a signature. */
const keys = new LRUCache<string, KeyObject>({ max: KEPT_CERTIFICATES, memoMethod: (pem) => createPrivateKey(pem) });
const leaves = new LRUCache<string, string>({
  max: KEPT_CERTIFICATES,
  memoMethod: (pem) => {
    const body = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/.exec(pem)?.[1];
    if (body === undefined) throw new Error('the certificate is not PEM text');
    return body.replace(/\s/g, '');
  },
});

/**
 * SHA-256 (hex) over digest and signature of a signed document: it identifies the document without its content. The mark cannot confirm a guessed
 * content, because the signature needs the private key (ADR 32).
 */
export const signatureMark = (digest: string, signatureValue: string): string =>
  sha256(JSON.stringify([digest, signatureValue]), 'hex');

/** The parts of a document of ours: the text that was signed, its digest, and the certificate that it names (base64 of its DER). */
type SignedParts = { unsigned: string; digest: string; certificate: string };

/**
 * The inverse of `signDocument`, for the text that it writes: declaration, root, and `Signature` as the root's last child. Texts inside a document
 * cannot imitate it, because `<` is escaped there. Undefined for any other shape.
 */
export const signedParts = (signed: string): SignedParts | undefined => {
  const root = /^<\?xml [^>]*\?>/.exec(signed)?.[0];
  const begin = signed.indexOf(`<Signature xmlns="${DSIG_NAMESPACE}">`);
  const end = signed.lastIndexOf(CLOSE);
  if (root === undefined || begin < 0 || end < begin) return undefined;
  const block = signed.slice(begin, end);
  const digest = /<DigestValue>([^<]+)<\/DigestValue>/.exec(block)?.[1];
  const certificate = /<X509Certificate>([^<]+)<\/X509Certificate>/.exec(block)?.[1];
  if (digest === undefined || certificate === undefined) return undefined;
  return { unsigned: signed.slice(root.length, begin) + signed.slice(end + CLOSE.length), digest, certificate };
};

const CLOSE = '</Signature>';

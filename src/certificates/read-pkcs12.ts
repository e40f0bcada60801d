import { createPrivateKey, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import type { Instant } from '../domain/common/time.js';
import type { KeyFault } from '../domain/company/events.js';
import { hasMalformedCnpj, leafFacts } from './holder.js';
import { keyFault } from './key-fault.js';
import { asksForTooManyRounds } from './pkcs12-rounds.js';

/** An A1 certificate as its file holds it; the vault adds an id. */
type OpenedPkcs12 = {
  /** PKCS#8 PEM. */
  privateKeyPem: string;
  certificatePem: string;
  chainPem: readonly string[];
  cnpj: string;
  notBefore: Instant;
  notAfter: Instant;
  /** SHA-256 of the DER leaf, hex. */
  fingerprint: string;
};

export type Pkcs12Fault =
  | 'wrong_password'
  | 'not_pkcs12'
  /** Sealed with an algorithm that no authority of ICP-Brasil uses. */
  | 'unsupported_algorithm'
  /** Nothing of it was parsed. */
  | 'too_large'
  /** The file says how long the password's key derivations take, which could be days. */
  | 'too_many_rounds'
  | 'no_private_key'
  /** The layout's signature takes RSA keys only. */
  | 'not_rsa'
  | 'no_certificate'
  | KeyFault
  | 'unreadable_validity'
  | 'no_cnpj'
  /** The certificate names a CNPJ, but not in the form of ICP-Brasil. */
  | 'malformed_cnpj';

type ReadPkcs12 = { ok: true; certificate: OpenedPkcs12 } | { ok: false; reason: Pkcs12Fault };

/** An A1 certificate with its chain takes some 10 KiB. */
const MOST_BYTES = 1_048_576;

/**
 * Opens a PFX with node-forge, which also reads the RC2 and 3DES files of Brazilian authorities (OpenSSL 3 refuses those). The leaf is the
 * certificate of the private key; the others are the chain.
 */
export const readPkcs12 = (pfx: Buffer, password: string): ReadPkcs12 => {
  if (pfx.length > MOST_BYTES) return { ok: false, reason: 'too_large' };
  const opened = open(pfx, password);
  if (typeof opened === 'string') return { ok: false, reason: opened };
  const found = keyOf(opened);
  if (!('key' in found)) return { ok: false, reason: found.reason };
  const { key } = found;
  const certificates = bagsOf(opened, forge.pki.oids.certBag).flatMap(pemOf);
  const leaf = certificates.find((pem) => isOfKey(pem, key));
  if (leaf === undefined) return { ok: false, reason: 'no_certificate' };
  const fault = keyFault({ privateKeyPem: key, certificatePem: leaf });
  if (fault !== undefined) return { ok: false, reason: fault };
  const said = leafFacts(leaf);
  if (said === undefined) return { ok: false, reason: 'unreadable_validity' };
  const { cnpj, ...facts } = said;
  if (cnpj === undefined) return { ok: false, reason: hasMalformedCnpj(leaf) ? 'malformed_cnpj' : 'no_cnpj' };
  const chainPem = certificates.filter((pem) => pem !== leaf);
  return { ok: true, certificate: { privateKeyPem: key, certificatePem: leaf, chainPem, cnpj, ...facts } };
};

type Opened = forge.pkcs12.Pkcs12Pfx | 'not_pkcs12' | 'wrong_password' | 'unsupported_algorithm' | 'too_many_rounds';

const open = (pfx: Buffer, password: string): Opened => {
  const opened = attempt(() => openBounded(parsed(pfx), password));
  // One in 256 wrong texts opens to bytes that look like no PKCS#12.
  const mayOpenOtherwise = opened === 'wrong_password' || opened === 'not_pkcs12';
  if (!mayOpenOtherwise || ASCII.test(password)) return opened;
  // Modern encryption takes the password as UTF-8 and the MAC takes it as UTF-16; node-forge would use one text for both. Without the MAC, a key
  // that opens and belongs to the certificate shows that nothing was changed.
  const again = attempt(() => openBounded(withoutMac(parsed(pfx)), utf8Bytes(password)));
  return typeof again === 'string' && again !== 'too_many_rounds' ? opened : again;
};

const openBounded = (pfx: forge.asn1.Asn1, password: string): Opened =>
  asksForTooManyRounds(pfx, password) ? 'too_many_rounds' : forge.pkcs12.pkcs12FromAsn1(pfx, false, password);

const ASCII = /^[ -~]*$/;

const parsed = (pfx: Buffer): forge.asn1.Asn1 => forge.asn1.fromDer(pfx.toString('binary'));

const withoutMac = (pfx: forge.asn1.Asn1): forge.asn1.Asn1 =>
  Array.isArray(pfx.value) ? { ...pfx, value: pfx.value.slice(0, 2) } : pfx;

const utf8Bytes = (text: string): string => Buffer.from(text, 'utf8').toString('binary');

const attempt = (read: () => Opened): Opened => {
  try {
    return read();
  } catch (error) {
    // node-forge has no error codes: only the wording separates a failed MAC or decryption from a broken file.
    const said = error instanceof Error ? error.message : '';
    if (/unsupported/i.test(said)) return 'unsupported_algorithm';
    return /password|MAC|decrypt/i.test(said) ? 'wrong_password' : 'not_pkcs12';
  }
};

const bagsOf = (pfx: forge.pkcs12.Pkcs12Pfx, bagType: string | undefined): readonly forge.pkcs12.Bag[] =>
  bagType === undefined ? [] : (pfx.getBags({ bagType })[bagType] ?? []);

/** The private key as PKCS#8 PEM. */
const keyOf = (pfx: forge.pkcs12.Pkcs12Pfx): { key: string } | { reason: 'no_private_key' | 'not_rsa' } => {
  const bags = [...bagsOf(pfx, forge.pki.oids.pkcs8ShroudedKeyBag), ...bagsOf(pfx, forge.pki.oids.keyBag)];
  const key = bags.find((bag) => bag.key)?.key;
  // node-forge opens the bag of a key that is not RSA and leaves the key unread.
  if (!key) return { reason: bags.length === 0 ? 'no_private_key' : 'not_rsa' };
  const opened = createPrivateKey(forge.pki.privateKeyToPem(key));
  return { key: opened.export({ type: 'pkcs8', format: 'pem' }).toString() };
};

/** node-forge reads neither a certificate with an elliptic key nor one signed by such a key. Their bytes are kept as they are. */
const pemOf = ({ cert, asn1 }: forge.pkcs12.Bag): readonly string[] => {
  if (cert) return [forge.pki.certificateToPem(cert).replaceAll('\r\n', '\n')];
  try {
    return [new X509Certificate(Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary')).toString()];
  } catch {
    return [];
  }
};

const isOfKey = (pem: string, key: string): boolean => {
  try {
    return new X509Certificate(pem).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
};

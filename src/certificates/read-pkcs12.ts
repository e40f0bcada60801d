import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import type { CertificateFacts, KeyFault } from '../domain/company/events.js';
import { hasMalformedCnpj, leafFacts } from './holder.js';
import { keyFault } from './key-fault.js';
import { asksForTooManyRounds } from './pkcs12-rounds.js';

/** An A1 certificate as its file holds it; the vault adds an id. */
type OpenedPkcs12 = Omit<CertificateFacts, 'certificateId'> & {
  /** PKCS#8 PEM. */
  privateKeyPem: string;
  certificatePem: string;
  chainPem: readonly string[];
  cnpj: string;
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

/** `others`: further certificates with their keys. Stores of browsers and of Windows export several at once. */
type ReadPkcs12 =
  | { ok: true; certificate: OpenedPkcs12; others: readonly OpenedPkcs12[] }
  | { ok: false; reason: Pkcs12Fault };

/** An A1 certificate with its chain takes some 10 KiB. */
const MOST_BYTES = 1_048_576;

/** Keys of a file that are looked at, because each of them is compared with each certificate. */
const MOST_KEYS = 20;

/**
 * Opens a PFX with node-forge, which also reads the RC2 and 3DES files of Brazilian authorities (OpenSSL 3 refuses those). A leaf is the certificate
 * of a private key; the certificates without a key are the chain. The first leaf tells what is wrong where no leaf can be used.
 */
export const readPkcs12 = (pfx: Buffer, password: string): ReadPkcs12 => {
  if (pfx.length > MOST_BYTES) return { ok: false, reason: 'too_large' };
  const opened = open(pfx, password);
  if (typeof opened === 'string') return { ok: false, reason: opened };
  const found = keysOf(opened);
  if (!Array.isArray(found)) return { ok: false, reason: found.reason };
  const certificates = [...new Set(bagsOf(opened, forge.pki.oids.certBag).flatMap(pemOf))];
  const pairs = found.flatMap((key) =>
    certificates
      .filter((pem) => isOfKey(pem, key))
      .map((pem) => ({ privateKeyPem: pemOfKey(key), certificatePem: pem })),
  );
  const chainPem = certificates.filter((pem) => pairs.every(({ certificatePem }) => certificatePem !== pem));
  const read = pairs.map((pair) => leafOf(pair, chainPem));
  const [certificate, ...others] = read.flatMap((one) => (typeof one === 'string' ? [] : [one]));
  if (certificate !== undefined) return { ok: true, certificate, others };
  const [reason = 'no_certificate'] = read.flatMap((one) => (typeof one === 'string' ? [one] : []));
  return { ok: false, reason };
};

type Pair = Pick<OpenedPkcs12, 'privateKeyPem' | 'certificatePem'>;

const leafOf = (pair: Pair, chainPem: readonly string[]): OpenedPkcs12 | Pkcs12Fault => {
  const fault = keyFault(pair);
  if (fault !== undefined) return fault;
  const said = leafFacts(pair.certificatePem);
  if (said === undefined) return 'unreadable_validity';
  const { cnpj, ...facts } = said;
  if (cnpj === undefined) return hasMalformedCnpj(pair.certificatePem) ? 'malformed_cnpj' : 'no_cnpj';
  return { ...pair, chainPem, cnpj, ...facts };
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

const keysOf = (pfx: forge.pkcs12.Pkcs12Pfx): KeyObject[] | { reason: 'no_private_key' | 'not_rsa' } => {
  const bags = [...bagsOf(pfx, forge.pki.oids.pkcs8ShroudedKeyBag), ...bagsOf(pfx, forge.pki.oids.keyBag)];
  // node-forge opens the bag of a key that is not RSA and leaves the key unread.
  const keys = bags.flatMap(({ key }) => (key ? [forge.pki.privateKeyToPem(key)] : []));
  if (keys.length === 0) return { reason: bags.length === 0 ? 'no_private_key' : 'not_rsa' };
  return [...new Set(keys)].slice(0, MOST_KEYS).map((pem) => createPrivateKey(pem));
};

const pemOfKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** node-forge reads neither a certificate with an elliptic key nor one signed by such a key. Their bytes are kept as they are. */
const pemOf = ({ cert, asn1 }: forge.pkcs12.Bag): readonly string[] => {
  if (cert) return [forge.pki.certificateToPem(cert).replaceAll('\r\n', '\n')];
  try {
    return [new X509Certificate(Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary')).toString()];
  } catch {
    return [];
  }
};

const isOfKey = (pem: string, key: KeyObject): boolean => {
  try {
    return new X509Certificate(pem).checkPrivateKey(key);
  } catch {
    return false;
  }
};

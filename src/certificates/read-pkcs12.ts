import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { type Instant, instant } from '../domain/shared/time.js';
import { cnpjOf } from './holder.js';

/** Everything of an A1 certificate that the file itself can tell: the vault adds an id. */
export type OpenedPkcs12 = {
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

export type Pkcs12Fault = 'wrong_password' | 'not_pkcs12' | 'no_private_key' | 'no_certificate' | 'no_cnpj';

export type ReadPkcs12 = { ok: true; certificate: OpenedPkcs12 } | { ok: false; reason: Pkcs12Fault };

/**
 * Opens a PFX with node-forge, which reads the modern files and the legacy RC2 and 3DES ones of Brazilian authorities
 * (OpenSSL 3 refuses those). The leaf is the certificate of the private key; the others are the chain.
 */
export const readPkcs12 = (pfx: Buffer, password: string): ReadPkcs12 => {
  const opened = open(pfx, password);
  if (typeof opened === 'string') return { ok: false, reason: opened };
  const key = keyOf(opened);
  if (key === undefined) return { ok: false, reason: 'no_private_key' };
  const certificates = bagsOf(opened, forge.pki.oids.certBag).flatMap(({ cert }) => (cert ? [pemOf(cert)] : []));
  const leaf = certificates.find((pem) => new X509Certificate(pem).checkPrivateKey(createPrivateKey(key)));
  if (leaf === undefined) return { ok: false, reason: 'no_certificate' };
  const { raw, validFrom, validTo } = new X509Certificate(leaf);
  const cnpj = cnpjOf(raw);
  if (cnpj === undefined) return { ok: false, reason: 'no_cnpj' };
  return {
    ok: true,
    certificate: {
      privateKeyPem: key,
      certificatePem: leaf,
      chainPem: certificates.filter((pem) => pem !== leaf),
      cnpj,
      notBefore: instant(Date.parse(validFrom)),
      notAfter: instant(Date.parse(validTo)),
      fingerprint: createHash('sha256').update(raw).digest('hex'),
    },
  };
};

const open = (pfx: Buffer, password: string): forge.pkcs12.Pkcs12Pfx | 'not_pkcs12' | 'wrong_password' => {
  try {
    return forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(pfx.toString('binary')), false, password);
  } catch (error) {
    // node-forge has no error codes: a failed MAC or decryption is told from a broken file by its wording only.
    const decrypting = error instanceof Error && /password|MAC|decrypt/i.test(error.message);
    return decrypting ? 'wrong_password' : 'not_pkcs12';
  }
};

const bagsOf = (pfx: forge.pkcs12.Pkcs12Pfx, bagType: string | undefined): readonly forge.pkcs12.Bag[] =>
  bagType === undefined ? [] : (pfx.getBags({ bagType })[bagType] ?? []);

const keyOf = (pfx: forge.pkcs12.Pkcs12Pfx): string | undefined => {
  const bags = [...bagsOf(pfx, forge.pki.oids.pkcs8ShroudedKeyBag), ...bagsOf(pfx, forge.pki.oids.keyBag)];
  const key = bags.find((bag) => bag.key)?.key;
  if (!key) return undefined;
  return createPrivateKey(forge.pki.privateKeyToPem(key)).export({ type: 'pkcs8', format: 'pem' }).toString();
};

const pemOf = (certificate: forge.pki.Certificate): string =>
  forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');

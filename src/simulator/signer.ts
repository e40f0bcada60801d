import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isOfPerson } from '../certificates/holder.js';
import { type ProfileFault, profileFaults } from '../certificates/profile.js';
import { epochMs, type Instant } from '../domain/common/time.js';

/**
 * The fault of a signing certificate: `invalid` is untrusted, expired or not valid yet (E0715, E1983); `nonstandard` is an authority's, has
 * a key usage without signing, or lacks the extension with CNPJ or CPF (E0716, E1986).
 */
type SignerFault = 'invalid' | 'nonstandard';

export type SignerCheck = (certificateDer: Buffer, now: Instant) => SignerFault | undefined;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Judges signing certificates by the authorities whose clients are accepted (PEM, several per text). A signature carries only its leaf
 * certificate, so the authorities must include the direct issuer of the leaf.
 */
export const createSignerCheck = (authoritiesPem: readonly string[]): SignerCheck => {
  const authorities = authoritiesPem
    .flatMap((text) => text.match(CERTIFICATE) ?? [])
    .map((pem) => new X509Certificate(pem));
  const judge = (der: Buffer) => {
    const certificate = new X509Certificate(der);
    const isTrusted = authorities.some(
      (issuer) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey),
    );
    const fault: SignerFault | undefined = !isStandard(certificate) ? 'nonstandard' : isTrusted ? undefined : 'invalid';
    return { fault, validFrom: Date.parse(certificate.validFrom), validTo: Date.parse(certificate.validTo) };
  };
  // A company signs thousands of documents with one certificate.
  const judged = new LRUCache<string, ReturnType<typeof judge>, Buffer>({
    max: 1024,
    memoMethod: (_key, _stale, { context: der }) => judge(der),
  });
  return (der, now) => {
    const { fault, validFrom, validTo } = judged.memo(der.toString('base64'), { context: der });
    const at = epochMs(now);
    return fault ?? (at < validFrom || at > validTo ? 'invalid' : undefined);
  };
};

/** The authentication of clients is asked of the channel alone (E1200). */
const OF_SIGNER: readonly ProfileFault[] = ['authority', 'no_signature', 'cnpj_in_name'];

const isStandard = (certificate: X509Certificate): boolean =>
  profileFaults(certificate.toString()).every(
    (fault) => !OF_SIGNER.includes(fault) || (fault === 'cnpj_in_name' && isOfPerson(certificate.raw)),
  );

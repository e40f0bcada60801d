import { X509Certificate } from 'node:crypto';
import { extensionOf, tbsOf } from './der.js';
import { cnpjInAltName } from './holder.js';

/** What a certificate says of itself that the national system refuses (docs/national-system.md#certificates). */
export type ProfileFault = 'authority' | 'no_signature' | 'no_client' | 'cnpj_in_name';

/**
 * The faults of a leaf (PEM) for signature and channel. A usage that the certificate leaves out counts as allowed: only what it says is judged. None
 * for bytes that cannot be read.
 */
export const profileFaults = (pem: string): readonly ProfileFault[] => {
  try {
    const { raw, keyUsage: extendedUsage } = new X509Certificate(pem);
    const tbs = tbsOf(raw);
    const constraints = extensionOf(tbs, BASIC_CONSTRAINTS);
    const usage = extensionOf(tbs, KEY_USAGE);
    const faults: Readonly<Record<ProfileFault, boolean>> = {
      authority: constraints !== undefined && isOfAuthority(constraints),
      no_signature: usage !== undefined && (bitsOf(usage) & SIGNATURE_BITS) !== SIGNATURE_BITS,
      no_client: extensionOf(tbs, EXTENDED_KEY_USAGE) !== undefined && !extendedUsage?.includes(CLIENT_AUTH),
      cnpj_in_name: cnpjInAltName(tbs) === undefined,
    };
    return FAULTS.filter((fault) => faults[fault]);
  } catch {
    return [];
  }
};

const FAULTS: readonly ProfileFault[] = ['authority', 'no_signature', 'no_client', 'cnpj_in_name'];

const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** The first two bits: digitalSignature and nonRepudiation. */
const SIGNATURE_BITS = 0b1100_0000;

/** The first eight bits of a BIT STRING: they follow its tag, its length and the number of unused bits. */
const bitsOf = (der: string): number => der.charCodeAt(3);

/**
 * Whether the sequence begins with the BOOLEAN `cA` and it is true. The `ca` of Node is false for an authority whose key usage does not let it sign
 * certificates, and the national system refuses that one too (E0716, E1200).
 */
const isOfAuthority = (der: string): boolean => der.charCodeAt(2) === BOOLEAN && der.charCodeAt(4) !== 0;

const BOOLEAN = 1;

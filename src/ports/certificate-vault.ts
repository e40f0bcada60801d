import type { CompanyId } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';
import type { SigningIdentity } from './documents.js';

/** A company's A1 certificate, opened: the leaf, its key, and the rest of the chain for the TLS channel. */
export type CompanyCertificate = SigningIdentity & {
  certificateId: string;
  chainPem: readonly string[];
  /** Of the holder, from otherName 2.16.76.1.3.3. */
  cnpj: string;
  notBefore: Instant;
  notAfter: Instant;
  /** SHA-256 of the DER leaf, hex. */
  fingerprint: string;
};

/** Encrypted rows in R under the master key. Opening is audited by the caller, which knows the actor. */
export type CertificateVault = {
  put(companyId: CompanyId, certificate: CompanyCertificate): Promise<void>;
  open(companyId: CompanyId, certificateId: string): Promise<CompanyCertificate | undefined>;
  /** Whether it is there, without opening it. The log remembers a certificate that was lost with R. */
  holds(companyId: CompanyId, certificateId: string): Promise<boolean>;
};

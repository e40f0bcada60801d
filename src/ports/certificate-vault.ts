import type { CompanyId } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { CertificateFacts } from '../domain/company/events.js';
import type { SigningIdentity } from './documents.js';

/** A company's A1 certificate, opened: the leaf, its key, and the rest of the chain for the TLS channel. */
export type CompanyCertificate = SigningIdentity &
  CertificateFacts & {
    chainPem: readonly string[];
    /** CNPJ of the holder, from otherName 2.16.76.1.3.3. */
    cnpj: string;
  };

/** A row of the vault, unopened. */
export type CertificateRow = { certificateId: string; putAt: Instant };

/** Certificates as rows of the database, encrypted under the master key. The caller, which knows the actor, records each opening. */
export type CertificateVault = {
  put(companyId: CompanyId, certificate: CompanyCertificate): Promise<void>;
  open(companyId: CompanyId, certificateId: string): Promise<CompanyCertificate | undefined>;
  /** Whether the row exists, without opening it. The log still names a certificate whose row was lost with the database. */
  holds(companyId: CompanyId, certificateId: string): Promise<boolean>;
  /** The company's rows, each with the instant of its `put`. */
  rowsOf(companyId: CompanyId): Promise<readonly CertificateRow[]>;
  /** No change for an id without a row. */
  remove(companyId: CompanyId, certificateIds: readonly string[]): Promise<void>;
};

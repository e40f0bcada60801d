import type { CompanyId, Mode } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';

export type TaxRegime = 'mei' | 'simples' | 'normal';
export type SimplesAssessment = 'all' | 'federal_only' | 'none';
export type Scope = 'nfse:read' | 'nfse:write';

export type DpsStart = { series: string; nextNumber: number };

/** The company file (interface.md), checked. */
export type Registration = {
  cnpj: CompanyId;
  legalName: string;
  city: string;
  state: string;
  taxRegime: TaxRegime;
  simplesAssessment: SimplesAssessment;
  /** `regEspTrib`: 0 none, 1 to 6 and 9 as the layout has them. */
  specialRegime: number;
  /** Percent with two places; absent where the regime shows none. */
  approximateTaxPercent?: string;
  municipalRegistration: { live?: string; test?: string };
  dps: Record<Mode, DpsStart>;
  /** In the order of the file; exactly one is the main one. */
  activities: readonly { cnae: string; isMain: boolean }[];
  automaticIssuance: boolean;
  issuerConfigured: boolean;
  issuerApproved: boolean;
};

export type CertificateFacts = {
  certificateId: string;
  notBefore: Instant;
  notAfter: Instant;
  /** SHA-256 of the leaf, hex. */
  fingerprint: string;
};

/** What happened to one company: the storage format, with the same promise as the invoice's events. */
export type CompanyEvent =
  | { type: 'CompanyRegistered'; data: { registration: Registration; at: Instant } }
  | { type: 'CompanyChanged'; data: { registration: Registration; at: Instant } }
  | { type: 'CompanyEnabled'; data: { at: Instant } }
  | { type: 'CompanyDisabled'; data: { at: Instant } }
  | {
      type: 'ApiKeyCreated';
      /** SHA-256 of the whole key, hex; the key itself is shown once and kept nowhere. */
      data: { keyId: string; companyId: CompanyId; mode: Mode; scopes: readonly Scope[]; keyHash: string; at: Instant };
    }
  | { type: 'ApiKeyRevoked'; data: { keyId: string; at: Instant } }
  | { type: 'CertificateStored'; data: CertificateFacts & { at: Instant } }
  /** A process decrypted the certificate; the actor is in the metadata. */
  | { type: 'CertificateOpened'; data: { certificateId: string; at: Instant } };

export type CompanyEventType = CompanyEvent['type'];

/** Company facts are the public registry's; nothing here is personal data of a customer. */
export const companyPersonalFields = {
  CompanyRegistered: [],
  CompanyChanged: [],
  CompanyEnabled: [],
  CompanyDisabled: [],
  ApiKeyCreated: [],
  ApiKeyRevoked: [],
  CertificateStored: [],
  CertificateOpened: [],
} as const satisfies Record<CompanyEventType, readonly string[]>;

export const companyEventTypes = Object.keys(companyPersonalFields) as CompanyEventType[];

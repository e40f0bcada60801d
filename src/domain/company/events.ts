import type { EventOf } from '../common/event-of.js';
import type { CompanyId, Mode } from '../common/ids.js';
import { type FiscalDate, type InForce, type Instant, isInForce } from '../common/time.js';

export type TaxRegime = 'mei' | 'simples' | 'normal';
export type SimplesAssessment = 'all' | 'federal_only' | 'none';
export type Scope = 'nfse:read' | 'nfse:write';

type DpsStart = { series: string; nextNumber: number };

/** What a company file says about IBS and CBS. */
export type IbsCbsOfCompany = {
  /** False: no document declares them, whatever the law says. */
  declare: boolean;
  /** `cClassTrib` of services for customers abroad. */
  exportClassTrib?: string;
  /** Choices for a national service code, which precede the catalogue's. */
  services: readonly { serviceCode: string; indOp?: string; classTrib?: string; classTribRegular?: string }[];
};

/**
 * Approximate taxes of Lei 12.741 for competences from `from` until `until`, both days included, of one service or of all: percent with two places,
 * divided by whom they go to.
 */
export type ApproximateTaxes = InForce & {
  serviceCode?: string;
} & Record<'federal' | 'state' | 'municipal', string>;

/** The checked content of a company file. */
export type Registration = {
  cnpj: CompanyId;
  legalName: string;
  city: string;
  state: string;
  taxRegime: TaxRegime;
  simplesAssessment: SimplesAssessment;
  /** `regEspTrib` of the layout: 0 none, else 1 to 6 or 9. */
  specialRegime: number;
  /** Percent with two places; absent where the regime shows none. */
  approximateTaxPercent?: string;
  /** Precedes the single percentage where a row covers service and competence. No two rows of a service cover one day. */
  approximateTaxes?: readonly ApproximateTaxes[];
  municipalRegistration: { live?: string; test?: string };
  dps: Record<Mode, DpsStart>;
  /** The `cTribMun` that the company chose for its services among those of its municipality. */
  municipalCodes?: readonly { serviceCode: string; municipalCode: string }[];
  /** In the order of the file; exactly one is the main one. */
  activities: readonly { cnae: string; isMain: boolean }[];
  ibsCbs?: IbsCbsOfCompany;
  automaticIssuance: boolean;
  issuerConfigured: boolean;
  issuerApproved: boolean;
};

/** The row for a service and a competence. A row of the service precedes a row of all services. */
export const approximateTaxesAt = (
  { approximateTaxes = [] }: Pick<Registration, 'approximateTaxes'>,
  serviceCode: string,
  competence: FiscalDate,
): ApproximateTaxes | undefined => {
  const inForce = approximateTaxes.filter((row) => isInForce(row, competence));
  return inForce.find((row) => row.serviceCode === serviceCode) ?? inForce.find((row) => row.serviceCode === undefined);
};

/** The company's choice for a service; undefined without one. */
export const chosenMunicipalCode = ({ municipalCodes }: Registration, serviceCode: string): string | undefined =>
  municipalCodes?.find((one) => one.serviceCode === serviceCode)?.municipalCode;

export type CertificateFacts = {
  certificateId: string;
  notBefore: Instant;
  notAfter: Instant;
  /** SHA-256 of the DER leaf, hex. */
  fingerprint: string;
};

/** Why a stored certificate cannot be used: its RSA key has another size or exponent than the service takes, or does not sign. */
export type KeyFault = 'key_size' | 'key_exponent' | 'key_broken';

/** Events of one company: storage format: types and optional fields may be added, never renamed. */
type CompanyEvents = {
  CompanyRegistered: { registration: Registration; at: Instant };
  CompanyChanged: { registration: Registration; at: Instant };
  CompanyEnabled: { at: Instant };
  CompanyDisabled: { at: Instant };
  /** `keyHash`: SHA-256 of the whole key, hex. The key itself is shown once and stored nowhere. */
  ApiKeyCreated: {
    keyId: string;
    companyId: CompanyId;
    mode: Mode;
    scopes: readonly Scope[];
    keyHash: string;
    at: Instant;
  };
  ApiKeyRevoked: { keyId: string; at: Instant };
  CertificateStored: CertificateFacts & { at: Instant };
  /** A process decrypted the certificate, and does not use one that is `unusable`; the actor is in the metadata. */
  CertificateOpened: { certificateId: string; unusable?: KeyFault; at: Instant };
  /** Certificates that were taken out of the database, the company's current one perhaps among them. */
  CertificatesRemoved: { certificateIds: readonly string[]; at: Instant };
};

export type CompanyEvent = EventOf<CompanyEvents>;

/** Company facts come from the public registry and hold no personal data of a customer. */
export const companyPersonalFields = {
  CompanyRegistered: [],
  CompanyChanged: [],
  CompanyEnabled: [],
  CompanyDisabled: [],
  ApiKeyCreated: [],
  ApiKeyRevoked: [],
  CertificateStored: [],
  CertificateOpened: [],
  CertificatesRemoved: [],
} as const satisfies Record<keyof CompanyEvents, readonly string[]>;

export const companyEventTypes = Object.keys(companyPersonalFields) as CompanyEvent['type'][];

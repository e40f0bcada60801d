import type { Cents } from '../../domain/common/money.js';
import type { FiscalDate } from '../../domain/common/time.js';

export type TaxRegime = 'mei' | 'simples' | 'normal';

/** The forms of a deduction from the base of the ISSQN: `pDR`, `vDR`, a list of documents. */
export type DeductionKind = 'percent' | 'value' | 'documents';

/** A municipal benefit (`nBM`, 14 digits). `percent` is the highest reduction by percentage. */
export type Benefit = {
  number: string;
  kind: 'exemption' | 'rate' | 'value' | 'percent';
  percent?: string;
  until?: FiscalDate;
  /** The `cTribNac` that have the benefit; default: all. */
  serviceCodes?: readonly string[];
  /** The providers that have the benefit; default: all. */
  cnpjs?: readonly string[];
  /** Only for providers of the municipality itself. */
  localOnly?: boolean;
};

/** Parameters of one municipality. The rules that need an absent member do not apply. */
export type Municipality = {
  /** Default true: the convênio is active. */
  adherent?: boolean;
  adherentSince?: FiscalDate;
  /** Default true: the municipality issues through the national emitter. */
  nationalEmitter?: boolean;
  /** Default false. */
  registrationRequired?: boolean;
  /** Default false. */
  customerRequired?: boolean;
  /** Days after authorization in which a note can be cancelled; default: no limit. */
  cancelDays?: number;
  cancelMaxAmountInCents?: Cents;
  /** Days after authorization in which a note can be substituted. */
  substitutionDays?: number;
  /** A note without customer cannot be substituted. */
  substitutionNeedsCustomer?: boolean;
  /** A substitution must keep the customer. */
  substitutionKeepsCustomer?: boolean;
  /** The administered `cTribNac`; default: all that have no code in `municipalCodes`. */
  serviceCodes?: readonly string[];
  /** The administered `cTribNac` with `cTribMun`, nine digits. */
  municipalCodes?: readonly string[];
  /** The `cTribNac` without incidence here. */
  nonIncidentCodes?: readonly string[];
  /** The `regEspTrib` admitted here, other than 0. */
  specialRegimes?: readonly string[];
  deductions?: readonly DeductionKind[];
  benefits?: readonly Benefit[];
  /** CPFs that may withhold the ISSQN. */
  withholdingCpfs?: readonly string[];
  /** Postal codes of the municipality, or their first digits. */
  postalCodes?: readonly string[];
  /** Percent with two places, default `5.00`. */
  rate?: string;
};

/** Whether the national code alone is enough. Where a municipality has municipal codes for the service, only the nine digits are administered. */
export const isNationalCodeEnough = (municipality: Municipality, serviceCode: string): boolean =>
  municipality.serviceCodes?.includes(serviceCode) ?? !hasMunicipalCodes(municipality, serviceCode);

/** Whether the municipality has municipal codes for the service. */
export const hasMunicipalCodes = ({ municipalCodes }: Municipality, serviceCode: string): boolean =>
  municipalCodes?.some((code) => code.startsWith(serviceCode)) === true;

/** An entry of CNC, the national registry of municipal registrations. */
type Cnc = {
  municipalRegistration: string;
  since?: FiscalDate;
  /** First day on which the company may use the national emitters. */
  emitterSince?: FiscalDate;
  /** Default true. */
  authorized?: boolean;
  /** First day on which the entry is no longer active. */
  inactiveSince?: FiscalDate;
};

/** `cnc` undefined or null: CNC holds no registration. Null also counts where the municipality demands a registration (`takesAnyRegistration`). */
export type Company = {
  cnc?: Cnc | null;
  regime?: TaxRegime;
  /** Default true: the CNPJ is in the federal register. */
  registered?: boolean;
  /** Day of the inscription. */
  since?: FiscalDate;
  /** IBGE code of the address in the federal register. */
  municipality?: string;
};

export type Person = {
  /** Default true: the CPF is in the federal register. */
  registered?: boolean;
  since?: FiscalDate;
};

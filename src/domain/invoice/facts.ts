import type { Cents } from '../shared/money.js';

/** This file is part of the storage format (`events.ts`): fields are added, optional ones, never renamed. */
export type ForeignAddress = {
  street: string;
  number: string;
  district: string;
  city: string;
  state: string;
  postalCode: string;
  /** ISO 3166-1 alpha-2, never `BR`. */
  country: string;
};

/** In Brazil, as the tax registry has it; never the caller's. */
export type DomesticAddress = {
  street: string;
  number: string;
  complement?: string;
  district: string;
  /** IBGE code. */
  municipality: string;
  /** 8 digits. */
  postalCode: string;
};

/**
 * As recorded: for a CNPJ the name is the tax registry's, not the caller's (reading 51). The address is there where the
 * document needs it, and is no part of what the API shows.
 */
export type Customer =
  | { type: 'br'; document?: string; name?: string; address?: DomesticAddress }
  | {
      type: 'foreign';
      name?: string;
      taxId?: string;
      taxIdAbsenceReason?: 'exempt' | 'not_required';
      address: ForeignAddress;
    };

export type ForeignAmount = { currency: string; amountInCents: Cents };

/** The catalogue line that the invoice uses, with what the tables said of its service on acceptance. */
export type ServiceLine = {
  cnae: string;
  serviceCode: string;
  nbs?: string;
  municipalCode?: string;
  /** Where LC 116, article 3, makes the ISSQN due; absent for the provider's establishment. */
  issqnDue?: 'where_performed';
  /** Operation and classification that annex VIII leaves no choice about (ADR 16). */
  ibsCbs?: IbsCbs;
};

/** `cIndOp` and `cClassTrib`, six digits each. */
export type IbsCbs = { cIndOp: string; cClassTrib: string };

/** The company facts of the moment of acceptance: with them the DPS is a pure function (design section 6, 2). */
export type IssuerFacts = {
  municipality: string;
  taxRegime: 'mei' | 'simples' | 'normal';
  simplesAssessment: 'all' | 'federal_only' | 'none';
  specialRegime: number;
  /** Percent with two places, `6.00`. */
  approximateTaxPercent?: string;
  municipalRegistration?: string;
};

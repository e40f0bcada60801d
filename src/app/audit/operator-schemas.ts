import * as v from 'valibot';
import type { DomainEvent } from '../event-store/event-types.js';
import type { invoiceSchemas } from './invoice-schemas.js';
import {
  companyId,
  counted,
  date,
  flag,
  hash,
  instant,
  maybe,
  mode,
  place,
  sealed,
  shape,
  text,
  uuid,
  whole,
} from './schema-parts.js';

const atOnly = shape({ at: instant });
const dpsStart = shape({ series: text, nextNumber: counted });

const registered = shape({
  registration: shape({
    cnpj: companyId,
    legalName: text,
    city: text,
    state: text,
    taxRegime: v.picklist(['mei', 'simples', 'normal']),
    simplesAssessment: v.picklist(['all', 'federal_only', 'none']),
    specialRegime: whole,
    approximateTaxPercent: maybe(text),
    municipalRegistration: shape({ live: maybe(text), test: maybe(text) }),
    dps: shape({ live: dpsStart, test: dpsStart }),
    activities: v.array(shape({ cnae: text, isMain: flag })),
    automaticIssuance: flag,
    issuerConfigured: flag,
    issuerApproved: flag,
  }),
  at: instant,
});

const anchoredPart = shape({ root: hash, streams: whole, events: whole });

/** `data` of every event that is not of an invoice, as it is stored: personal fields sealed. */
export const operatorSchemas = {
  CompanyRegistered: registered,
  CompanyChanged: registered,
  CompanyEnabled: atOnly,
  CompanyDisabled: atOnly,
  ApiKeyCreated: shape({
    ...{ keyId: text, companyId, mode, scopes: v.array(v.picklist(['nfse:read', 'nfse:write'])), keyHash: text },
    at: instant,
  }),
  ApiKeyRevoked: shape({ keyId: text, at: instant }),
  CertificateStored: shape({
    ...{ certificateId: text, notBefore: instant, notAfter: instant, fingerprint: text },
    at: instant,
  }),
  CertificateOpened: shape({ certificateId: text, at: instant }),
  DpsNumberAllocated: shape({ number: counted, nextNumber: counted, invoiceId: uuid, at: instant }),
  DpsNumberMoved: shape({ nextNumber: counted, at: instant }),
  DpsSeriesBlocked: shape({ nextNumber: counted, number: counted, invoiceId: uuid, at: instant }),
  ApiSwitchedOff: shape({ reason: maybe(text), at: instant }),
  ApiSwitchedOn: atOnly,
  CatalogLinesReplaced: shape({
    cnae: text,
    lines: v.array(
      shape({
        ...{ cnae: text, serviceCode: text, nbs: maybe(text), description: text },
        ...{ isDefault: flag, isBlocked: flag, municipalCode: maybe(text), incidence: maybe(text) },
      }),
    ),
    at: instant,
  }),
  MunicipalityDemandsSet: shape({
    ...{ ibge: text, requiresCustomer: maybe(flag), requiresRegistration: maybe(flag) },
    at: instant,
  }),
  RegistryEntryPut: shape({ cnpj: companyId, legalName: sealed, address: maybe(sealed), at: instant }),
  LogAnchored: shape({
    ...{ day: date, after: v.union([v.literal(''), place]), upTo: place, live: anchoredPart, test: anchoredPart },
    at: instant,
  }),
  PersonalDataRevealed: shape({ command: text, subject: text, at: instant }),
  ParkedWorkRetried: shape({ subject: text, at: instant }),
  ProjectionRebuildOrdered: shape({ projection: text, at: instant }),
  MasterKeyGivenUp: shape({ generation: text, reason: text, at: instant }),
  ConsoleSignedIn: shape({ session: text, peer: text, at: instant }),
  ConsoleSignInRefused: shape({ operator: text, peer: text, at: instant }),
  ConsoleSignedOut: shape({ session: text, peer: text, at: instant }),
} as const satisfies Record<Exclude<DomainEvent['type'], keyof typeof invoiceSchemas>, v.GenericSchema>;

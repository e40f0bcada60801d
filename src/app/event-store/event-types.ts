import { type CatalogEvent, catalogPersonalFields } from '../../domain/catalog/events.js';
import { type CompanyEvent, companyPersonalFields } from '../../domain/company/events.js';
import { type DpsNumberEvent, dpsNumberPersonalFields } from '../../domain/dps-number/dps-number.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { invoicePersonalFields } from '../../domain/invoice/personal-fields.js';
import { type AuditEvent, auditPersonalFields } from '../../domain/log/audit-events.js';
import { type MunicipalityEvent, municipalityPersonalFields } from '../../domain/municipality/demands.js';
import { type RegistryEvent, registryPersonalFields } from '../../domain/registry/entry.js';
import { type SystemEvent, systemPersonalFields } from '../../domain/system/events.js';
import type { JsonObject } from '../../ports/event-log.js';

/** Every event that this version writes. */
export type DomainEvent =
  | InvoiceEvent
  | CompanyEvent
  | DpsNumberEvent
  | SystemEvent
  | CatalogEvent
  | MunicipalityEvent
  | RegistryEvent
  | AuditEvent;

export type EventTypeDefinition = {
  /** Version written now; a log may hold older ones, which `upcasts` lift one step each. */
  version: number;
  personal: readonly string[];
  /** Index 0 lifts version 1 to 2. */
  upcasts: readonly ((data: JsonObject) => JsonObject)[];
};

const personalFields: Record<DomainEvent['type'], readonly string[]> = {
  ...invoicePersonalFields,
  ...companyPersonalFields,
  ...dpsNumberPersonalFields,
  ...systemPersonalFields,
  ...catalogPersonalFields,
  ...municipalityPersonalFields,
  ...registryPersonalFields,
  ...auditPersonalFields,
};

/** The hashes and digests of version 1 can be guessed back; what reads them tells both kinds apart by their text (ADR 32). */
const keyed: EventTypeDefinition['upcasts'] = [(data) => data];

const upcasts: Partial<Record<DomainEvent['type'], EventTypeDefinition['upcasts']>> = {
  InvoiceAccepted: keyed,
  IssuanceAttempted: keyed,
  NumberConflictFound: keyed,
  CancellationAttempted: keyed,
};

export const eventTypeDefinitions: ReadonlyMap<string, EventTypeDefinition> = new Map(
  Object.entries(personalFields).map(([type, personal]) => {
    const steps = upcasts[type as DomainEvent['type']] ?? [];
    return [type, { version: steps.length + 1, personal, upcasts: steps }];
  }),
);

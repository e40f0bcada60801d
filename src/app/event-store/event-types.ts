import { type AuditEvent, auditPersonalFields } from '../../domain/audit/events.js';
import { type CatalogEvent, catalogPersonalFields } from '../../domain/catalog/events.js';
import { type CompanyEvent, companyPersonalFields } from '../../domain/company/events.js';
import { type DpsNumberEvent, dpsNumberPersonalFields } from '../../domain/dps-number/events.js';
import {
  type InvoiceEvent,
  invoicePersonalFields,
  invoiceUpcasts,
  type ReadInvoiceEvent,
} from '../../domain/invoice/events.js';
import { type MunicipalityEvent, municipalityPersonalFields } from '../../domain/municipality/events.js';
import { type RegistryEvent, registryPersonalFields } from '../../domain/registry/events.js';
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

/** An event as a reader gets it: of an invoice without the personal fields whose key is gone. */
export type ReadEvent<E extends DomainEvent> = E extends InvoiceEvent
  ? Extract<ReadInvoiceEvent, { type: E['type'] }>
  : E;

type EventTypeDefinition = {
  /** Version written now; a log may hold older ones, which `upcasts` convert one step each. */
  version: number;
  personal: readonly string[];
  /** Index 0 converts version 1 to 2. */
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

const upcasts: Partial<Record<DomainEvent['type'], EventTypeDefinition['upcasts']>> = invoiceUpcasts;

export const eventTypeDefinitions: ReadonlyMap<string, EventTypeDefinition> = new Map(
  Object.entries(personalFields).map(([type, personal]) => {
    const steps = upcasts[type as DomainEvent['type']] ?? [];
    return [type, { version: steps.length + 1, personal, upcasts: steps }];
  }),
);

import { catalogEventTypes } from '../src/domain/catalog/events.js';
import { companyEventTypes } from '../src/domain/company/events.js';
import { dpsNumberEventTypes } from '../src/domain/dps-number/dps-number.js';
import { invoiceEventTypes } from '../src/domain/invoice/personal-fields.js';
import { auditEventTypes } from '../src/domain/log/audit-events.js';
import { municipalityEventTypes } from '../src/domain/municipality/demands.js';
import { registryEventTypes } from '../src/domain/registry/entry.js';
import { systemPersonalFields } from '../src/domain/system/events.js';
import { catalogLines } from './catalog-lines/index.js';
import { companies } from './companies/index.js';
import { credentials } from './credentials/index.js';
import { deadlines } from './deadlines/index.js';
import { invoices } from './invoices/index.js';
import { municipalities } from './municipalities/index.js';
import { system } from './system/index.js';
import { taxRegistry } from './tax-registry/index.js';
import type { Projection } from './types.js';

export type Registry = {
  projections: readonly Projection[];
  /** Event types that no read model is made of, on purpose. */
  ignored: readonly string[];
};

/** Allocation reads the last event of its own stream, and auditors read the log itself; no read model is needed. */
export const registry: Registry = {
  projections: [invoices, deadlines, companies, credentials, system, catalogLines, municipalities, taxRegistry],
  ignored: [...dpsNumberEventTypes, ...auditEventTypes],
};

/** What operators change must hold at once: their commands apply these rows themselves (design section 7). */
export const operatorProjections: readonly Projection[] = [
  companies,
  credentials,
  system,
  catalogLines,
  municipalities,
  taxRegistry,
];

const ALL_EVENT_TYPES: readonly string[] = [
  ...invoiceEventTypes,
  ...companyEventTypes,
  ...dpsNumberEventTypes,
  ...Object.keys(systemPersonalFields),
  ...catalogEventTypes,
  ...municipalityEventTypes,
  ...registryEventTypes,
  ...auditEventTypes,
];

/** Thrown at start-up, with everything that is wrong in one line. */
export class RegistryIncomplete extends Error {
  override readonly name = 'RegistryIncomplete';
}

/** Every projection has one name and one handler per event type of its streams, and no event type was forgotten. */
export const checkRegistry = ({ projections, ignored }: Registry, eventTypes = ALL_EVENT_TYPES): void => {
  const faults = [
    ...repeated(projections.map(({ name }) => name)).map((name) => `two projections are named ${name}`),
    ...projections.flatMap(faultsOf),
  ];
  const read = new Set(projections.flatMap((projection) => projection.eventTypes));
  for (const type of eventTypes) {
    if (!read.has(type) && !ignored.includes(type)) faults.push(`no projection reads ${type} and none ignores it`);
    if (read.has(type) && ignored.includes(type)) faults.push(`${type} is read by a projection and ignored by all`);
  }
  if (faults.length > 0) throw new RegistryIncomplete(`projections: ${faults.join('; ')}`);
};

const faultsOf = ({ name, eventTypes, handlers, columns, keyColumn, indexes }: Projection): string[] => [
  ...eventTypes.filter((type) => !Object.hasOwn(handlers, type)).map((type) => `${name} has no handler for ${type}`),
  ...Object.keys(handlers)
    .filter((type) => !eventTypes.includes(type))
    .map((type) => `${name} handles ${type}, which is not of its streams`),
  ...repeated(eventTypes).map((type) => `${name} names ${type} twice`),
  ...[keyColumn, 'revision', ...indexes.flatMap((index) => index.columns)]
    .filter((column) => !Object.hasOwn(columns, column))
    .map((column) => `${name} has no column ${column}`),
];

const repeated = (names: readonly string[]): string[] => names.filter((name, index) => names.indexOf(name) !== index);

import { auditEventTypes } from '../src/domain/audit/events.js';
import { catalogEventTypes } from '../src/domain/catalog/events.js';
import { companyEventTypes } from '../src/domain/company/events.js';
import { dpsNumberEventTypes } from '../src/domain/dps-number/events.js';
import { invoiceEventTypes } from '../src/domain/invoice/events.js';
import { municipalityEventTypes } from '../src/domain/municipality/events.js';
import { registryEventTypes } from '../src/domain/registry/events.js';
import { systemEventTypes } from '../src/domain/system/events.js';
import { catalogLines } from './catalog-lines.js';
import { companies } from './companies.js';
import { credentials } from './credentials.js';
import { deadlines } from './deadlines.js';
import { invoices } from './invoices.js';
import { municipalities } from './municipalities.js';
import { system } from './system.js';
import { taxRegistry } from './tax-registry.js';
import type { Projection } from './types.js';

type Registry = {
  projections: readonly Projection[];
  /** Event types that no read model uses, on purpose. */
  ignored: readonly string[];
};

/** Operators' commands write these rows themselves, so that a change holds at once (docs/architecture.md#reading-row-or-fold). */
export const operatorProjections: readonly Projection[] = [
  companies,
  credentials,
  system,
  catalogLines,
  municipalities,
  taxRegistry,
];

/** Of the ignored types neither needs a read model: allocation reads the last event of its stream, and auditors read the log itself. */
export const registry: Registry = {
  projections: [invoices, deadlines, ...operatorProjections],
  ignored: [...dpsNumberEventTypes, ...auditEventTypes],
};

const ALL_EVENT_TYPES: readonly string[] = [
  ...invoiceEventTypes,
  ...companyEventTypes,
  ...dpsNumberEventTypes,
  ...systemEventTypes,
  ...catalogEventTypes,
  ...municipalityEventTypes,
  ...registryEventTypes,
  ...auditEventTypes,
];

/** Thrown at start-up. The message lists all faults in one line. */
class RegistryIncomplete extends Error {
  override readonly name = 'RegistryIncomplete';
}

/** Checks that projections have distinct names and a handler for each event type of their streams, and that no event type is left out. */
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

import { allProjections } from '../../projections/registry.js';
import type { Projection } from '../../projections/types.js';
import { eventTypeDefinitions } from '../../src/app/event-store/event-types.js';
import { auditEventTypes } from '../../src/domain/audit/events.js';
import { dpsNumberEventTypes } from '../../src/domain/dps-number/events.js';

export type Registry = { projections: readonly Projection[]; ignored: readonly string[] };

/** None of the ignored types needs a read model: allocation reads the last event of its stream, and auditors read the log itself. */
export const registry: Registry = {
  projections: allProjections,
  ignored: [...dpsNumberEventTypes, ...auditEventTypes],
};

/** Whether projections have distinct names and a handler for each event type of their streams, and whether an event type is left out. */
export const registryFaults = (
  { projections, ignored }: Registry,
  eventTypes: Iterable<string> = eventTypeDefinitions.keys(),
): readonly string[] => {
  const faults = [
    ...repeated(projections.map(({ name }) => name)).map((name) => `two projections are named ${name}`),
    ...projections.flatMap(faultsOf),
  ];
  const read = new Set(projections.flatMap((projection) => projection.eventTypes));
  for (const type of eventTypes) {
    if (!read.has(type) && !ignored.includes(type)) faults.push(`no projection reads ${type} and none ignores it`);
    if (read.has(type) && ignored.includes(type)) faults.push(`${type} is read by a projection and ignored by all`);
  }
  return faults;
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

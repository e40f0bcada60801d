import {
  type MunicipalityEvent,
  municipalityEventTypes,
  municipalityPrefix,
} from '../src/domain/municipality/events.js';
import type { Revision } from '../src/ports/event-log.js';
import { boolean, defineProjection, type Handlers, integer, type RowOf, text } from './types.js';

const columns = {
  ibge: text(),
  revision: integer<Revision>(),
  requires_customer: boolean<boolean | null>(),
  requires_registration: boolean<boolean | null>(),
};

/** One municipality whose demands an operator entered. Null means that the operator left the question open. */
export type MunicipalityRow = RowOf<typeof columns>;

const handlers = {
  MunicipalityDemandsSet: (_row, { data, revision }) => ({
    ibge: data.ibge,
    revision,
    requires_customer: data.requiresCustomer ?? null,
    requires_registration: data.requiresRegistration ?? null,
  }),
} satisfies Handlers<MunicipalityRow, MunicipalityEvent>;

/** What municipalities demand of an invoice, as operators entered it. */
export const municipalities = defineProjection<MunicipalityRow, MunicipalityEvent>({
  name: 'municipalities',
  version: 1,
  prefixes: [municipalityPrefix],
  eventTypes: municipalityEventTypes,
  keyColumn: 'ibge',
  columns,
  indexes: [],
  keyOf: ({ data }) => data.ibge,
  handlers,
});

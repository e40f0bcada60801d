import {
  type MunicipalityEvent,
  municipalityEventTypes,
  municipalityPrefix,
} from '../../src/domain/municipality/demands.js';
import { defineProjection } from '../types.js';
import { handlers } from './apply.js';
import { columns, type MunicipalityRow } from './schema.js';

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

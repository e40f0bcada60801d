import { type CompanyEvent, companyEventTypes } from '../../src/domain/company/events.js';
import { defineProjection } from '../types.js';
import { companyIdOf, handlers } from './apply.js';
import { type CompanyRow, columns } from './schema.js';

/** Company facts for eligibility and for the operator's lists. */
export const companies = defineProjection<CompanyRow, CompanyEvent>({
  name: 'companies',
  version: 1,
  prefixes: ['company-'],
  eventTypes: companyEventTypes,
  keyColumn: 'company_id',
  columns,
  indexes: [],
  keyOf: companyIdOf,
  handlers,
});

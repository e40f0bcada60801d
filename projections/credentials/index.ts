import { type CompanyEvent, companyEventTypes } from '../../src/domain/company/events.js';
import { defineProjection } from '../types.js';
import { handlers } from './apply.js';
import { type CredentialRow, columns } from './schema.js';

/** What authentication reads, by the hash of the whole key. */
export const credentials = defineProjection<CredentialRow, CompanyEvent>({
  name: 'credentials',
  version: 1,
  prefixes: ['company-'],
  eventTypes: companyEventTypes,
  keyColumn: 'key_id',
  columns,
  // Not unique: a command and the projector may insert the same key's row at once, and the key's id already decides.
  indexes: [{ columns: ['key_hash'] }],
  keyOf: ({ data }) => ('keyId' in data ? data.keyId : undefined),
  handlers,
});

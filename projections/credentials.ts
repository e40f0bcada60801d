import { type CompanyId, companyPrefix, type Mode } from '../src/domain/common/ids.js';
import { type CompanyEvent, companyEventTypes } from '../src/domain/company/events.js';
import type { Revision } from '../src/ports/event-log.js';
import { boolean, defineProjection, type Handlers, integer, type RowOf, text } from './types.js';

const columns = {
  key_id: text(),
  /** That of the key's last event in the company stream. */
  revision: integer<Revision>(),
  /** SHA-256 of the whole key, hex. */
  key_hash: text(),
  company_id: text<CompanyId>(),
  mode: text<Mode>(),
  /** JSON array. */
  scopes: text(),
  revoked: boolean(),
};

/** One API key. */
export type CredentialRow = RowOf<typeof columns>;

export const handlers = {
  CompanyRegistered: 'ignored',
  CompanyChanged: 'ignored',
  CompanyEnabled: 'ignored',
  CompanyDisabled: 'ignored',
  ApiKeyCreated: (_row, { revision, data }) => ({
    key_id: data.keyId,
    revision,
    key_hash: data.keyHash,
    company_id: data.companyId,
    mode: data.mode,
    scopes: JSON.stringify(data.scopes),
    revoked: false,
  }),
  ApiKeyRevoked: (row, { revision }) => {
    if (row === undefined) throw new Error('ApiKeyRevoked before ApiKeyCreated');
    return { ...row, revision, revoked: true };
  },
  CertificateStored: 'ignored',
  CertificateOpened: 'ignored',
  CertificatesRemoved: 'ignored',
} satisfies Handlers<CredentialRow, CompanyEvent>;

/** What authentication reads, by the hash of the whole key. */
export const credentials = defineProjection<CredentialRow, CompanyEvent>({
  name: 'credentials',
  version: 1,
  prefixes: [companyPrefix],
  eventTypes: companyEventTypes,
  keyColumn: 'key_id',
  columns,
  // Not unique: a command and the projector may insert one key's row at the same time; `key_id` already keeps keys apart.
  indexes: [{ columns: ['key_hash'] }],
  keyOf: ({ data }) => ('keyId' in data ? data.keyId : undefined),
  handlers,
});

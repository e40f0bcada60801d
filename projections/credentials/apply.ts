import type { CompanyEvent } from '../../src/domain/company/events.js';
import type { Handlers } from '../types.js';
import type { CredentialRow } from './schema.js';

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
} satisfies Handlers<CredentialRow, CompanyEvent>;

import type { Mode } from '../../src/domain/shared/ids.js';

/** One API key. The revision is the company stream's at the key's own last event. */
export type CredentialRow = {
  key_id: string;
  revision: number;
  /** SHA-256 of the whole key, hex. */
  key_hash: string;
  company_id: string;
  mode: Mode;
  /** JSON array. */
  scopes: string;
  revoked: boolean;
};

export const columns = {
  key_id: 'text',
  revision: 'integer',
  key_hash: 'text',
  company_id: 'text',
  mode: 'text',
  scopes: 'text',
  revoked: 'boolean',
} as const;

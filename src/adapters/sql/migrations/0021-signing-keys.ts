import type { Migration } from '../migrate.js';

/** Keys that sign exports: the public half in clear, the private one sealed like every other secret of the vault. */
export const signingKeysMigration: Migration = {
  id: 21,
  name: 'signing-keys',
  sql: `
create table if not exists vault_signing_keys (
  public_key text collate "C" primary key,
  sealed text not null,
  created_at text collate "C" not null
);
`,
};

import type { Migration } from '../migrate.js';

/**
 * Since when a generation of the master key seals, and who said so. Null for the one that was there before: it has sealed from
 * the beginning. A row is what makes a generation seal; a key that only stands in the key file waits.
 */
export const masterKeyGenerationsMigration: Migration = {
  id: 17,
  name: 'master-key-generations',
  sql: `
alter table vault_master_keys
  add column if not exists activated_at text collate "C",
  add column if not exists activated_by text collate "C";
`,
};

import type { Migration } from '../migrate.js';

/**
 * A generation of the master key that is lost without a copy, from its instant on: what it sealed stays closed, and the service
 * starts without it. Losing these rows only costs giving it up again.
 */
export const givenUpGenerationsMigration: Migration = {
  id: 27,
  name: 'given-up-generations',
  sql: `
alter table vault_master_keys
  add column if not exists given_up_at text collate "C",
  add column if not exists given_up_by text collate "C";
`,
};

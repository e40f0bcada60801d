import type { Migration } from '../migrate.js';

/** Where the walk that compares invoices with the authorizer stands, one row per mode; losing it costs the round in hand. */
export const reconciliationMigration: Migration = {
  id: 20,
  name: 'reconciliation',
  sql: `
create table if not exists reconciliation_walks (
  mode text collate "C" primary key,
  walk text not null
);
`,
};

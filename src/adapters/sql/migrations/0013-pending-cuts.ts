import type { Migration } from '../migrate.js';

/** Retention's to-do list (design section 4). */
export const pendingCutsMigration: Migration = {
  id: 13,
  name: 'pending-cuts',
  sql: `create table if not exists pending_cuts (stream text collate "C" primary key);`,
};
